//! The response of the operator overview.

use jiff::Timestamp;
use ports::store::{LiveExecution, LiveTurn};
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;
use protocol::{ExecutionId, GraphId, SessionId, TurnId, UserId, WorkerId};
use serde::Serialize;

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsOverview {
    pub(super) turns: OpenWork,
    pub(super) executions: OpenWork,
    /// Queued and running turns, oldest first, at most 100; null when they could not be read in time.
    pub(super) live_turns: Option<Vec<OpsTurn>>,
    /// The same for agent executions.
    pub(super) live_executions: Option<Vec<OpsExecution>>,
    /// Null when they could not be read in time and this process is not a worker.
    pub(super) workers: Option<Vec<OpsWorker>>,
    pub(super) queue: OpsQueue,
    pub(super) streams: OpsStreams,
    pub(super) dependencies: Vec<OpsDependency>,
    pub(super) process: OpsProcess,
}

/// Null means that a value could not be read in time.
#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpenWork {
    pub(super) queued: Option<u64>,
    pub(super) running: Option<u64>,
    /// Also null when nothing is queued.
    pub(super) oldest_queued_seconds: Option<u64>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsTurn {
    turn_id: TurnId,
    session_id: SessionId,
    /// Null for an anonymous session.
    user_id: Option<UserId>,
    status: TurnStatus,
    age_seconds: u64,
    /// How many times it was started.
    attempt: u32,
    /// The process that holds its claim.
    worker: Option<String>,
    /// A tool call in progress.
    tool_name: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsExecution {
    execution_id: ExecutionId,
    graph_id: GraphId,
    user_id: UserId,
    status: ExecutionStatus,
    age_seconds: u64,
    attempt: u32,
    worker: Option<String>,
}

/// A process that runs turns: this one, or another one that holds claims.
#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsWorker {
    pub(super) name: String,
    /// Turns that it holds, listed or not; null when they could not be read in time.
    pub(super) busy: Option<u64>,
    /// Agent executions that it holds; null when they could not be read in time.
    pub(super) executions: Option<u64>,
    /// Turns that it can run at the same time; null for other processes.
    pub(super) slots: Option<usize>,
    /// When it last renewed its claims; now for the responding process. Null when unknown, because it ended before this
    /// process started.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) last_seen: Option<Timestamp>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsQueue {
    pub(super) depth: Option<u64>,
    /// How long the oldest entry that is not yet in the queue has waited.
    pub(super) outbox_lag_seconds: Option<u64>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsStreams {
    /// Streams served by this process.
    pub(super) open: usize,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsDependency {
    pub(super) name: &'static str,
    pub(super) ok: bool,
}

/// The responding process.
#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OpsProcess {
    pub(super) version: &'static str,
    pub(super) uptime_seconds: u64,
    /// Null where the system does not report it.
    pub(super) memory_bytes: Option<u64>,
}

impl From<LiveTurn> for OpsTurn {
    fn from(turn: LiveTurn) -> Self {
        Self {
            turn_id: turn.id,
            session_id: turn.session_id,
            user_id: turn.user_id,
            status: turn.status,
            age_seconds: turn.age.as_secs(),
            attempt: turn.attempt,
            worker: process(turn.holder),
            tool_name: turn.tool,
        }
    }
}

impl From<LiveExecution> for OpsExecution {
    fn from(run: LiveExecution) -> Self {
        Self {
            execution_id: run.id,
            graph_id: run.graph_id,
            user_id: run.user_id,
            status: run.status,
            age_seconds: run.age.as_secs(),
            attempt: run.attempt,
            worker: process(run.holder),
        }
    }
}

fn process(holder: Option<WorkerId>) -> Option<String> {
    holder.map(|holder| holder.process().to_owned())
}
