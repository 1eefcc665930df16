//! Laws of `Operations`: an accepted operation waits for an external service.

use std::time::Duration;

use ports::leases::JobClaimed;
use ports::store::OperationBegun;
use protocol::message::ToolOutcome;
use protocol::operation::OperationState;
use protocol::turn::TurnStatus;
use protocol::{Job, TurnId};

use super::asked_operation::{asked, begin, done, new};
use crate::conformance::BackendFixture;
use crate::conformance::job_scene::due_jobs;
use crate::conformance::scene::*;

pub async fn an_accepted_operation_waits_until_it_is_completed(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    asked.accepted(ports, LONG).await;
    assert_eq!(asked.now(ports).await.state, OperationState::Accepted);
    let resting = found(ports, &asked.ann, &asked.turn).await;
    assert_eq!((resting.status, resting.attempt), (TurnStatus::Queued, 0), "no crashed attempt");
    // A push reported late must not make it due.
    let pushed = [Job::from(&asked.turn)];
    ports.outbox.pushed(&pushed, Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    assert_eq!(try_claim(ports, &asked.turn).await, JobClaimed::NotReady);
    finish(ports, &asked.claim, "it is under way").await;
    assert_eq!(try_claim(ports, &asked.turn).await, JobClaimed::NotReady);

    assert_eq!(asked.complete(ports, "built").await, asked.completed(true));
    assert_eq!(asked.row(ports).await, ("built".to_owned(), Some(ToolOutcome::Ok)));
    let ended = asked.now(ports).await;
    assert_eq!((ended.state, ended.result), (OperationState::Ended, Some(done("built"))));
    assert_eq!(due_jobs(ports).await, pushed);
    claim(ports, &asked.turn).await;
}

pub async fn an_accepted_operation_waits_through_a_restart(fixture: &mut impl BackendFixture) {
    let asked = asked(fixture.ports()).await;
    finish(fixture.ports(), &asked.claim, "it is under way").await;
    asked.accepted(fixture.ports(), LONG).await;
    fixture.restart().await;
    let ports = fixture.ports();
    assert_eq!(due(ports).await, []);
    assert_eq!(try_claim(ports, &asked.turn).await, JobClaimed::NotReady);
    assert_eq!(asked.now(ports).await.state, OperationState::Accepted);
    assert_eq!(asked.complete(ports, "built").await, asked.completed(true));
    fixture.restart().await;
    assert_eq!(due(fixture.ports()).await, [asked.turn]);
}

pub async fn an_accepted_operation_is_due_when_its_time_limit_expires(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    asked.accepted(ports, 5 * SHORT).await;
    eventually("the time limit expires", || async {
        // Held for pushing, as the sweeper does; it stays claimable.
        let due = ports.outbox.due(100, LONG).await.expect("the outbox is read");
        due.contains(&Job::from(&asked.turn)).then_some(())
    })
    .await;
    let claim = claim(ports, &asked.turn).await;
    let seen = progress(ports, &claim).await.operation.expect("the turn runs an operation");
    assert_eq!(seen.result, None, "no result was reported");
    assert_eq!(seen.state, OperationState::Accepted, "it must not be started again");
}

pub async fn a_cancel_wakes_an_accepted_operation(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    asked.accepted(ports, LONG).await;
    finish(ports, &asked.claim, "it is under way").await;
    let marked = ports.turns.request_cancel(&asked.ann, &asked.mine.id).await.expect("cancel");
    let marked: Vec<TurnId> = marked.into_iter().map(|turn| turn.id).collect();
    assert_eq!(marked, std::slice::from_ref(&asked.turn));
    assert_eq!(due(ports).await, marked, "even without a push");
    let claim = claim(ports, &asked.turn).await;
    end(ports, &claim, TurnStatus::Cancelled).await;
    assert_eq!(asked.complete(ports, "too late").await, asked.before());
}

pub async fn a_cancelled_operation_does_not_wait(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, asking) = first_turn(ports).await;
    let asking = claim(ports, &asking.id).await;
    ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    let begun = begin(ports, &asking, new("a")).await;
    let OperationBegun::New { operation, .. } = begun else { panic!("{begun:?}") };
    let turn = operation.task_id.turn();
    assert!(found(ports, &ann, &turn).await.cancel_requested, "the cancel applies to it, too");
    let claim = claim_for(ports, &turn, LONG).await;
    ports.operations.accepted(&claim, LONG).await.expect("accepted");
    assert_eq!(due(ports).await, std::slice::from_ref(&turn));
    let claim = claim_for(ports, &turn, LONG).await;
    end(ports, &claim, TurnStatus::Cancelled).await;
}
