//! Laws of `Executions`: claims and leases.

use std::time::Duration;

use futures::future::join_all;
use ports::leases::LeaseRenewal;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionClaimed};
use ports::{Fenced, Ports};
use protocol::ExecutionId;
use protocol::execution::{ExecutionClaim, ExecutionStatus};
use protocol::limits::UserLimits;

use super::super::agent_scene::*;
use super::super::scene::{LONG, SHORT, eventually, worker};
use super::super::{BackendFixture, GENEROUS};

const HELD: LeaseRenewal = LeaseRenewal::Held { cancel_requested: false };

async fn renew(ports: &Ports, claim: &ExecutionClaim) -> LeaseRenewal {
    ports.executions.renew(claim, LONG).await.expect("renewing succeeds")
}

async fn until_due(ports: &Ports, run: &ExecutionId) {
    eventually("the execution is due", || async { due(ports).await.contains(run).then_some(()) })
        .await;
}

pub async fn an_execution_has_one_holder(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let claims = join_all((0..20).map(|_| try_claim(ports, &run.id))).await;
    let mut won = Vec::new();
    for claimed in claims {
        match claimed {
            ExecutionClaimed::Granted { claim, execution } => won.push((claim, execution)),
            ExecutionClaimed::Held => {}
            other => panic!("{other:?}"),
        }
    }
    let [(claim, execution)] = won.as_slice() else { panic!("one holder, not {won:?}") };
    assert_eq!((&claim.execution_id, claim.fence), (&run.id, execution.fence));
    assert_eq!((execution.status, execution.attempt), (ExecutionStatus::Running, 1));
    assert!(execution.started_at.is_some());
    assert_eq!(found(ports, &run.id).await, **execution);
    assert_eq!(try_claim(ports, &"no such execution".into()).await, ExecutionClaimed::Ended);
}

pub async fn every_claim_of_an_execution_raises_the_fence(fixture: &mut impl BackendFixture) {
    let run = queued_execution(fixture.ports()).await;
    let (mut before, mut started) = (0, None);
    for attempt in 1..=4 {
        let claim = claim_for(fixture.ports(), &run.id, SHORT).await;
        assert!(claim.fence > before);
        before = claim.fence;
        let now = found(fixture.ports(), &run.id).await;
        assert_eq!((now.attempt, now.fence), (attempt, claim.fence));
        assert_eq!(now.started_at, started.or(now.started_at), "set by the first claim");
        started = now.started_at;
        if attempt == 2 {
            fixture.restart().await;
        }
    }
}

pub async fn a_repeated_claim_of_an_execution_is_the_same(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (run, me) = (queued_execution(ports).await, worker());
    let first = ports.executions.claim(&run.id, &me, LONG).await.expect("claim");
    assert!(matches!(first, ExecutionClaimed::Granted { .. }));
    assert_eq!(ports.executions.claim(&run.id, &me, LONG).await.expect("claim"), first);
    assert_eq!(try_claim(ports, &run.id).await, ExecutionClaimed::Held);
}

pub async fn a_stale_claim_of_an_execution_changes_nothing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let old = claim_for(ports, &run.id, SHORT).await;
    assert_ne!(advance(ports, &old, batch(0, 2)).await, Fenced::Stale);
    let new = claim(ports, &run.id).await;
    let before = found(ports, &run.id).await;
    assert_eq!(renew(ports, &old).await, LeaseRenewal::Lost);
    assert_eq!(ports.executions.hand_back(&old).await.expect("hand back"), Fenced::Stale);
    let failed = AfterAdvance::End { status: ExecutionStatus::Failed, error: None };
    for late in [batch(2, 1), batch(0, 2), ExecutionAdvance { then: failed, ..batch(2, 0) }] {
        assert_eq!(advance(ports, &old, late).await, Fenced::Stale);
    }
    assert_eq!(found(ports, &run.id).await, before);
    assert_ne!(advance(ports, &new, batch(2, 1)).await, Fenced::Stale);
    let gone = ExecutionClaim { execution_id: "no such execution".into(), ..new };
    assert_eq!(advance(ports, &gone, batch(0, 1)).await, Fenced::Stale);
}

pub async fn a_renewed_execution_stays_with_its_holder(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim_for(ports, &run.id, SHORT).await;
    assert_eq!(renew(ports, &held).await, HELD);
    tokio::time::sleep(2 * SHORT).await;
    assert_eq!(try_claim(ports, &run.id).await, ExecutionClaimed::Held);
    assert_eq!(due(ports).await, []);
    ports.executions.request_stop(&ann(), &run.id).await.expect("stop");
    assert_eq!(renew(ports, &held).await, LeaseRenewal::Held { cancel_requested: true });
    end(ports, &held, ExecutionStatus::Terminated).await;
    assert_eq!(renew(ports, &held).await, LeaseRenewal::Lost);
    assert_eq!(try_claim(ports, &run.id).await, ExecutionClaimed::Ended);
}

pub async fn an_execution_with_an_expired_lease_is_due_again(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    claim_for(ports, &run.id, SHORT).await;
    until_due(ports, &run.id).await;
    let pushed = std::slice::from_ref(&run.id);
    ports.executions.pushed(pushed, Duration::from_secs(1)).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    until_due(ports, &run.id).await;
    claim(ports, &run.id).await;
    assert_eq!(found(ports, &run.id).await.attempt, 2, "the previous attempt counts as crashed");
    assert_eq!(due(ports).await, []);
}

pub async fn a_claimed_execution_is_not_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    // A push reported late must not make it due again.
    let pushed = std::slice::from_ref(&run.id);
    for _ in 0..2 {
        assert_eq!(due(ports).await, []);
        ports.executions.pushed(pushed, Duration::ZERO).await.expect("pushed");
    }
    end(ports, &held, ExecutionStatus::Completed).await;
    ports.executions.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
}

pub async fn a_handed_back_execution_does_not_count_as_crashed(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let mut fence = 0;
    for _ in 0..5 {
        let held = claim(ports, &run.id).await;
        assert!(held.fence > fence);
        fence = held.fence;
        assert_eq!(ports.executions.hand_back(&held).await.expect("back"), Fenced::Done(()));
        assert_eq!(ports.executions.hand_back(&held).await.expect("back"), Fenced::Stale);
        assert_eq!(due(ports).await, std::slice::from_ref(&run.id));
        let now = found(ports, &run.id).await;
        assert_eq!((now.status, now.attempt), (ExecutionStatus::Queued, 0));
        assert_eq!(renew(ports, &held).await, LeaseRenewal::Lost);
    }
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
            ExecutionClaimed::Granted { claim, .. } => won.push(claim),
            ExecutionClaimed::AtCap => {}
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
    assert_eq!(try_claim(ports, waiting).await, ExecutionClaimed::AtCap);
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
    until_due(ports, &queued.id).await;
    until_due(ports, &running.id).await;
    assert_eq!(due(ports).await.len(), 2);
    assert!(claim(ports, &running.id).await.fence > held.fence);
    assert_eq!(renew(ports, &held).await, LeaseRenewal::Lost);
    assert_eq!(found(ports, &running.id).await.events, 2);
}
