//! Laws of `FollowUps`.

use futures::future::join_all;
use ports::store::{
    FollowUpPushed, NewFollowUp, NewTurn, TurnFinished, TurnKind, TurnOpened, WhenBusy,
};
use ports::{Fenced, Ports};
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::limits::FOLLOW_UPS;
use protocol::message::{MessageRole, NewMessage};
use protocol::session::Owner;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{MessageId, SessionId};
use serde_json::json;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! follow_ups_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, follow_ups:
            a_follow_up_waits_for_the_running_turn,
            without_a_turn_there_is_no_follow_up,
            a_cancelled_turn_takes_no_follow_up,
            one_id_makes_one_follow_up,
            a_client_id_is_shared_by_turns_and_follow_ups,
            a_returned_follow_up_can_be_sent_again,
            pending_follow_ups_are_limited,
            drained_follow_ups_become_messages_in_order,
            a_follow_up_is_drained_once,
            a_turn_does_not_complete_with_pending_follow_ups,
            the_end_of_a_turn_settles_its_follow_ups,
            follow_ups_are_seen_by_their_owner_only,
        );
    };
}

fn new(text: &str, client_id: Option<&str>) -> NewFollowUp {
    NewFollowUp {
        message: NewMessage::new(MessageRole::User, text),
        client_id: client_id.map(str::to_owned),
        fingerprint: format!("fingerprint of {text}"),
    }
}

async fn push(
    ports: &Ports,
    owner: &Owner,
    session: &SessionId,
    text: &str,
    id: Option<&str>,
) -> FollowUpPushed {
    ports.follow_ups.push(owner, session, new(text, id)).await.expect("push")
}

/// Pushes a follow-up and expects it to be accepted.
async fn wait(ports: &Ports, owner: &Owner, session: &SessionId, text: &str) -> FollowUp {
    match push(ports, owner, session, text, None).await {
        FollowUpPushed::Waits { follow_up, .. } => *follow_up,
        other => panic!("it waits, not {other:?}"),
    }
}

async fn list(ports: &Ports, owner: &Owner, session: &SessionId) -> Vec<FollowUp> {
    let listed = ports.follow_ups.list(owner, session, 100).await.expect("list");
    listed.expect("the session exists")
}

async fn states(ports: &Ports, owner: &Owner, session: &SessionId) -> Vec<FollowUpState> {
    list(ports, owner, session).await.iter().map(|follow_up| follow_up.state).collect()
}

async fn drain(ports: &Ports, claim: &TurnClaim, step: u32) -> Vec<FollowUp> {
    match ports.follow_ups.drain(claim, step).await.expect("drain") {
        Fenced::Done(drained) => drained,
        Fenced::Stale => panic!("the claim is current"),
    }
}

/// A message that becomes a follow-up if a turn of the session is running.
fn message(session: &SessionId, text: &str, client_id: Option<&str>) -> NewTurn {
    let mut new = submission(session, text, client_id);
    if let TurnKind::Submit { when_busy, .. } = &mut new.kind {
        *when_busy = WhenBusy::FollowUp;
    }
    new
}

pub async fn a_follow_up_waits_for_the_running_turn(fixture: &mut impl BackendFixture) {
    let (ann, mine, first) = first_turn(fixture.ports()).await;
    let ports = fixture.ports();
    turn(ports, &ann, &mine.id, "second").await;
    let early = push(ports, &ann, &mine.id, "early", Some("m-1")).await;
    let FollowUpPushed::Waits { follow_up, waiting: 1 } = early else { panic!("{early:?}") };
    assert_eq!((follow_up.id.as_str(), follow_up.text.as_str()), ("m-1", "early"));
    assert_eq!((&follow_up.turn_id, &follow_up.session_id), (&first.id, &mine.id));
    assert_eq!((follow_up.state, follow_up.step), (FollowUpState::Pending, None));
    claim(ports, &first.id).await;
    let opened = ports.turns.open(&ann, message(&mine.id, "late", None)).await.expect("open");
    let TurnOpened::FollowUp(late) = opened else { panic!("{opened:?}") };
    assert_eq!(late.turn_id, first.id);
    let third = push(ports, &ann, &mine.id, "later", None).await;
    assert!(matches!(third, FollowUpPushed::Waits { waiting: 3, .. }), "{third:?}");
    let rows = history(ports, &ann, &mine.id).await;
    assert_eq!(texts(&rows), ["hello", "second"], "follow-ups are not in the history yet");
    fixture.restart().await;
    let listed = list(fixture.ports(), &ann, &mine.id).await;
    assert_eq!((&listed[0], &listed[1]), (&*follow_up, &*late));
    let newest = fixture.ports().follow_ups.list(&ann, &mine.id, 2).await.expect("list");
    assert_eq!(newest.expect("it exists"), listed[1..], "the newest, in order of arrival");
}

