//! Laws of concurrency permits: limits hold exactly, and users share the workers fairly.

mod operations;
mod yielding;

use std::collections::HashSet;
use std::time::Duration;

use futures::future::join_all;
use ports::Ports;
use ports::leases::JobClaimed;
use ports::store::TurnOpened;
use protocol::limits::UserLimits;
use protocol::session::Owner;
use protocol::{Job, TurnId};

use super::BackendFixture;
use super::job_scene::claim_as;
use super::scene::*;

pub use self::operations::*;
pub use self::yielding::*;

#[macro_export]
macro_rules! permits_laws {
    ($fixture:ty) => {
        mod permits {
            use super::*;
            $crate::permits_laws!(@ $fixture:
                in_flight_turns_are_limited_per_user,
                admitted_turns_never_exceed_the_limit,
                turns_over_the_limit_are_admitted_in_order,
                a_turn_without_a_permit_is_neither_due_nor_claimed,
                a_cancelled_turn_needs_no_permit_to_end,
                a_deleted_session_releases_its_permits,
                permits_are_counted_per_user,
                an_anonymous_session_has_its_own_limits,
                a_known_message_joins_its_turn_at_the_limit,
                a_yielded_permit_goes_to_the_next_turn,
                turns_reacquiring_a_permit_come_before_new_turns,
                reacquiring_permits_never_exceeds_the_limit,
                a_claim_does_not_reacquire_a_yielded_permit,
                an_accepted_operation_releases_and_reacquires_its_permit,
                operations_do_not_count_as_in_flight_turns,
                a_turn_does_not_wait_for_the_operations_of_its_session,
                an_operation_that_waits_for_its_session_releases_its_permit,
            );
        }
    };
    (@ $fixture:ty: $($law:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                let caps = $crate::conformance::permits::CAPS;
                let law = async {
                    let mut fixture =
                        <$fixture as $crate::conformance::BackendFixture>::start_with(caps).await;
                    $crate::conformance::permits::$law(&mut fixture).await;
                };
                tokio::time::timeout($crate::conformance::scene::LAW, law)
                    .await
                    .expect("the law finishes within its time limit");
            }
        )*
    };
}

pub const CAPS: UserLimits = UserLimits { running: 3, in_flight: 6, executions: 3 };
const RUNNING: usize = CAPS.running as usize;
const IN_FLIGHT: usize = CAPS.in_flight as usize;

/// Opens a turn in a new session.
async fn open(ports: &Ports, owner: &Owner) -> Option<TurnId> {
    let session = session(ports, owner).await;
    match ports.turns.open(owner, submission(&session.id, "hello", None)).await.expect("open") {
        TurnOpened::New(turn) => Some(turn.id),
        TurnOpened::TooMany => None,
        other => panic!("{other:?}"),
    }
}

async fn open_some(ports: &Ports, owner: &Owner, count: usize) -> Vec<TurnId> {
    let mut turns = Vec::new();
    for _ in 0..count {
        turns.push(open(ports, owner).await.expect("there is room"));
    }
    turns
}

pub async fn in_flight_turns_are_limited_per_user(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let opened = join_all((0..40).map(|_| open(ports, &ann))).await;
    let accepted: Vec<TurnId> = opened.into_iter().flatten().collect();
    assert_eq!(accepted.len(), IN_FLIGHT, "exactly, under concurrency");
    let admitted = due(ports).await;
    assert_eq!(admitted.len(), RUNNING);
    let claim = claim(ports, &admitted[0]).await;
    finish(ports, &claim, "done").await;
    assert!(open(ports, &ann).await.is_some(), "an ended turn makes room");
    assert_eq!(open(ports, &ann).await, None);
}

pub async fn admitted_turns_never_exceed_the_limit(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let opened = join_all((0..IN_FLIGHT).map(|_| open(ports, &ann))).await;
    let turns: Vec<Job> = opened.into_iter().flatten().map(Job::Turn).collect();
    let mut won = Vec::new();
    let mut ended = 0;
    while ended < turns.len() {
        let worker = worker();
        let claims = join_all(turns.iter().map(|turn| claim_as(ports, turn, &worker)));
        for claimed in claims.await {
            if let JobClaimed::Turn(granted) = claimed
                && !won.contains(&granted.claim)
            {
                won.push(granted.claim);
            }
        }
        assert!(won.len() <= RUNNING, "at most the limit");
        assert_eq!(ports.turns.count_open().await.expect("count").running, won.len() as u64);
        for claim in won.drain(..) {
            finish(ports, &claim, "done").await;
            ended += 1;
        }
    }
}

