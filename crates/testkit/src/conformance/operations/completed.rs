//! Laws of `Operations`: exactly one result, from any source.

use futures::future::join_all;
use ports::Fenced;
use ports::store::{OperationCompleted, OperationKey};
use protocol::message::{MessageRole, NewMessage, ToolOutcome};
use protocol::operation::{OperationResult, OperationState};
use protocol::turn::TurnStatus;

use super::asked_operation::{asked, done};
use crate::conformance::BackendFixture;
use crate::conformance::scene::*;

pub async fn an_operation_is_completed_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    finish(ports, &asked.claim, "it is under way").await;
    asked.accepted(ports, LONG).await;
    let outputs: Vec<String> = (0..100).map(|n| format!("result {n}")).collect();
    let completed = join_all(outputs.iter().map(|output| asked.complete(ports, output))).await;
    let won: Vec<usize> = (0..100).filter(|n| completed[*n] == asked.completed(true)).collect();
    let [won] = won.as_slice() else { panic!("one of them, not {won:?}") };
    assert_eq!(completed.iter().filter(|done| **done == asked.before()).count(), 99);
    let row = (outputs[*won].clone(), Some(ToolOutcome::Ok));
    assert_eq!(asked.row(ports).await, row);

    ports.turns.request_cancel(&asked.ann, &asked.mine.id).await.expect("cancel");
    let by_task = OperationKey::Task(asked.operation.task_id.clone());
    let again = ports.operations.complete(&by_task, done("after a cancel")).await;
    assert_eq!(again.expect("complete"), asked.before());
    let claim = claim(ports, &asked.turn).await;
    end(ports, &claim, TurnStatus::Cancelled).await;
    assert_eq!(asked.complete(ports, "after the end").await, asked.before());
    assert_eq!(asked.row(ports).await, row);
    assert_eq!(asked.now(ports).await.result, Some(done(&outputs[*won])));
    let unknown =
        ports.operations.complete(&OperationKey::Operation("none".into()), done("x")).await;
    assert_eq!(unknown.expect("complete"), OperationCompleted::Unknown);
}

pub async fn an_early_completion_leaves_the_turn_with_its_worker(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    let claim = claim(ports, &asked.turn).await;
    assert_eq!(asked.complete(ports, "fast").await, asked.completed(false));
    let seen = progress(ports, &claim).await.operation.expect("the turn runs an operation");
    assert_eq!(seen.result, Some(done("fast")));
    // The worker has not seen the result and marks the operation as accepted.
    let accepted = ports.operations.accepted(&claim, LONG).await.expect("accepted");
    assert_eq!(accepted, Fenced::Done(()));
    assert_eq!(asked.now(ports).await.state, OperationState::Ended);
    assert_eq!(due(ports).await, std::slice::from_ref(&asked.turn), "at once");
    claim_for(ports, &asked.turn, LONG).await;
}

pub async fn an_operation_that_ends_without_a_result_gets_one(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let stopped =
        OperationResult { output: "it was stopped".into(), outcome: ToolOutcome::Cancelled };
    let asked = asked(ports).await;
    finish(ports, &asked.claim, "under way").await;
    let claim = claim(ports, &asked.turn).await;
    let mut end =
        ending(TurnStatus::Cancelled, 0, vec![NewMessage::new(MessageRole::System, "stopped")]);
    end.operation = Some(stopped.clone());
    ports.turns.finish(&claim, end).await.expect("finish");
    let row = (stopped.output.clone(), Some(stopped.outcome));
    assert_eq!(asked.row(ports).await, row);
    let ended = asked.now(ports).await;
    assert_eq!((ended.state, ended.result), (OperationState::Ended, Some(stopped.clone())));
    assert_eq!(asked.complete(ports, "too late").await, asked.before());
    assert_eq!(asked.row(ports).await, row);
    let next = turn(ports, &asked.ann, &asked.mine.id, "next").await;
    let claim = claim_for(ports, &next.id, LONG).await;
    let seen = progress(ports, &claim).await.messages;
    let expected = ["hello", "", "it was stopped", "under way", "stopped", "next"];
    assert_eq!(texts(&seen), expected, "its messages keep their position");
    finish(ports, &claim, "done").await;

    // An operation with a result keeps it, even if the end of its turn has another.
    let other = super::asked_operation::asked(ports).await;
    let claim = claim_for(ports, &other.turn, LONG).await;
    other.complete(ports, "built").await;
    let mut end = ending(TurnStatus::Failed, 0, Vec::new());
    end.operation = Some(stopped);
    ports.turns.finish(&claim, end).await.expect("finish");
    assert_eq!(other.now(ports).await.result, Some(done("built")));
    finish(ports, &other.claim, "under way").await;
    assert_eq!(other.row(ports).await, ("built".to_owned(), Some(ToolOutcome::Ok)));
}