pub async fn without_a_turn_there_is_no_follow_up(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let mine = session(ports, &ann).await;
    assert_eq!(push(ports, &ann, &mine.id, "hello?", Some("m-1")).await, FollowUpPushed::NoTurn);
    let done = whole_turn(ports, &ann, &mine.id, "done").await;
    assert_eq!(push(ports, &ann, &mine.id, "hello?", Some("m-1")).await, FollowUpPushed::NoTurn);
    assert_eq!(list(ports, &ann, &mine.id).await, []);
    let opened = ports.turns.open(&ann, message(&mine.id, "hello?", Some("m-1"))).await;
    let Ok(TurnOpened::New(turn)) = opened else { panic!("a new turn, not {opened:?}") };
    assert_ne!(turn.id, done.id);
}

pub async fn a_cancelled_turn_takes_no_follow_up(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    claim(ports, &turn.id).await;
    ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    assert_eq!(push(ports, &ann, &mine.id, "wait", None).await, FollowUpPushed::NoTurn);
    let opened = ports.turns.open(&ann, message(&mine.id, "wait", None)).await.expect("open");
    assert!(matches!(opened, TurnOpened::New(_)), "it becomes a new turn: {opened:?}");
}

pub async fn one_id_makes_one_follow_up(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let pushes = (0..20).map(|_| push(ports, &ann, &mine.id, "more", Some("m-1")));
    let pushed = join_all(pushes).await;
    let new = pushed.iter().filter(|pushed| matches!(pushed, FollowUpPushed::Waits { .. })).count();
    let known = pushed.iter().filter(|pushed| matches!(pushed, FollowUpPushed::Known(_))).count();
    assert_eq!((new, known), (1, 19), "{pushed:?}");
    assert_eq!(push(ports, &ann, &mine.id, "other", Some("m-1")).await, FollowUpPushed::Reused);
    drain(ports, &claim, 2).await;
    let again = push(ports, &ann, &mine.id, "more", Some("m-1")).await;
    let FollowUpPushed::Known(delivered) = again else { panic!("{again:?}") };
    assert_eq!((delivered.state, delivered.step), (FollowUpState::Delivered, Some(2)));
    finish(ports, &claim, "done").await;
    let after = push(ports, &ann, &mine.id, "more", Some("m-1")).await;
    assert_eq!(after, FollowUpPushed::Known(delivered), "also without a running turn");
    assert_eq!(list(ports, &ann, &mine.id).await.len(), 1);
}

pub async fn a_client_id_is_shared_by_turns_and_follow_ups(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let mine = session(ports, &ann).await;
    let open = |text, id| ports.turns.open(&ann, message(&mine.id, text, Some(id)));
    let Ok(TurnOpened::New(turn)) = open("hello", "m-1").await else { panic!("a new turn") };
    let Ok(TurnOpened::Joined(joined)) = open("hello", "m-1").await else { panic!("it is known") };
    assert_eq!(joined.id, turn.id);
    assert_eq!(push(ports, &ann, &mine.id, "hello", Some("m-1")).await, FollowUpPushed::Reused);
    let FollowUpPushed::Waits { follow_up, .. } =
        push(ports, &ann, &mine.id, "more", Some("m-2")).await
    else {
        panic!("it waits")
    };
    assert_eq!(open("more", "m-2").await.expect("open"), TurnOpened::FollowUp(follow_up.clone()));
    let queued = submission(&mine.id, "more", Some("m-2"));
    let queued = ports.turns.open(&ann, queued).await.expect("open");
    assert_eq!(queued, TurnOpened::FollowUp(follow_up));
    assert_eq!(open("other", "m-2").await.expect("open"), TurnOpened::Reused);
    let claim = claim(ports, &turn.id).await;
    drain(ports, &claim, 1).await;
    finish(ports, &claim, "answer").await;
    let delivered = open("more", "m-2").await.expect("open");
    assert!(matches!(delivered, TurnOpened::FollowUp(_)), "{delivered:?}");
    let answer = history(ports, &ann, &mine.id).await.pop().expect("an answer");
    assert_eq!(
        push(ports, &ann, &mine.id, "x", Some(answer.id.as_str())).await,
        FollowUpPushed::Reused
    );
}

