//! Executions: created, claimed, journaled, ended.

mod advance;
mod claim;
mod create;
mod delete;
mod due;
mod journal;
mod list;
mod read;
mod repeated_advance;
mod stop;

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::LeaseRenewal;
use ports::store::{
    AfterAdvance, ExecutionAdvance, ExecutionAdvanced, ExecutionClaimed, ExecutionCreated,
    ExecutionDeleted, Executions, JournalBatch, ListExecutions, NewExecution,
};
use ports::{Fenced, PortError, PortResult};
use protocol::execution::{Execution, ExecutionClaim};
use protocol::{ExecutionId, UserId, WorkerId};

use super::SqliteStore;
use super::boot_clock::millis;
use super::write_job::WritePriority;

#[async_trait]
impl Executions for SqliteStore {
    async fn create(&self, new: NewExecution) -> PortResult<ExecutionCreated> {
        let request = serde_json::to_string(&new.request)
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let now = self.store_time();
        self.writer
            .run(WritePriority::Ordinary, move |db| create::create(db, now, &new, &request))
            .await
    }

    async fn get(&self, user: &UserId, id: &ExecutionId) -> PortResult<Option<Execution>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| read::of_user(db, &user, &id)).await
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

    async fn claim(
        &self,
        id: &ExecutionId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<ExecutionClaimed> {
        let (id, worker, now, cap) =
            (id.clone(), worker.clone(), self.store_time(), self.caps.executions);
        self.writer
            .run(WritePriority::Ordinary, move |db| claim::claim(db, now, cap, &id, &worker, ttl))
            .await
    }

    async fn renew(&self, claim: &ExecutionClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (claim, until) = (claim.clone(), self.boot.ms() + millis(ttl));
        // Essential: a worker that cannot renew gives its execution up, and could then not end it either.
        self.writer.run(WritePriority::Essential, move |db| claim::renew(db, &claim, until)).await
    }

    async fn hand_back(&self, claim: &ExecutionClaim) -> PortResult<Fenced<()>> {
        let (claim, now) = (claim.clone(), self.store_time());
        self.writer.run(WritePriority::Essential, move |db| claim::hand_back(db, now, &claim)).await
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

    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<ExecutionId>> {
        let now = self.boot.ms();
        let due = self.readers.run(move |db| due::due(db, now, limit)).await?;
        if !due.is_empty() && !hold.is_zero() {
            // There is one relay in the only process, so nothing changed in between.
            self.pushed(&due, hold).await?;
        }
        Ok(due)
    }

    async fn pushed(&self, ids: &[ExecutionId], again_in: Duration) -> PortResult<()> {
        let (ids, now) = (ids.to_vec(), self.boot.ms());
        let again = now + millis(again_in);
        self.writer.run(WritePriority::Ordinary, move |db| due::pushed(db, now, &ids, again)).await
    }

    async fn count_open(&self) -> PortResult<(u64, u64)> {
        self.readers.run(list::count_open).await
    }
}
