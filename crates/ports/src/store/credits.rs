//! Credits, and executions of single blocks, which are paid with them.

use async_trait::async_trait;
use protocol::credit::{CreditCharge, CreditTransaction, TransactionKind};
use protocol::{BlockId, SessionId, UserId};
use serde_json::Value;

use crate::error::PortResult;

/// Laws: a key is booked once per user (`a_transaction_key_is_booked_once`); the balance is the sum of the ledger
/// (`the_balance_is_the_sum_of_the_ledger`), also under concurrency (`the_ledger_adds_up_under_concurrency`); users see
/// only their own (`a_ledger_is_seen_by_its_user_only`).
#[async_trait]
pub trait Credits: Send + Sync {
    async fn balance(&self, user: &UserId) -> PortResult<i64>;

    /// Newest first.
    async fn transactions(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<Vec<CreditTransaction>>;

    /// Adds or subtracts credits and returns the new balance; a key that was already booked changes nothing.
    async fn book(
        &self,
        user: &UserId,
        key: &str,
        amount: i64,
        kind: TransactionKind,
        what: &str,
    ) -> PortResult<i64>;
}

/// Executions of blocks on their own. Laws: a run is started once per key (`a_block_run_is_started_once`) and ends
/// once, with its charge (`a_block_run_ends_once_with_its_charge`).
#[async_trait]
pub trait BlockRuns: Send + Sync {
    async fn begin(&self, new: &NewBlockRun) -> PortResult<BlockRunBegun>;

    /// Outcome and charge in one transaction. A run that has ended is unchanged: `false`.
    async fn end(
        &self,
        user: &UserId,
        key: &str,
        outcome: &BlockOutcome,
        charge: Option<&CreditCharge>,
    ) -> PortResult<bool>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewBlockRun {
    pub user_id: UserId,
    pub key: String,
    pub block_id: BlockId,
    pub session_id: Option<SessionId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BlockRunBegun {
    New,
    /// Started before, without a known end.
    Open,
    Ended(BlockOutcome),
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockOutcome {
    pub outputs: Vec<(String, Value)>,
    pub error: Option<String>,
}
