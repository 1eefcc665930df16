//! Executions: created, journaled, stopped, ended.

mod advance;
pub(crate) mod claim;
mod create;
mod delete;
mod find;
mod journal;
mod list;
mod repeated_advance;
mod stop;
mod tree;

use async_trait::async_trait;
use ports::store::{
    ExecutionAdvance, ExecutionAdvanced, ExecutionCreated, ExecutionDeleted, Executions,
    JournalBatch, ListExecutions, NewExecution,
};
use ports::{Fenced, PortResult};
use protocol::execution::{Execution, ExecutionClaim};
use protocol::{ExecutionId, UserId};

use super::PostgresStore;
use crate::rows::StoreRow;

#[async_trait]
impl Executions for PostgresStore {
    async fn create(&self, new: NewExecution) -> PortResult<ExecutionCreated> {
        self.write(create::create(self.clone(), new)).await
    }

    async fn get(&self, user: &UserId, id: &ExecutionId) -> PortResult<Option<Execution>> {
        self.read(|db| async move { find::of_user(&db, user, id).await }).await
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
            Ok((row.number("queued")?, row.number("running")?))
        })
        .await
    }
}

/// Key of the advisory lock for counting a user's executions, and for stopping or deleting a tree of them.
fn lock_name(user: &UserId) -> String {
    format!("executions:{user}")
}
