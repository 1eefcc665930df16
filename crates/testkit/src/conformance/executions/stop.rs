//! Laws of `Executions`: a stop, which reaches an execution and all of its descendants.

use ports::leases::JobClaimed;
use ports::store::AfterAdvance;
use ports::{Fenced, Ports};
use protocol::ExecutionId;
use protocol::execution::{Execution, ExecutionStatus};
use protocol::limits::UserLimits;

use crate::conformance::agent_scene::*;
use crate::conformance::{BackendFixture, GENEROUS};

async fn stop(ports: &Ports, run: &ExecutionId) -> Vec<Execution> {
    let stopped = ports.executions.request_stop(&ann(), run).await.expect("stopping succeeds");
    stopped.expect("the execution exists")
}

fn ids(runs: &[Execution]) -> Vec<ExecutionId> {
    runs.iter().map(|run| run.id.clone()).collect()
}

pub async fn a_stop_reaches_all_children(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let top = queued_execution(ports).await;
    claim(ports, &top.id).await;
    let middle = child(ports, &top.id).await;
    let held = claim(ports, &middle.id).await;
    let queued = child(ports, &top.id).await;
    let leaf = child(ports, &middle.id).await;
    claim(ports, &leaf.id).await;
    end(ports, &held, ExecutionStatus::Completed).await;
    let elsewhere = queued_execution(ports).await;

    let stopped = stop(ports, &top.id).await;
    let expected = [top.id.clone(), queued.id.clone(), leaf.id.clone()];
    assert_eq!(ids(&stopped), expected, "level by level, through ended executions");
    for run in &stopped {
        assert!(run.stop_requested);
        assert_eq!(found(ports, &run.id).await, *run, "as stored afterwards");
    }
    let statuses: Vec<_> = stopped.iter().map(|run| run.status).collect();
    use ExecutionStatus::{Running, Terminated};
    assert_eq!(statuses, [Running, Terminated, Running]);
    assert!(!found(ports, &middle.id).await.stop_requested);
    assert!(!found(ports, &elsewhere.id).await.stop_requested);
    let unknown = ports.executions.request_stop(&ann(), &"no such execution".into()).await;
    assert_eq!(unknown.expect("stop"), None);
}

pub async fn a_stop_ends_executions_without_a_lease(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let queued = queued_execution(ports).await;
    let resting = waiting_for_review(ports, &["a"]).await;
    for run in [&queued, &resting] {
        let stopped = stop(ports, &run.id).await;
        assert_eq!(ids(&stopped), std::slice::from_ref(&run.id));
        assert_eq!(stopped[0].status, ExecutionStatus::Terminated);
        assert!(stopped[0].ended_at.is_some());
        assert_eq!(try_claim(ports, &run.id).await, JobClaimed::Ended);
        assert_eq!(stop(ports, &run.id).await, stopped, "once");
    }
    assert_eq!(due(ports).await, []);
}

pub async fn a_stop_withdraws_pending_reviews(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let top = queued_execution(ports).await;
    let held = claim(ports, &top.id).await;
    let below = child(ports, &top.id).await;
    let below_held = claim(ports, &below.id).await;
    for (claim, then) in
        [(&below_held, AfterAdvance::AwaitReviews), (&held, AfterAdvance::Continue)]
    {
        let run = &claim.execution_id;
        let mut next = batch(0, 1);
        next.reviews = vec![question(run, &format!("of {run}"), "n")];
        next.then = then;
        assert_ne!(advance(ports, claim, next).await, Fenced::Stale);
    }
    let pending = async || {
        let (pending, total) = ports.reviews.pending(&ann(), 10, 0).await.expect("pending");
        assert_eq!(pending.len() as u64, total);
        pending.into_iter().map(|review| review.execution_id).collect::<Vec<_>>()
    };
    assert_eq!(pending().await, [below.id, top.id.clone()], "oldest first");
    stop(ports, &top.id).await;
    assert_eq!(pending().await, [top.id], "the review of the ended execution");
    end(ports, &held, ExecutionStatus::Terminated).await;
    assert_eq!(pending().await, [], "the end withdraws the other reviews");
}

pub async fn a_stopped_execution_is_claimed_beyond_the_cap<F: BackendFixture>(_: &mut F) {
    let fixture = F::start_with(UserLimits { executions: 1, ..GENEROUS }).await;
    let ports = fixture.ports();
    let (left, next) = (queued_execution(ports).await, queued_execution(ports).await);
    let lapsed = claim_for(ports, &left.id, crate::conformance::scene::SHORT).await;
    stop(ports, &left.id).await;
    assert_eq!(try_claim(ports, &next.id).await, JobClaimed::AtLimit);
    let held = claim(ports, &left.id).await;
    assert!(held.fence > lapsed.fence);
    assert_eq!(ports.leases.hand_back(&(&held).into()).await.expect("back"), Fenced::Done(()));
    claim(ports, &next.id).await;
    let held = claim(ports, &left.id).await;
    end(ports, &held, ExecutionStatus::Terminated).await;
}