pub async fn a_returned_follow_up_can_be_sent_again(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    push(ports, &ann, &mine.id, "more", Some("m-1")).await;
    push(ports, &ann, &mine.id, "even more", Some("m-2")).await;
    let first_claim = claim(ports, &first.id).await;
    end(ports, &first_claim, TurnStatus::Failed).await;
    assert_eq!(push(ports, &ann, &mine.id, "other", Some("m-1")).await, FollowUpPushed::Reused);
    assert_eq!(push(ports, &ann, &mine.id, "more", Some("m-1")).await, FollowUpPushed::NoTurn);
    assert_eq!(states(ports, &ann, &mine.id).await, [FollowUpState::Returned; 2]);

    let opened = ports.turns.open(&ann, message(&mine.id, "more", Some("m-1"))).await;
    let Ok(TurnOpened::New(second)) = opened else { panic!("as new, not {opened:?}") };
    assert_eq!(states(ports, &ann, &mine.id).await, [FollowUpState::Returned]);
    let again = push(ports, &ann, &mine.id, "even more", Some("m-2")).await;
    let FollowUpPushed::Waits { follow_up, waiting: 1 } = again else { panic!("{again:?}") };
    assert_eq!(follow_up.turn_id, second.id);
    assert_eq!(list(ports, &ann, &mine.id).await, [*follow_up]);
}

pub async fn pending_follow_ups_are_limited(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let more: Vec<String> = (0..2 * FOLLOW_UPS).map(|n| format!("m-{n}")).collect();
    let pushed =
        join_all(more.iter().map(|id| push(ports, &ann, &mine.id, "more", Some(id)))).await;
    let waits =
        pushed.iter().filter(|pushed| matches!(pushed, FollowUpPushed::Waits { .. })).count();
    assert_eq!(waits, FOLLOW_UPS as usize, "exactly, under concurrency");
    assert!(pushed.iter().filter(|pushed| **pushed == FollowUpPushed::Full).count() == waits);
    let opened = ports.turns.open(&ann, message(&mine.id, "more", None)).await.expect("open");
    assert_eq!(opened, TurnOpened::TooManyFollowUps);
    let claim = claim(ports, &turn.id).await;
    drain(ports, &claim, 1).await;
    let after = push(ports, &ann, &mine.id, "more", None).await;
    assert!(matches!(after, FollowUpPushed::Waits { waiting: 1, .. }), "{after:?}");
}

pub async fn drained_follow_ups_become_messages_in_order(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let claim = claim(ports, &first.id).await;
    let second = turn(ports, &ann, &mine.id, "another turn").await;
    let mut with_file = new("one", Some("m-1"));
    with_file.message.metadata = Some(json!({"files": ["a.txt"]}));
    ports.follow_ups.push(&ann, &mine.id, with_file).await.expect("push");
    let two = wait(ports, &ann, &mine.id, "two").await;
    let drained = drain(ports, &claim, 3).await;
    let ids: Vec<&MessageId> = drained.iter().map(|follow_up| &follow_up.id).collect();
    assert_eq!(ids, [&MessageId::from("m-1"), &two.id]);
    assert!(drained.iter().all(|f| (f.state, f.step) == (FollowUpState::Delivered, Some(3))));
    assert_eq!(list(ports, &ann, &mine.id).await, drained);

    let seen = progress(ports, &claim).await.messages;
    assert_eq!(texts(&seen), ["hello", "one", "two"]);
    assert_eq!((seen[1].id.as_str(), seen[1].role), ("m-1", MessageRole::User));
    assert_eq!(seen[1].metadata, Some(json!({"files": ["a.txt"]})));
    assert!(seen.iter().all(|row| row.turn_id == first.id));
    let rows = history(ports, &ann, &mine.id).await;
    assert_eq!(texts(&rows), ["hello", "another turn", "one", "two"], "they are visible at once");
    finish(ports, &claim, "answer").await;
    let claim = claim_for(ports, &second.id, LONG).await;
    let seen = progress(ports, &claim).await.messages;
    assert_eq!(texts(&seen), ["hello", "one", "two", "answer", "another turn"]);
}

