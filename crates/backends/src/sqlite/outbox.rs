//! Jobs to push to the queue. Kept in a column of the job itself, so that every change of a job updates it.

use std::time::Duration;

use async_trait::async_trait;
use ports::{Outbox, PortResult};
use protocol::Job;
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::boot_clock::millis;
use super::error::SqliteError;
use super::job_statements::{EXECUTION, JobStatements, TURN, statements};
use super::write_job::{WriteOutput, WritePriority};
use crate::rows::StoreRow;

#[async_trait]
impl Outbox for SqliteStore {
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<Job>> {
        let now = self.boot.ms();
        let jobs = self.readers.run(move |db| due(db, now, limit)).await?;
        if !jobs.is_empty() && !hold.is_zero() {
            // There is one relay in the only process, so nothing changed in between.
            self.pushed(&jobs, hold).await?;
        }
        Ok(jobs)
    }

    async fn pushed(&self, jobs: &[Job], again_in: Duration) -> PortResult<()> {
        let (jobs, now) = (jobs.to_vec(), self.boot.ms());
        let again = now + millis(again_in);
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                for job in &jobs {
                    db.prepare_cached(statements(job).pushed)?.execute(params![
                        job.id(),
                        again,
                        now
                    ])?;
                }
                Ok(WriteOutput::silent(()))
            })
            .await
    }

    async fn lag(&self) -> PortResult<(u64, Duration)> {
        let now = self.boot.ms();
        self.readers
            .run(move |db| {
                let (mut jobs, mut oldest) = (0, now);
                for kind in [TURN, EXECUTION] {
                    let (count, since): (i64, Option<i64>) = db
                        .prepare_cached(kind.lag)?
                        .query_row([now], |row| Ok((row.get(0)?, row.get(1)?)))?;
                    jobs += count as u64;
                    oldest = oldest.min(since.unwrap_or(now));
                }
                Ok((jobs, Duration::from_millis((now - oldest) as u64)))
            })
            .await
    }
}

fn due(db: &Connection, now: i64, limit: u32) -> Result<Vec<Job>, SqliteError> {
    let mut jobs = due_of_kind(db, &TURN, now, limit as usize, Job::Turn)?;
    let left = limit as usize - jobs.len();
    jobs.extend(due_of_kind(db, &EXECUTION, now, left, Job::Execution)?);
    Ok(jobs)
}

fn due_of_kind<I: From<String>>(
    db: &Connection,
    kind: &JobStatements,
    now: i64,
    limit: usize,
    job: fn(I) -> Job,
) -> Result<Vec<Job>, SqliteError> {
    let due = db
        .prepare_cached(kind.due)?
        .query_map(params![now, limit as i64], |row| Ok(job(row.id("id")?)))?
        .collect::<Result<_, _>>()?;
    Ok(due)
}
