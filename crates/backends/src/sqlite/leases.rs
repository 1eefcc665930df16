//! Leases of turns and executions, as times on this process's own clock; a restart ends them all.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{JobClaimed, LeaseRenewal, Leases};
use ports::{Fenced, PortResult};
use protocol::{Job, JobClaim, WorkerId};
use rusqlite::{OptionalExtension, params};

use super::boot_clock::millis;
use super::job_statements::statements;
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, executions, turns};
use crate::rules::fenced_writes::{count_fenced, fenced};

#[async_trait]
impl Leases for SqliteStore {
    async fn claim(&self, job: &Job, worker: &WorkerId, ttl: Duration) -> PortResult<JobClaimed> {
        let (job, worker, now, caps) = (job.clone(), worker.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let claimed = match &job {
                    Job::Turn(id) => turns::claim::claim(db, now, caps, id, &worker, ttl)?,
                    Job::Execution(id) => {
                        executions::claim::claim(db, now, caps.executions, id, &worker, ttl)?
                    }
                };
                Ok(WriteOutput::silent(claimed))
            })
            .await
    }

    async fn renew(&self, claim: &JobClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (claim, until) = (claim.clone(), self.boot.ms() + millis(ttl));
        // Essential: a worker that cannot renew gives its job up, and could then not end it either.
        self.writer
            .run(WritePriority::Essential, move |db| {
                let renewed = db
                    .prepare_cached(statements(&claim.job).renew)?
                    .query_row(params![claim.job.id(), claim.fence as i64, until], |row| {
                        Ok(LeaseRenewal::Held { stop_requested: row.get(0)? })
                    })
                    .optional()?;
                Ok(WriteOutput::silent(renewed.unwrap_or_else(|| {
                    count_fenced();
                    LeaseRenewal::Lost
                })))
            })
            .await
    }

    async fn hand_back(&self, claim: &JobClaim) -> PortResult<Fenced<()>> {
        let (claim, now) = (claim.clone(), self.store_time());
        self.writer
            .run(WritePriority::Essential, move |db| {
                let changed = db
                    .prepare_cached(statements(&claim.job).hand_back)?
                    .execute(params![claim.job.id(), claim.fence as i64, now.ms])?;
                Ok(WriteOutput::silent(fenced((changed > 0).then_some(()))))
            })
            .await
    }
}
