//! Runs of agents and of blocks, which no simulated process has, so that none is ever due and none is open; and the
//! reports about them.

use std::time::Duration;

use async_trait::async_trait;
use ports::leases::LeaseRenewal;
use ports::store::{
    BlockOutcome, BlockRunBegun, DailyUsage, ExecutionAdvance, ExecutionAdvanced, ExecutionClaimed,
    ExecutionCreated, ExecutionDeleted, JournalBatch, ListExecutions, LiveExecutions, LiveTurn,
    NewBlockRun, NewExecution, ProcessWorkload, ReviewVerdict, ReviewsDecided,
};
use ports::{BlockRuns, Credits, Executions, Fenced, PortResult, Reports, Reviews};
use protocol::credit::{CreditCharge, CreditTransaction, TransactionKind};
use protocol::execution::{Execution, ExecutionClaim};
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId, WorkerId};

use super::{Absent, absent};

#[async_trait]
impl Executions for Absent {
    async fn create(&self, _: NewExecution) -> PortResult<ExecutionCreated> {
        absent()
    }

    async fn get(&self, _: &UserId, _: &ExecutionId) -> PortResult<Option<Execution>> {
        absent()
    }

    async fn list(&self, _: &UserId, _: &ListExecutions) -> PortResult<(Vec<Execution>, u64)> {
        absent()
    }

    async fn delete(&self, _: &UserId, _: &ExecutionId) -> PortResult<ExecutionDeleted> {
        absent()
    }

    async fn claim(
        &self,
        _: &ExecutionId,
        _: &WorkerId,
        _: Duration,
    ) -> PortResult<ExecutionClaimed> {
        absent()
    }

    async fn renew(&self, _: &ExecutionClaim, _: Duration) -> PortResult<LeaseRenewal> {
        absent()
    }

    async fn hand_back(&self, _: &ExecutionClaim) -> PortResult<Fenced<()>> {
        absent()
    }

    async fn advance(
        &self,
        _: &ExecutionClaim,
        _: ExecutionAdvance,
    ) -> PortResult<Fenced<ExecutionAdvanced>> {
        absent()
    }

    async fn journal(
        &self,
        _: &UserId,
        _: &ExecutionId,
        _: u64,
        _: usize,
    ) -> PortResult<Vec<JournalBatch>> {
        absent()
    }

    async fn request_stop(
        &self,
        _: &UserId,
        _: &ExecutionId,
    ) -> PortResult<Option<Vec<Execution>>> {
        absent()
    }

    async fn due(&self, _: u32, _: Duration) -> PortResult<Vec<ExecutionId>> {
        Ok(Vec::new())
    }

    async fn pushed(&self, _: &[ExecutionId], _: Duration) -> PortResult<()> {
        absent()
    }

    async fn count_open(&self) -> PortResult<(u64, u64)> {
        Ok((0, 0))
    }
}

#[async_trait]
impl Reports for Absent {
    async fn usage(&self, _: &UserId) -> PortResult<Vec<DailyUsage>> {
        absent()
    }

    async fn live_turns(&self, _: u32) -> PortResult<Vec<LiveTurn>> {
        absent()
    }

    async fn live_executions(&self, _: u32) -> PortResult<LiveExecutions> {
        absent()
    }

    async fn workloads(&self) -> PortResult<Vec<ProcessWorkload>> {
        absent()
    }
}

#[async_trait]
impl Reviews for Absent {
    async fn ask(&self, _: &Review) -> PortResult<Review> {
        absent()
    }

    async fn get(&self, _: &UserId, _: &ReviewId) -> PortResult<Option<Review>> {
        absent()
    }

    async fn pending(&self, _: &UserId, _: u32, _: u64) -> PortResult<(Vec<Review>, u64)> {
        absent()
    }

    async fn of_execution(&self, _: &UserId, _: &ExecutionId) -> PortResult<Vec<Review>> {
        absent()
    }

    async fn decide(&self, _: &UserId, _: &[ReviewVerdict]) -> PortResult<ReviewsDecided> {
        absent()
    }

    async fn approved_for_the_rest(
        &self,
        _: &UserId,
        _: &ExecutionId,
        _: &NodeId,
    ) -> PortResult<bool> {
        absent()
    }

    async fn remove(&self, _: &UserId, _: &ReviewId) -> PortResult<bool> {
        absent()
    }
}

#[async_trait]
impl Credits for Absent {
    async fn balance(&self, _: &UserId) -> PortResult<i64> {
        absent()
    }

    async fn transactions(&self, _: &UserId, _: u32, _: u64) -> PortResult<Vec<CreditTransaction>> {
        absent()
    }

    async fn book(
        &self,
        _: &UserId,
        _: &str,
        _: i64,
        _: TransactionKind,
        _: &str,
    ) -> PortResult<i64> {
        absent()
    }
}

#[async_trait]
impl BlockRuns for Absent {
    async fn begin(&self, _: &NewBlockRun) -> PortResult<BlockRunBegun> {
        absent()
    }

    async fn end(
        &self,
        _: &UserId,
        _: &str,
        _: &BlockOutcome,
        _: Option<&CreditCharge>,
    ) -> PortResult<bool> {
        absent()
    }
}