pub async fn a_follow_up_is_drained_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let old = claim_for(ports, &turn.id, SHORT).await;
    let claim = claim_for(ports, &turn.id, LONG).await;
    wait(ports, &ann, &mine.id, "one").await;
    assert_eq!(ports.follow_ups.drain(&old, 1).await.expect("drain"), Fenced::Stale);
    let drains = join_all((0..5).map(|_| drain(ports, &claim, 1))).await;
    assert_eq!(drains.iter().map(Vec::len).sum::<usize>(), 1);
    assert_eq!(drain(ports, &claim, 2).await, []);
    assert_eq!(texts(&history(ports, &ann, &mine.id).await), ["hello", "one"]);
    wait(ports, &ann, &mine.id, "two").await;
    assert_eq!(drain(ports, &claim, 2).await.len(), 1);
    assert_eq!(texts(&history(ports, &ann, &mine.id).await), ["hello", "one", "two"]);
}

pub async fn a_turn_does_not_complete_with_pending_follow_ups(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    wait(ports, &ann, &mine.id, "one more thing").await;
    let answer = vec![NewMessage::new(MessageRole::Assistant, "too early")];
    let refused = ports.turns.finish(&claim, ending(TurnStatus::Completed, 0, answer)).await;
    assert_eq!(refused.expect("finish"), Fenced::Done(TurnFinished::FollowUpsWait));
    assert_eq!(found(ports, &ann, &turn.id).await.status, TurnStatus::Running);
    assert_eq!(last(ports, &turn.id.task()).await, 0, "nothing was changed");
    assert_eq!(progress(ports, &claim).await.waiting_follow_ups, 1);
    drain(ports, &claim, 2).await;
    assert_eq!(progress(ports, &claim).await.waiting_follow_ups, 0);
    finish(ports, &claim, "answer").await;
    let rows = history(ports, &ann, &mine.id).await;
    assert_eq!(texts(&rows), ["hello", "one more thing", "answer"]);
}

pub async fn the_end_of_a_turn_settles_its_follow_ups(fixture: &mut impl BackendFixture) {
    let ends = [
        (TurnStatus::Cancelled, FollowUpState::Dropped),
        (TurnStatus::Failed, FollowUpState::Returned),
    ];
    for (status, settled) in ends {
        let ports = fixture.ports();
        let (ann, mine, turn) = first_turn(ports).await;
        let claim = claim(ports, &turn.id).await;
        wait(ports, &ann, &mine.id, "in time").await;
        drain(ports, &claim, 1).await;
        wait(ports, &ann, &mine.id, "too late").await;
        end(ports, &claim, status).await;
        let expected = [FollowUpState::Delivered, settled];
        assert_eq!(states(ports, &ann, &mine.id).await, expected);
        assert_eq!(texts(&history(ports, &ann, &mine.id).await), ["hello", "in time"]);
        fixture.restart().await;
        assert_eq!(states(fixture.ports(), &ann, &mine.id).await, expected);
    }
}

pub async fn follow_ups_are_seen_by_their_owner_only(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, _) = first_turn(ports).await;
    wait(ports, &ann, &mine.id, "mine").await;
    for stranger in [user("bob"), Owner::Anonymous] {
        assert_eq!(ports.follow_ups.list(&stranger, &mine.id, 10).await.expect("list"), None);
        assert_eq!(push(ports, &stranger, &mine.id, "x", None).await, FollowUpPushed::NoSession);
    }
    assert!(ports.sessions.delete(&ann, &mine.id).await.expect("delete"));
    assert_eq!(ports.follow_ups.list(&ann, &mine.id, 10).await.expect("list"), None);
}
