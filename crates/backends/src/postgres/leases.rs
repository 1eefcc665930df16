//! Leases of turns and executions, as times on the clock of the database, which all processes share.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{JobClaimed, LeaseRenewal, Leases};
use ports::{Fenced, PortResult};
use protocol::{Job, JobClaim, WorkerId};

use super::connection::PooledConnection;
use super::job_statements::statements;
use super::text_param::TextParam;
use super::{PostgresStore, executions, turns};
use crate::rows::StoreRow;
use crate::rules::fenced_writes::{count_fenced, fenced};

#[async_trait]
impl Leases for PostgresStore {
    async fn claim(&self, job: &Job, worker: &WorkerId, ttl: Duration) -> PortResult<JobClaimed> {
        let (store, worker) = (self.clone(), worker.clone());
        match job.clone() {
            Job::Turn(id) => self.write(turns::claim::claim(store, id, worker, ttl)).await,
            Job::Execution(id) => {
                self.write(executions::claim::claim(store, id, worker, ttl)).await
            }
        }
    }

    async fn renew(&self, claim: &JobClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (pool, claim) = (self.pool.clone(), claim.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let renewed = db
                .query_opt(
                    statements(&claim.job).renew,
                    &[&TextParam(claim.job.id()), &(claim.fence as i64), &seconds(ttl)],
                )
                .await?;
            let Some(row) = renewed else {
                count_fenced();
                return Ok(LeaseRenewal::Lost);
            };
            Ok(LeaseRenewal::Held { stop_requested: row.flag("stop")? })
        })
        .await
    }

    async fn hand_back(&self, claim: &JobClaim) -> PortResult<Fenced<()>> {
        let (pool, claim) = (self.pool.clone(), claim.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let changed = db
                .query_opt(
                    statements(&claim.job).hand_back,
                    &[&TextParam(claim.job.id()), &(claim.fence as i64)],
                )
                .await?;
            Ok(fenced(changed.map(|_| ())))
        })
        .await
    }
}

/// Seconds as a statement parameter; an absurdly long duration becomes a very long one.
pub(crate) fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64().min(1e9)
}
