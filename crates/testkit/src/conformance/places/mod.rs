//! Laws of the places a user has: caps that hold exactly, and users that take turns.

mod aside;
mod beside;

use std::collections::HashSet;
use std::time::Duration;

use futures::future::join_all;
use ports::Ports;
use ports::leases::TurnClaimed;
use ports::store::TurnOpened;
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::session::Owner;

use super::Fixture;
use super::scene::*;

pub use self::aside::*;
pub use self::beside::*;

#[macro_export]
macro_rules! places_laws {
    ($fixture:ty) => {
        mod places {
            use super::*;
            $crate::places_laws!(@ $fixture:
                a_user_has_no_more_in_flight_than_the_cap,
                no_more_are_admitted_than_may_run,
                those_over_the_cap_are_admitted_in_order,
                a_turn_without_a_place_is_neither_due_nor_claimed,
                a_cancelled_turn_needs_no_place_to_end,
                a_deleted_session_frees_its_places,
                one_user_takes_no_place_of_another,
                a_session_without_a_user_counts_for_itself,
                a_known_message_joins_even_at_the_cap,
                a_turn_that_steps_aside_gives_its_place_to_the_next,
                who_stepped_aside_comes_before_those_that_have_not_begun,
                stepping_back_never_exceeds_the_cap,
                a_claim_does_not_bring_a_turn_back,
                an_accepted_operation_has_no_place_and_needs_one_again,
                operations_do_not_count_among_those_in_flight,
                a_turn_does_not_wait_for_the_operations_of_its_session,
                an_operation_that_waits_in_line_gives_its_place_to_others,
            );
        }
    };
    (@ $fixture:ty: $($law:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                let caps = $crate::conformance::places::CAPS;
                let law = async {
                    let mut fixture =
                        <$fixture as $crate::conformance::Fixture>::start_with(caps).await;
                    $crate::conformance::places::$law(&mut fixture).await;
                };
                tokio::time::timeout($crate::conformance::scene::LAW, law)
                    .await
                    .expect("a law does not wait for ever");
            }
        )*
    };
}

pub const CAPS: UserLimits = UserLimits { running: 3, in_flight: 6, executions: 3 };
const RUNNING: usize = CAPS.running as usize;
const IN_FLIGHT: usize = CAPS.in_flight as usize;

/// Opens a turn in a session of its own.
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

pub async fn a_user_has_no_more_in_flight_than_the_cap(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let opened = join_all((0..40).map(|_| open(ports, &ann))).await;
    let accepted: Vec<TurnId> = opened.into_iter().flatten().collect();
    assert_eq!(accepted.len(), IN_FLIGHT, "exactly, however many come at once");
    let admitted = due(ports).await;
    assert_eq!(admitted.len(), RUNNING);
    let claim = claim(ports, &admitted[0]).await;
    finish(ports, &claim, "done").await;
    assert!(open(ports, &ann).await.is_some(), "an end makes room");
    assert_eq!(open(ports, &ann).await, None);
}

pub async fn no_more_are_admitted_than_may_run(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let opened = join_all((0..IN_FLIGHT).map(|_| open(ports, &ann))).await;
    let turns: Vec<TurnId> = opened.into_iter().flatten().collect();
    let mut won = Vec::new();
    let mut ended = 0;
    while ended < turns.len() {
        let worker = worker();
        let claims = join_all(turns.iter().map(|turn| ports.leases.claim(turn, &worker, LONG)));
        for claimed in claims.await {
            if let TurnClaimed::Granted { claim, .. } = claimed.expect("claim")
                && !won.contains(&claim)
            {
                won.push(claim);
            }
        }
        assert!(won.len() <= RUNNING, "never more than may run");
        assert_eq!(ports.turns.count_open().await.expect("count").running, won.len() as u64);
        for claim in won.drain(..) {
            finish(ports, &claim, "done").await;
            ended += 1;
        }
    }
}

pub async fn those_over_the_cap_are_admitted_in_order(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let turns = open_some(ports, &ann, IN_FLIGHT).await;
    assert_eq!(due(ports).await, turns[..RUNNING]);
    // Ended from the last to the first: the order of the others is that of their acceptance all the same.
    for (ending, next) in turns[..RUNNING].iter().rev().zip(&turns[RUNNING..]) {
        let claim = claim(ports, ending).await;
        assert_eq!(finish(ports, &claim, "done").await, std::slice::from_ref(next));
        assert!(due(ports).await.contains(next));
    }
}

pub async fn a_turn_without_a_place_is_neither_due_nor_claimed(fixture: &mut impl Fixture) {
    let ann = user("ann");
    let turns = open_some(fixture.ports(), &ann, RUNNING + 1).await;
    let waiting = &turns[RUNNING];
    for _ in 0..2 {
        let ports = fixture.ports();
        let pushed = std::slice::from_ref(waiting);
        ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
        let claimed = ports.leases.claim(waiting, &worker(), LONG).await.expect("claim");
        assert_eq!(claimed, TurnClaimed::NotAdmitted);
        assert!(!due(ports).await.contains(waiting));
        fixture.restart().await;
    }
}

pub async fn a_cancelled_turn_needs_no_place_to_end(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    open_some(ports, &ann, RUNNING).await;
    let mine = session(ports, &ann).await;
    let waiting = turn(ports, &ann, &mine.id, "waits").await;
    let behind = turn(ports, &ann, &mine.id, "waits behind it").await;
    ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    let early = ports.leases.claim(&behind.id, &worker(), LONG).await.expect("claim");
    assert_eq!(early, TurnClaimed::NotAdmitted, "the turns of a session end in order");
    for turn in [waiting, behind] {
        let claim = claim(ports, &turn.id).await;
        assert_eq!(finish(ports, &claim, "").await, [], "there was no place to pass on");
    }
}

pub async fn a_deleted_session_frees_its_places(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let mine = session(ports, &ann).await;
    turn(ports, &ann, &mine.id, "holds a place").await;
    let turns = open_some(ports, &ann, RUNNING).await;
    assert!(!due(ports).await.contains(&turns[RUNNING - 1]));
    assert!(ports.sessions.delete(&ann, &mine.id).await.expect("delete"));
    assert_eq!(due(ports).await, turns);
}

pub async fn one_user_takes_no_place_of_another(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let anns = open_some(ports, &user("ann"), IN_FLIGHT).await;
    let bobs = open_some(ports, &user("bob"), 1).await;
    let due: HashSet<TurnId> = due(ports).await.into_iter().collect();
    let expected = anns[..RUNNING].iter().chain(&bobs).cloned().collect();
    assert_eq!(due, expected, "behind the few of ann that may run, not behind all of them");
}

pub async fn a_session_without_a_user_counts_for_itself(fixture: &mut impl Fixture) {
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

pub async fn a_known_message_joins_even_at_the_cap(fixture: &mut impl Fixture) {
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
