//! Jobs to push to the queue. Kept in a column of the job itself, so that every change of a job updates it.

use std::time::Duration;

use async_trait::async_trait;
use ports::{Outbox, PortResult};
use protocol::Job;

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::job_statements::{EXECUTION, JobStatements, TURN};
use super::leases::seconds;
use super::text_param::TextParam;
use crate::rows::StoreRow;

#[async_trait]
impl Outbox for PostgresStore {
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<Job>> {
        if hold.is_zero() {
            return self.read(|db| async move { due(&db, limit, hold).await }).await;
        }
        let pool = self.pool.clone();
        self.write(async move { due(&PooledConnection::get(&pool).await?, limit, hold).await })
            .await
    }

    async fn pushed(&self, jobs: &[Job], again_in: Duration) -> PortResult<()> {
        let (pool, jobs) = (self.pool.clone(), jobs.to_vec());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let (turns, executions): (Vec<&Job>, Vec<&Job>) =
                jobs.iter().partition(|job| matches!(job, Job::Turn(_)));
            for (kind, jobs) in [(TURN, turns), (EXECUTION, executions)] {
                if !jobs.is_empty() {
                    let ids: Vec<TextParam<'_>> =
                        jobs.iter().map(|job| TextParam(job.id())).collect();
                    db.query(kind.pushed, &[&ids, &seconds(again_in)]).await?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn lag(&self) -> PortResult<(u64, Duration)> {
        self.read(|db| async move {
            let (mut waiting, mut oldest) = (0, 0.0);
            for kind in [TURN, EXECUTION] {
                let row = db.query_one(kind.lag, &[]).await?;
                waiting += row.number("waiting")?;
                oldest = f64::max(oldest, row.try_get("oldest")?);
            }
            Ok((waiting, Duration::from_secs_f64(oldest)))
        })
        .await
    }
}

async fn due(db: &PooledConnection, limit: u32, hold: Duration) -> Result<Vec<Job>, PostgresError> {
    let mut jobs = due_of_kind(db, &TURN, limit as usize, hold, Job::Turn).await?;
    let left = limit as usize - jobs.len();
    if left > 0 {
        jobs.extend(due_of_kind(db, &EXECUTION, left, hold, Job::Execution).await?);
    }
    Ok(jobs)
}

async fn due_of_kind<I: From<String>>(
    db: &PooledConnection,
    kind: &JobStatements,
    limit: usize,
    hold: Duration,
    job: fn(I) -> Job,
) -> Result<Vec<Job>, PostgresError> {
    let limit = limit as i64;
    let found = match hold.is_zero() {
        true => db.query(kind.find_due, &[&limit]).await?,
        false => db.query(kind.take_due, &[&limit, &seconds(hold)]).await?,
    };
    found.iter().map(|row| Ok(job(row.id("id")?))).collect()
}
