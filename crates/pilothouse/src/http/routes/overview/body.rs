//! The response of the operator overview.

use jiff::Timestamp;
use ports::store::{LiveExecution, LiveTurn};
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;
use protocol::{ExecutionId, GraphId, SessionId, TurnId, UserId, WorkerId};
use serde::Serialize;

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsOverview {
    pub(crate) turns: OpenWork,
    pub(crate) executions: OpenWork,
    /// Queued and running turns, oldest first, at most 100; null when they could not be read in time.
    pub(crate) live_turns: Option<Vec<OpsTurn>>,
    /// The same for agent executions.
    pub(crate) live_executions: Option<Vec<OpsExecution>>,
    /// Null when they could not be read in time and this process is not a worker.
    pub(crate) workers: Option<Vec<OpsWorker>>,
    pub(crate) queue: OpsQueue,
    pub(crate) streams: OpsStreams,
    pub(crate) dependencies: Vec<OpsDependency>,
    pub(crate) process: OpsProcess,
}

/// Null means that a value could not be read in time.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpenWork {
    pub(crate) queued: Option<u64>,
    pub(crate) running: Option<u64>,
    /// Also null when nothing is queued.
    pub(crate) oldest_queued_seconds: Option<u64>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsTurn {
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
pub(crate) struct OpsExecution {
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
pub(crate) struct OpsWorker {
    pub(crate) name: String,
    /// Turns that it holds, listed or not; null when they could not be read in time.
    pub(crate) busy: Option<u64>,
    /// Agent executions that it holds; null when they could not be read in time.
    pub(crate) executions: Option<u64>,
    /// Turns that it can run at the same time; null for other processes.
    pub(crate) slots: Option<usize>,
    /// When it last renewed its claims; now for the responding process. Null when unknown, because it ended before this
    /// process started.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_seen: Option<Timestamp>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsQueue {
    pub(crate) depth: Option<u64>,
    /// How long the oldest entry that is not yet in the queue has waited.
    pub(crate) outbox_lag_seconds: Option<u64>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsStreams {
    /// Streams served by this process.
    pub(crate) open: usize,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsDependency {
    pub(crate) name: &'static str,
    pub(crate) ok: bool,
}

/// The responding process.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OpsProcess {
    pub(crate) version: &'static str,
    pub(crate) uptime_seconds: u64,
    /// Null where the system does not report it.
    pub(crate) memory_bytes: Option<u64>,
}

impl From<LiveTurn> for OpsTurn {
    fn from(turn: LiveTurn) -> Self {
        Self {
            turn_id: turn.id,
            session_id: turn.session_id,
            user_id: turn.user_id,
            status: turn.status,
            age_seconds: turn.job.age.as_secs(),
            attempt: turn.job.attempt,
            worker: process(turn.job.holder),
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
            age_seconds: run.job.age.as_secs(),
            attempt: run.job.attempt,
            worker: process(run.job.holder),
        }
    }
}

fn process(holder: Option<WorkerId>) -> Option<String> {
    holder.map(|holder| holder.process().to_owned())
}
