//! Executions: created, claimed, journaled, ended.

mod advance;
mod claim;
mod create;
mod delete;
mod due;
mod journal;
mod lease;
mod list;
mod row;
mod stop;
mod tree;

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::LeaseRenewal;
use ports::store::{
    ExecutionAdvance, ExecutionAdvanced, ExecutionClaimed, ExecutionCreated, ExecutionDeleted,
    Executions, JournalBatch, ListExecutions, NewExecution,
};
use ports::{Fenced, PortResult};
use protocol::execution::{Execution, ExecutionClaim};
use protocol::{ExecutionId, UserId, WorkerId};

use self::row::execution_columns;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::{PostgresStore, rows};

#[async_trait]
impl Executions for PostgresStore {
    async fn create(&self, new: NewExecution) -> PortResult<ExecutionCreated> {
        self.write(create::create(self.clone(), new)).await
    }

    async fn get(&self, user: &UserId, id: &ExecutionId) -> PortResult<Option<Execution>> {
        self.read(|db| async move {
            let row =
                db.query_opt(GET, &[&TextParam(id.as_str()), &TextParam(user.as_str())]).await?;
            row.as_ref().map(row::execution).transpose()
        })
        .await
    }

    async fn list(
        &self,
        user: &UserId,
        wanted: &ListExecutions,
    ) -> PortResult<(Vec<Execution>, u64)> {
        self.read(|db| async move { list::list(&db, user, wanted).await }).await
    }

    async fn delete(&self, user: &UserId, id: &ExecutionId) -> PortResult<ExecutionDeleted> {
        self.write(delete::delete(self.clone(), user.clone(), id.clone())).await
    }

    async fn claim(
        &self,
        id: &ExecutionId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<ExecutionClaimed> {
        self.write(claim::claim(self.clone(), id.clone(), worker.clone(), ttl)).await
    }

    async fn renew(&self, claim: &ExecutionClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        self.write(lease::renew(self.clone(), claim.clone(), ttl)).await
    }

    async fn hand_back(&self, claim: &ExecutionClaim) -> PortResult<Fenced<()>> {
        self.write(lease::hand_back(self.clone(), claim.clone())).await
    }

    async fn advance(
        &self,
        claim: &ExecutionClaim,
        advance: ExecutionAdvance,
    ) -> PortResult<Fenced<ExecutionAdvanced>> {
        self.write(advance::advance(self.clone(), claim.clone(), advance)).await
    }

    async fn journal(
        &self,
        user: &UserId,
        id: &ExecutionId,
        after: u64,
        bytes: usize,
    ) -> PortResult<Vec<JournalBatch>> {
        self.read(|db| async move { journal::read(&db, user, id, after, bytes).await }).await
    }

    async fn request_stop(
        &self,
        user: &UserId,
        id: &ExecutionId,
    ) -> PortResult<Option<Vec<Execution>>> {
        self.write(stop::request_stop(self.clone(), user.clone(), id.clone())).await
    }

    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<ExecutionId>> {
        if hold.is_zero() {
            return self.read(|db| async move { due::find_due(&db, limit).await }).await;
        }
        self.write(due::take(self.clone(), limit, hold)).await
    }

    async fn pushed(&self, ids: &[ExecutionId], again_in: Duration) -> PortResult<()> {
        self.write(due::pushed(self.clone(), ids.to_vec(), again_in)).await
    }

    async fn count_open(&self) -> PortResult<(u64, u64)> {
        self.read(|db| async move {
            let row = db
                .query_one(
                    "SELECT count(*) FILTER (WHERE status = 'QUEUED') AS queued,
                         count(*) FILTER (WHERE status = 'RUNNING') AS running
                     FROM execution WHERE status IN ('QUEUED', 'RUNNING')",
                    &[],
                )
                .await?;
            Ok((rows::number(&row, "queued")?, rows::number(&row, "running")?))
        })
        .await
    }
}

const GET: &str = concat!(
    "SELECT ",
    execution_columns!(),
    " FROM execution AS e WHERE e.id = $1 AND e.user_id = $2"
);

/// The execution, regardless of its owner.
async fn by_id(
    db: &PooledConnection,
    id: &ExecutionId,
) -> Result<Option<Execution>, PostgresError> {
    let row = db
        .query_opt(
            concat!("SELECT ", execution_columns!(), " FROM execution AS e WHERE e.id = $1"),
            &[&TextParam(id.as_str())],
        )
        .await?;
    row.as_ref().map(row::execution).transpose()
}

/// Key of the advisory lock for counting a user's executions, and for stopping or deleting a tree of them.
fn lock_name(user: &UserId) -> String {
    format!("executions:{user}")
}
