//! Laws of `Executions`: claims. Those of `Leases` and `Outbox` hold for every kind of job.

use futures::future::join_all;
use ports::Fenced;
use ports::leases::{JobClaimed, LeaseRenewal};
use ports::store::{AfterAdvance, ExecutionAdvance};
use protocol::execution::{ExecutionClaim, ExecutionStatus};
use protocol::limits::UserLimits;

use crate::conformance::agent_scene::*;
use crate::conformance::job_scene::until_due;
use crate::conformance::scene::{LONG, SHORT};
use crate::conformance::{BackendFixture, GENEROUS};

pub async fn a_stale_claim_of_an_execution_changes_nothing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let old = claim_for(ports, &run.id, SHORT).await;
    assert_ne!(advance(ports, &old, batch(0, 2)).await, Fenced::Stale);
    let new = claim(ports, &run.id).await;
    let before = found(ports, &run.id).await;
    let renewed = ports.leases.renew(&(&old).into(), LONG).await.expect("renew");
    assert_eq!(renewed, LeaseRenewal::Lost);
    let handed_back = ports.leases.hand_back(&(&old).into()).await.expect("hand back");
    assert_eq!(handed_back, Fenced::Stale);
    let failed = AfterAdvance::End { status: ExecutionStatus::Failed, error: None };
    for late in [batch(2, 1), batch(0, 2), ExecutionAdvance { then: failed, ..batch(2, 0) }] {
        assert_eq!(advance(ports, &old, late).await, Fenced::Stale);
    }
    assert_eq!(found(ports, &run.id).await, before);
    assert_ne!(advance(ports, &new, batch(2, 1)).await, Fenced::Stale);
    let gone = ExecutionClaim { execution_id: "no such execution".into(), ..new };
    assert_eq!(advance(ports, &gone, batch(0, 1)).await, Fenced::Stale);
}

pub async fn running_executions_are_limited_per_user<F: BackendFixture>(_: &mut F) {
    let fixture = F::start_with(UserLimits { executions: 3, ..GENEROUS }).await;
    let ports = fixture.ports();
    let mut runs = Vec::new();
    for _ in 0..10 {
        runs.push(queued_execution(ports).await);
    }
    let claimed = join_all(runs.iter().map(|run| try_claim(ports, &run.id))).await;
    let mut won = Vec::new();
    for claimed in claimed {
        match claimed {
            JobClaimed::Execution(granted) => won.push(granted.claim),
            JobClaimed::AtLimit => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won.len(), 3, "exactly, under concurrency");
    let waiting = runs.iter().find(|run| won.iter().all(|claim| claim.execution_id != run.id));
    let waiting = &waiting.expect("some wait").id;
    assert_eq!(found(ports, waiting).await.status, ExecutionStatus::Queued);
    // Child executions do not count, nor do executions of other users.
    for _ in 0..5 {
        let below = child(ports, &won[0].execution_id).await;
        claim(ports, &below.id).await;
    }
    let other = create(ports, new_execution(&bob())).await;
    claim(ports, &other.id).await;
    assert_eq!(try_claim(ports, waiting).await, JobClaimed::AtLimit);
    end(ports, &won[0], ExecutionStatus::Completed).await;
    let last = claim_for(ports, waiting, SHORT).await;
    // An execution that is taken over counts already.
    assert!(claim(ports, waiting).await.fence > last.fence);
}

pub async fn an_open_execution_survives_a_restart(fixture: &mut impl BackendFixture) {
    let queued = queued_execution(fixture.ports()).await;
    let running = queued_execution(fixture.ports()).await;
    let held = claim_for(fixture.ports(), &running.id, SHORT).await;
    advance(fixture.ports(), &held, batch(0, 2)).await;
    let ended = queued_execution(fixture.ports()).await;
    let last = claim(fixture.ports(), &ended.id).await;
    end(fixture.ports(), &last, ExecutionStatus::Completed).await;
    fixture.restart().await;
    let ports = fixture.ports();
    until_due(ports, &(&queued.id).into()).await;
    until_due(ports, &(&running.id).into()).await;
    assert_eq!(due(ports).await.len(), 2);
    assert!(claim(ports, &running.id).await.fence > held.fence);
    let late = ports.leases.renew(&(&held).into(), LONG).await.expect("renew");
    assert_eq!(late, LeaseRenewal::Lost);
    assert_eq!(found(ports, &running.id).await.events, 2);
}
