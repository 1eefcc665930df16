//! Outbox and leases of a node. The simulation runs turns; it has no executions.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{JobClaimed, LeaseRenewal};
use ports::{Fenced, Leases, Outbox, PortResult};
use protocol::{Job, JobClaim, TurnId, WorkerId};

use super::backend::BackendState;
use super::fence_check::WriteEffect;
use super::node::SimNode;
use super::store::{describe, fenced_effect, omit_result, store_call};
use super::unsupported::unsupported;

#[async_trait]
impl Outbox for SimNode {
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<Job>> {
        let due = move |backend: &mut BackendState| {
            Ok(backend.due(limit, hold).into_iter().map(Job::Turn).collect())
        };
        self.call(store_call("asks", "what is due"), due, describe).await
    }

    async fn pushed(&self, jobs: &[Job], again_in: Duration) -> PortResult<()> {
        let turns =
            jobs.iter().map(|job| Ok(turn_of(job)?.clone())).collect::<PortResult<Vec<_>>>()?;
        let call = store_call("has pushed", format_args!("{turns:?}"));
        let pushed = move |backend: &mut BackendState| {
            backend.pushed(&turns, again_in);
            Ok(())
        };
        self.call(call, pushed, omit_result).await
    }

    async fn lag(&self) -> PortResult<(u64, Duration)> {
        self.call(store_call("asks", "for the lag"), |backend| Ok(backend.lag()), omit_result).await
    }
}

#[async_trait]
impl Leases for SimNode {
    async fn claim(&self, job: &Job, worker: &WorkerId, ttl: Duration) -> PortResult<JobClaimed> {
        let describe = |claimed: &JobClaimed| match claimed.claim() {
            Some(claim) => format!("granted {}", claim.fence),
            None => format!("{claimed:?}"),
        };
        let (turn, worker) = (turn_of(job)?.clone(), worker.clone());
        let (call, sim, number) = (store_call("claims", &turn), self.sim.clone(), self.number);
        let effect = move |backend: &mut BackendState| {
            let claimed = backend.claim(&turn, &worker, ttl);
            if claimed.claim().is_some() {
                sim.observations().record_renewal(number, &turn, backend.now);
            }
            Ok(claimed)
        };
        self.call(call, effect, describe).await
    }

    async fn renew(&self, claim: &JobClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (turn, fence) = (turn_of(&claim.job)?.clone(), claim.fence);
        let call = store_call("renews", format_args!("{turn} {fence}"));
        let (sim, number) = (self.sim.clone(), self.number);
        let effect = move |backend: &mut BackendState| {
            let renewal = sim.checked_fenced_write(
                backend,
                (&turn, fence),
                |backend| backend.renew(&turn, fence, ttl),
                |renewal| {
                    if *renewal == LeaseRenewal::Lost {
                        WriteEffect::Unchanged
                    } else {
                        WriteEffect::Changed
                    }
                },
            );
            if renewal != LeaseRenewal::Lost {
                sim.observations().record_renewal(number, &turn, backend.now);
            }
            Ok(renewal)
        };
        self.call(call, effect, describe).await
    }

    async fn hand_back(&self, claim: &JobClaim) -> PortResult<Fenced<()>> {
        let (turn, fence, sim) = (turn_of(&claim.job)?.clone(), claim.fence, self.sim.clone());
        let call = store_call("hands back", format_args!("{turn} {fence}"));
        let hand_back = move |backend: &mut BackendState| {
            sim.checked_fenced_write(
                backend,
                (&turn, fence),
                |backend| Ok(backend.hand_back(&turn, fence)),
                fenced_effect,
            )
        };
        self.call(call, hand_back, describe).await
    }
}

fn turn_of(job: &Job) -> PortResult<&TurnId> {
    match job {
        Job::Turn(id) => Ok(id),
        Job::Execution(_) => unsupported(),
    }
}