pub async fn turns_over_the_limit_are_admitted_in_order(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let turns = open_some(ports, &ann, IN_FLIGHT).await;
    assert_eq!(due(ports).await, turns[..RUNNING]);
    // Turns end from the last to the first; the waiting turns are admitted in order of acceptance all the same.
    for (ending, next) in turns[..RUNNING].iter().rev().zip(&turns[RUNNING..]) {
        let claim = claim(ports, ending).await;
        assert_eq!(finish(ports, &claim, "done").await, std::slice::from_ref(next));
        assert!(due(ports).await.contains(next));
    }
}

pub async fn a_turn_without_a_permit_is_neither_due_nor_claimed(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let turns = open_some(fixture.ports(), &ann, RUNNING + 1).await;
    let waiting = &turns[RUNNING];
    for _ in 0..2 {
        let ports = fixture.ports();
        ports.outbox.pushed(&[waiting.into()], Duration::ZERO).await.expect("pushed");
        assert_eq!(try_claim(ports, waiting).await, JobClaimed::NotReady);
        assert!(!due(ports).await.contains(waiting));
        fixture.restart().await;
    }
}

pub async fn a_cancelled_turn_needs_no_permit_to_end(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    open_some(ports, &ann, RUNNING).await;
    let mine = session(ports, &ann).await;
    let waiting = turn(ports, &ann, &mine.id, "waits").await;
    let behind = turn(ports, &ann, &mine.id, "waits behind it").await;
    ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    let early = try_claim(ports, &behind.id).await;
    assert_eq!(early, JobClaimed::NotReady, "the turns of a session end in order");
    for turn in [waiting, behind] {
        let claim = claim(ports, &turn.id).await;
        assert_eq!(finish(ports, &claim, "").await, [], "there was no permit to pass on");
    }
}

pub async fn a_deleted_session_releases_its_permits(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let mine = session(ports, &ann).await;
    turn(ports, &ann, &mine.id, "holds a permit").await;
    let turns = open_some(ports, &ann, RUNNING).await;
    assert!(!due(ports).await.contains(&turns[RUNNING - 1]));
    assert!(ports.sessions.delete(&ann, &mine.id).await.expect("delete"));
    assert_eq!(due(ports).await, turns);
}

pub async fn permits_are_counted_per_user(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let anns = open_some(ports, &user("ann"), IN_FLIGHT).await;
    let bobs = open_some(ports, &user("bob"), 1).await;
    let due: HashSet<TurnId> = due(ports).await.into_iter().collect();
    let expected = anns[..RUNNING].iter().chain(&bobs).cloned().collect();
    assert_eq!(due, expected, "behind the running turns of ann, not behind all of them");
}

pub async fn an_anonymous_session_has_its_own_limits(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let turns = open_some(ports, &Owner::Anonymous, IN_FLIGHT + RUNNING).await;
    assert_eq!(due(ports).await, turns);
    let one = session(ports, &Owner::Anonymous).await;
    for _ in 0..IN_FLIGHT {
        turn(ports, &Owner::Anonymous, &one.id, "hello").await;
    }
    let over = ports.turns.open(&Owner::Anonymous, submission(&one.id, "hello", None)).await;
    assert_eq!(over.expect("open"), TurnOpened::TooMany);
}

pub async fn a_known_message_joins_its_turn_at_the_limit(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let mine = session(ports, &ann).await;
    let first =
        ports.turns.open(&ann, submission(&mine.id, "hi", Some("m-1"))).await.expect("open");
    open_some(ports, &ann, IN_FLIGHT - 1).await;
    let again =
        ports.turns.open(&ann, submission(&mine.id, "hi", Some("m-1"))).await.expect("open");
    let (TurnOpened::New(first), TurnOpened::Joined(again)) = (first, again) else {
        panic!("it joins")
    };
    assert_eq!(first.id, again.id);
    let new = ports.turns.open(&ann, submission(&mine.id, "hi", Some("m-2"))).await.expect("open");
    assert_eq!(new, TurnOpened::TooMany);
}
