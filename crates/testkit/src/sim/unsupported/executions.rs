//! Executions, reviews, credits, block runs and reports. No execution is ever due or open.

use async_trait::async_trait;
use ports::store::{
    BlockOutcome, BlockRunBegun, DailyUsage, ExecutionAdvance, ExecutionAdvanced, ExecutionCreated,
    ExecutionDeleted, JournalBatch, ListExecutions, LiveExecutions, LiveTurn, NewBlockRun,
    NewExecution, ProcessWorkload, ReviewVerdict, ReviewsDecided,
};
use ports::{BlockRuns, Credits, Executions, Fenced, PortResult, Reports, Reviews};
use protocol::credit::{CreditCharge, CreditTransaction, TransactionKind};
use protocol::execution::{Execution, ExecutionClaim};
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};

use super::unsupported;
use crate::sim::node::SimNode;

#[async_trait]
impl Executions for SimNode {
    async fn create(&self, _: NewExecution) -> PortResult<ExecutionCreated> {
        unsupported()
    }

    async fn get(&self, _: &UserId, _: &ExecutionId) -> PortResult<Option<Execution>> {
        unsupported()
    }

    async fn list(&self, _: &UserId, _: &ListExecutions) -> PortResult<(Vec<Execution>, u64)> {
        unsupported()
    }

    async fn delete(&self, _: &UserId, _: &ExecutionId) -> PortResult<ExecutionDeleted> {
        unsupported()
    }

    async fn advance(
        &self,
        _: &ExecutionClaim,
        _: ExecutionAdvance,
    ) -> PortResult<Fenced<ExecutionAdvanced>> {
        unsupported()
    }

    async fn journal(
        &self,
        _: &UserId,
        _: &ExecutionId,
        _: u64,
        _: usize,
    ) -> PortResult<Vec<JournalBatch>> {
        unsupported()
    }

    async fn request_stop(
        &self,
        _: &UserId,
        _: &ExecutionId,
    ) -> PortResult<Option<Vec<Execution>>> {
        unsupported()
    }

    async fn count_open(&self) -> PortResult<(u64, u64)> {
        Ok((0, 0))
    }
}

#[async_trait]
impl Reports for SimNode {
    async fn usage(&self, _: &UserId) -> PortResult<Vec<DailyUsage>> {
        unsupported()
    }

    async fn live_turns(&self, _: u32) -> PortResult<Vec<LiveTurn>> {
        unsupported()
    }

    async fn live_executions(&self, _: u32) -> PortResult<LiveExecutions> {
        unsupported()
    }

    async fn workloads(&self) -> PortResult<Vec<ProcessWorkload>> {
        unsupported()
    }
}

#[async_trait]
impl Reviews for SimNode {
    async fn ask(&self, _: &Review) -> PortResult<Review> {
        unsupported()
    }

    async fn get(&self, _: &UserId, _: &ReviewId) -> PortResult<Option<Review>> {
        unsupported()
    }

    async fn pending(&self, _: &UserId, _: u32, _: u64) -> PortResult<(Vec<Review>, u64)> {
        unsupported()
    }

    async fn of_execution(&self, _: &UserId, _: &ExecutionId) -> PortResult<Vec<Review>> {
        unsupported()
    }

    async fn decide(&self, _: &UserId, _: &[ReviewVerdict]) -> PortResult<ReviewsDecided> {
        unsupported()
    }

    async fn approved_for_the_rest(
        &self,
        _: &UserId,
        _: &ExecutionId,
        _: &NodeId,
    ) -> PortResult<bool> {
        unsupported()
    }

    async fn remove(&self, _: &UserId, _: &ReviewId) -> PortResult<bool> {
        unsupported()
    }
}

#[async_trait]
impl Credits for SimNode {
    async fn balance(&self, _: &UserId) -> PortResult<i64> {
        unsupported()
    }

    async fn transactions(&self, _: &UserId, _: u32, _: u64) -> PortResult<Vec<CreditTransaction>> {
        unsupported()
    }

    async fn book(
        &self,
        _: &UserId,
        _: &str,
        _: i64,
        _: TransactionKind,
        _: &str,
    ) -> PortResult<i64> {
        unsupported()
    }
}

#[async_trait]
impl BlockRuns for SimNode {
    async fn begin(&self, _: &NewBlockRun) -> PortResult<BlockRunBegun> {
        unsupported()
    }

    async fn end(
        &self,
        _: &UserId,
        _: &str,
        _: &BlockOutcome,
        _: Option<&CreditCharge>,
    ) -> PortResult<bool> {
        unsupported()
    }
}
