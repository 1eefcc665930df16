//! Reports over many turns and executions, for people. No decision depends on them.

use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use jiff::civil::Date;
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;
use protocol::usage::Usage;
use protocol::{ExecutionId, GraphId, SessionId, TurnId, UserId, WorkerId};

use crate::error::PortResult;

/// Laws: usage is counted by day and by user (`usage_is_summed_by_day`); open turns and executions of all users are
/// listed with their holders (`open_turns_are_listed_with_their_holders`,
/// `open_executions_are_listed_with_their_holders`), with the tool that a turn waits for
/// (`a_turn_is_listed_with_the_tool_it_waits_for`), oldest first and at most as many as requested
/// (`open_turns_and_executions_are_listed_oldest_first`); the claims of each process are counted completely, including
/// expired ones (`claims_are_counted_by_process`).
#[async_trait]
pub trait Reports: Send + Sync {
    /// The usage of the user's turns by the day of their acceptance, in UTC, oldest first. Days without turns and deleted
    /// sessions are omitted.
    async fn usage(&self, user: &UserId) -> PortResult<Vec<DailyUsage>>;

    /// Queued and running turns of all users, as counted by `Turns::count_open`, oldest first. For operators: without message
    /// content.
    async fn live_turns(&self, limit: u32) -> PortResult<Vec<LiveTurn>>;

    /// The same for executions.
    async fn live_executions(&self, limit: u32) -> PortResult<LiveExecutions>;

    /// All processes that hold turns or executions, by name.
    async fn workloads(&self) -> PortResult<Vec<ProcessWorkload>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyUsage {
    pub date: Date,
    pub turns: u64,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTurn {
    pub id: TurnId,
    pub session_id: SessionId,
    pub user_id: Option<UserId>,
    pub status: TurnStatus,
    pub job: LiveJob,
    /// A tool call in progress.
    pub tool: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveExecutions {
    pub runs: Vec<LiveExecution>,
    /// How long the oldest queued one has waited, listed or not.
    pub oldest_queued: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveExecution {
    pub id: ExecutionId,
    pub graph_id: GraphId,
    pub user_id: UserId,
    pub status: ExecutionStatus,
    pub job: LiveJob,
}

/// What turns and executions have in common while they are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveJob {
    /// Age since its acceptance, by the wall clock.
    pub age: Duration,
    pub attempt: u32,
    /// The holder of its claim, if it runs.
    pub holder: Option<WorkerId>,
}

/// The claims of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessWorkload {
    /// The name that its workers use.
    pub process: String,
    pub turns: u64,
    pub executions: u64,
    /// The remaining time of its longest lease; negative if all have expired. Unknown for a process that ended before the store
    /// was opened, if the store belongs to a single process.
    pub lease_left: Option<SignedDuration>,
}
