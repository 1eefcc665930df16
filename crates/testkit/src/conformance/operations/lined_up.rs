//! Laws of `Operations`: how an operation with a result joins the order of its session.

use ports::Fenced;
use ports::leases::JobClaimed;
use ports::store::{JournalEntry, TurnOpened};
use protocol::message::{MessageRole, NewMessage};
use protocol::session::ChatStatus;

use super::asked_operation::{AskedOperation, asked, line_up};
use crate::conformance::BackendFixture;
use crate::conformance::scene::*;

pub async fn an_operation_joins_its_session_after_earlier_turns(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    let AskedOperation { ann, mine, .. } = &asked;
    let waiting = turn(ports, ann, &mine.id, "second").await;
    let beside = claim(ports, &asked.turn).await;
    let early = ports.operations.line_up(&beside).await;
    assert!(matches!(early, Err(ports::PortError::Broken(_))), "without a result: {early:?}");
    asked.complete(ports, "built").await;
    assert!(!line_up(ports, &beside).await);
    let stale = ports.operations.line_up(&beside).await.expect("line up");
    assert_eq!(stale, Fenced::Stale, "the claim was released");
    let after = turn(ports, ann, &mine.id, "third").await;
    assert_eq!(try_claim(ports, &asked.turn).await, JobClaimed::NotReady);
    assert_eq!(found(ports, ann, &asked.turn).await.attempt, 0, "no crashed attempt");

    assert_eq!(finish(ports, &asked.claim, "under way").await, std::slice::from_ref(&waiting.id));
    assert_eq!(try_claim(ports, &asked.turn).await, JobClaimed::NotReady);
    let claim = claim_for(ports, &waiting.id, LONG).await;
    assert_eq!(finish(ports, &claim, "two").await, std::slice::from_ref(&asked.turn));
    let (current, _) = ports.turns.current(ann, &mine.id).await.expect("current").expect("one");
    assert_eq!(current.id, asked.turn, "now it is the running turn of the session");
    assert_eq!(try_claim(ports, &after.id).await, JobClaimed::NotReady);
    let claim = claim_for(ports, &asked.turn, LONG).await;
    assert!(line_up(ports, &claim).await, "an operation that has joined the order may ask again");
    let seen = progress(ports, &claim).await.messages;
    assert_eq!(texts(&seen), ["hello", "", "built", "under way", "second", "two"]);
    assert_eq!(finish(ports, &claim, "it is built").await, [after.id]);
    let rows = history(ports, ann, &mine.id).await;
    let expected = ["hello", "second", "", "built", "third", "under way", "two", "it is built"];
    let (mut rows, mut expected) = (texts(&rows), expected.to_vec());
    rows.sort_unstable();
    expected.sort_unstable();
    assert_eq!(rows, expected);
}

pub async fn an_operation_with_no_earlier_turn_continues_at_once(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    finish(ports, &asked.claim, "under way").await;
    let claim = claim(ports, &asked.turn).await;
    asked.complete(ports, "built").await;
    assert!(line_up(ports, &claim).await);
    let status =
        ports.sessions.get(&asked.ann, &asked.mine.id).await.expect("get").expect("it exists");
    assert_eq!(status.chat_status, ChatStatus::Running, "now the session is busy because of it");
    let next = turn(ports, &asked.ann, &asked.mine.id, "and?").await;
    assert_eq!(try_claim(ports, &next.id).await, JobClaimed::NotReady);
    record(
        ports,
        &claim,
        vec![JournalEntry::Message(NewMessage::new(MessageRole::Assistant, "so"))],
    )
    .await;
    let rows = history(ports, &asked.ann, &asked.mine.id).await;
    assert_eq!(
        texts(&rows),
        ["hello", "", "built", "under way", "and?"],
        "its messages are not visible while it runs"
    );
    assert_eq!(finish(ports, &claim, "it is built").await, [next.id]);
}

pub async fn a_session_with_an_open_operation_is_not_regenerated(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    finish(ports, &asked.claim, "under way").await;
    let again = || ports.turns.open(&asked.ann, regeneration(&asked.mine.id, None));
    assert_eq!(again().await.expect("open"), TurnOpened::Busy);
    let claim = claim(ports, &asked.turn).await;
    asked.complete(ports, "built").await;
    assert!(line_up(ports, &claim).await);
    finish(ports, &claim, "it is built").await;
    // The last user message is regenerated, not the turn of the operation.
    let Ok(TurnOpened::New(new)) = again().await else { panic!("a new turn") };
    let claim = claim_for(ports, &new.id, LONG).await;
    assert_eq!(texts(&progress(ports, &claim).await.messages), ["hello"]);
    finish(ports, &claim, "better").await;
    let rows = history(ports, &asked.ann, &asked.mine.id).await;
    assert_eq!(texts(&rows), ["hello", "better"]);
}
