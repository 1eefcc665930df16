//! What is read about many turns and runs at once, for people who look at the whole. Nothing is decided by it.

use std::time::Duration;

use async_trait::async_trait;
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
/// (`the_oldest_are_listed_first`).
#[async_trait]
pub trait Reports: Send + Sync {
    /// What the user's turns have used, by the day on which they were accepted, in UTC, the oldest first. Days without
    /// turns are left out; what belonged to a deleted session is gone with it.
    async fn usage(&self, user: &UserId) -> PortResult<Vec<DayOfUse>>;

    /// Turns of everybody that wait or run, as `Turns::count_open` counts them, the oldest first. For who runs the
    /// server: without a word of what was said.
    async fn live_turns(&self, limit: u32) -> PortResult<Vec<LiveTurn>>;

    /// The same for runs of agents.
    async fn live_executions(&self, limit: u32) -> PortResult<LiveExecutions>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayOfUse {
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
    pub holder: Option<Holder>,
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
    pub holder: Option<Holder>,
}

/// Who has claimed something that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub worker: WorkerId,
    /// How long the claim holds if nobody renews it; zero when it has lapsed.
    pub lease_left: Duration,
}
