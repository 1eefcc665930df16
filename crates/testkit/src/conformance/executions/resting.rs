//! Laws of `Executions`: executions that wait for a review.

use ports::Fenced;
use ports::leases::{JobClaimed, LeaseRenewal};
use ports::store::{
    AfterAdvance, ExecutionAdvance, ExecutionAdvanced, ReviewVerdict, ReviewsDecided,
};
use protocol::execution::ExecutionStatus;

use crate::conformance::BackendFixture;
use crate::conformance::agent_scene::*;
use crate::conformance::job_scene::due_jobs;
use crate::conformance::scene::LONG;

fn approve(id: &str) -> ReviewVerdict {
    ReviewVerdict { id: id.into(), approved: true, message: None, data: None, for_the_rest: false }
}

pub async fn an_execution_waits_only_while_a_review_is_pending(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    let reviews = vec![question(&run.id, "a", "n"), question(&run.id, "b", "m")];
    advance(ports, &held, ExecutionAdvance { reviews, ..batch(0, 1) }).await;
    // Both are decided before the worker has nothing left to run.
    let decided = ports.reviews.decide(&ann(), &[approve("a"), approve("b")]).await;
    assert!(matches!(decided, Ok(ReviewsDecided::Done { due: false, .. })), "{decided:?}");
    let rest = ExecutionAdvance { then: AfterAdvance::AwaitReviews, ..batch(1, 1) };
    for _ in 0..2 {
        let rested = advance(ports, &held, rest.clone()).await;
        assert_eq!(rested, Fenced::Done(ExecutionAdvanced::Decided), "also when it is repeated");
    }
    let kept = ports.leases.renew(&(&held).into(), LONG).await.expect("renew");
    assert_eq!(kept, LeaseRenewal::Held { stop_requested: false });
    assert_eq!(found(ports, &run.id).await.events, 2, "the batch was written");

    let reviews = vec![question(&run.id, "c", "n")];
    let rest = ExecutionAdvance { reviews, then: AfterAdvance::AwaitReviews, ..batch(2, 1) };
    assert_eq!(advance(ports, &held, rest).await, Fenced::Done(ExecutionAdvanced::Done));
    let resting = found(ports, &run.id).await;
    assert_eq!((resting.status, resting.events), (ExecutionStatus::Review, 3));
    assert_eq!(resting.attempt, 0, "no crashed attempt");
    assert_eq!(due(ports).await, []);
    assert_eq!(try_claim(ports, &run.id).await, JobClaimed::NotReady);
    assert_eq!(ports.leases.renew(&(&held).into(), LONG).await.expect("renew"), LeaseRenewal::Lost);
}

pub async fn a_later_claim_can_wait_for_a_review_again(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let rest = ExecutionAdvance {
        reviews: vec![question(&run.id, "a", "n")],
        then: AfterAdvance::AwaitReviews,
        ..batch(0, 0)
    };
    let held = claim(ports, &run.id).await;
    assert_eq!(advance(ports, &held, rest.clone()).await, Fenced::Done(ExecutionAdvanced::Done));
    ports.reviews.decide(&ann(), &[approve("a")]).await.expect("decide");
    let held = claim(ports, &run.id).await;
    // The batch has the same content, but it is not a repetition.
    assert_eq!(advance(ports, &held, rest).await, Fenced::Done(ExecutionAdvanced::Decided));
}

pub async fn a_waiting_execution_survives_a_restart(fixture: &mut impl BackendFixture) {
    let resting = waiting_for_review(fixture.ports(), &["a"]).await;
    fixture.restart().await;
    let ports = fixture.ports();
    assert_eq!(due(ports).await, []);
    assert_eq!(try_claim(ports, &resting.id).await, JobClaimed::NotReady);
    // A push reported late must not make it due.
    let pushed = [resting.id.clone().into()];
    ports.outbox.pushed(&pushed, std::time::Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    ports.reviews.decide(&ann(), &[approve("a")]).await.expect("decide");
    fixture.restart().await;
    assert_eq!(due_jobs(fixture.ports()).await, pushed);
}

pub async fn a_stopped_execution_does_not_wait(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    ports.executions.request_stop(&ann(), &run.id).await.expect("stop");
    let reviews = vec![question(&run.id, "a", "n")];
    let rest = ExecutionAdvance { reviews, then: AfterAdvance::AwaitReviews, ..batch(0, 1) };
    assert_eq!(advance(ports, &held, rest).await, Fenced::Done(ExecutionAdvanced::Done));
    assert_eq!(due(ports).await, std::slice::from_ref(&run.id), "so that a worker ends it");
    let held = claim(ports, &run.id).await;
    end(ports, &held, ExecutionStatus::Terminated).await;
    assert_eq!(ports.reviews.pending(&ann(), 10, 0).await.expect("pending"), (Vec::new(), 0));
}
