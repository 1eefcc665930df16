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
    AfterAdvance, ExecutionAdvance, ExecutionAdvanced, ExecutionCreated, ExecutionDeleted,
    Executions, JournalBatch, ListExecutions, NewExecution,
};
use ports::{Fenced, PortResult};
use protocol::execution::{Execution, ExecutionClaim};
use protocol::{ExecutionId, UserId};

use super::SqliteStore;
use super::write_job::WritePriority;
use crate::rules::json::to_json;

#[async_trait]
impl Executions for SqliteStore {
    async fn create(&self, new: NewExecution) -> PortResult<ExecutionCreated> {
        let request = to_json(&new.request)?;
        let now = self.store_time();
        self.writer
            .run(WritePriority::Ordinary, move |db| create::create(db, now, &new, &request))
            .await
    }

    async fn get(&self, user: &UserId, id: &ExecutionId) -> PortResult<Option<Execution>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| find::of_user(db, &user, &id)).await
    }

    async fn list(
        &self,
        user: &UserId,
        wanted: &ListExecutions,
    ) -> PortResult<(Vec<Execution>, u64)> {
        let (user, wanted) = (user.clone(), wanted.clone());
        self.readers.run(move |db| list::list(db, &user, &wanted)).await
    }

    async fn delete(&self, user: &UserId, id: &ExecutionId) -> PortResult<ExecutionDeleted> {
        let (user, id) = (user.clone(), id.clone());
        // Essential, because it frees space.
        self.writer.run(WritePriority::Essential, move |db| delete::delete(db, &user, &id)).await
    }

    async fn advance(
        &self,
        claim: &ExecutionClaim,
        advance: ExecutionAdvance,
    ) -> PortResult<Fenced<ExecutionAdvanced>> {
        let prepared = advance::PreparedAdvance::new(claim.clone(), advance)?;
        let priority = match prepared.advance.then {
            AfterAdvance::Continue => WritePriority::Ordinary,
            AfterAdvance::AwaitReviews | AfterAdvance::End { .. } => WritePriority::Essential,
        };
        let now = self.store_time();
        self.writer.run(priority, move |db| advance::advance(db, now, &prepared)).await
    }

    async fn journal(
        &self,
        user: &UserId,
        id: &ExecutionId,
        after: u64,
        bytes: usize,
    ) -> PortResult<Vec<JournalBatch>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| journal::read(db, &user, &id, after, bytes)).await
    }

    async fn request_stop(
        &self,
        user: &UserId,
        id: &ExecutionId,
    ) -> PortResult<Option<Vec<Execution>>> {
        let (user, id, now) = (user.clone(), id.clone(), self.store_time());
        self.writer
            .run(WritePriority::Essential, move |db| stop::request_stop(db, now, &user, &id))
            .await
    }

    async fn count_open(&self) -> PortResult<(u64, u64)> {
        self.readers.run(list::count_open).await
    }
}
