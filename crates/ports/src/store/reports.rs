//! What is read about many turns and runs at once, for people who look at the whole. Nothing is decided by it.

use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use jiff::civil::Date;
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;
use protocol::usage::Usage;
use protocol::{ExecutionId, GraphId, SessionId, TurnId, UserId, WorkerId};

use crate::error::PortResult;

/// Laws: use is counted by day and by user (`what_turns_have_used_is_counted_by_day`); open turns and runs of everybody
/// are listed with who holds them (`open_turns_are_listed_with_their_holders`,
/// `open_executions_are_listed_with_their_holders`), with the tool that a turn waits for
/// (`a_turn_is_listed_with_the_tool_it_waits_for`), the oldest first and no more than asked for
/// (`the_oldest_are_listed_first`); what each process holds is counted whole, and its lease goes on after it has lapsed
/// (`what_each_process_holds_is_counted`).
#[async_trait]
pub trait Reports: Send + Sync {
    /// What the user's turns have used, by the day on which they were accepted, in UTC, the oldest first. Days without
    /// turns are left out; what belonged to a deleted session is gone with it.
    async fn usage(&self, user: &UserId) -> PortResult<Vec<DailyUsage>>;

    /// Turns of everybody that wait or run, as `Turns::count_open` counts them, the oldest first. For who runs the
    /// server: without a word of what was said.
    async fn live_turns(&self, limit: u32) -> PortResult<Vec<LiveTurn>>;

    /// The same for runs of agents.
    async fn live_executions(&self, limit: u32) -> PortResult<LiveExecutions>;

    /// The processes that hold turns or runs, all of them, by name.
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
    /// Since it was accepted, by the time of day.
    pub age: Duration,
    pub attempt: u32,
    /// Who has claimed it, if it runs.
    pub holder: Option<WorkerId>,
    /// A tool that was called and has not answered.
    pub tool: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveExecutions {
    pub runs: Vec<LiveExecution>,
    /// How long the oldest queued one has waited, whether it is listed or not.
    pub oldest_queued: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveExecution {
    pub id: ExecutionId,
    pub graph_id: GraphId,
    pub user_id: UserId,
    pub status: ExecutionStatus,
    /// Since it was created, by the time of day.
    pub age: Duration,
    pub attempt: u32,
    pub holder: Option<WorkerId>,
}

/// What one process holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessWorkload {
    /// As its workers call it.
    pub process: String,
    pub turns: u64,
    pub executions: u64,
    /// How long the best of its claims holds if nobody renews it; below zero, for how long all have lapsed. Nobody knows
    /// it of a process that ended before the store was opened, if the store is one process's own.
    pub lease_left: Option<SignedDuration>,
}
