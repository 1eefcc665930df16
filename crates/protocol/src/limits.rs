//! Numbers that more than one crate must agree on. Related ones are derived from each other.

use std::time::Duration;

/// The longest a single tool call may hold the step loop.
pub const MAX_TOOL_WAIT: Duration = Duration::from_secs(300);
/// How long a model stream may be silent. Twice the tool wait by construction, so that no tool that
/// keeps to its limit can ever look like a stuck turn.
pub const fn stream_idle_timeout(max_tool_wait: Duration) -> Duration {
    Duration::from_secs(2 * max_tool_wait.as_secs())
}
/// How long a tool may run unless it says otherwise.
pub const TOOL_BUDGET: Duration = Duration::from_secs(600);

/// Calls that one step may make.
pub const STEP_CALLS: usize = 128;
/// The longest a call may wait for one that went on in the background. Below the idle limit, like every wait.
pub const BACKGROUND_WAIT: Duration = Duration::from_secs(540);
/// Calls of one session that may go on in the background; one more ends the oldest.
pub const PARKED_CALLS: usize = 32;
/// Follow-ups that may wait for the same turn.
pub const FOLLOW_UPS: u32 = 10;
/// Operations of one session that have not ended.
pub const OPERATIONS: u32 = 32;
/// How long an operation may take, its external part included.
pub const OPERATION_TIME: Duration = Duration::from_secs(24 * 3600);

/// How far a session may delegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelegationLimits {
    /// Levels below a session that a person began.
    pub depth: u32,
    /// Sub-sessions that one turn may have at work at the same time.
    pub fan_out: u32,
}

impl Default for DelegationLimits {
    fn default() -> Self {
        Self { depth: 3, fan_out: 10 }
    }
}

/// How much one user may have under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserLimits {
    /// Turns that run, or wait in the queue for a worker. More of them wait their turn in the store.
    pub running: u32,
    /// Turns that have been accepted and have not ended. More are refused.
    pub in_flight: u32,
    /// Executions that run, those that other executions have started aside. More go to the back of the queue.
    pub executions: u32,
}

impl Default for UserLimits {
    fn default() -> Self {
        Self { running: 5, in_flight: 15, executions: 25 }
    }
}

/// Nodes of one graph, and links.
pub const GRAPH_NODES: usize = 2_000;
pub const GRAPH_LINKS: usize = 10_000;
/// Bytes of a graph's JSON.
pub const GRAPH_BYTES: usize = 1024 * 1024;
/// Agents in a user's library, and folders.
pub const LIBRARY_AGENTS: u32 = 2_000;
pub const LIBRARY_FOLDERS: u32 = 500;
/// Agents in the marketplace.
pub const LISTINGS: u32 = 2_000;
/// Values that the agents of one user remember, and bytes of one.
pub const VALUES: u32 = 10_000;
pub const VALUE_BYTES: usize = 1024 * 1024;
/// Runs that start runs that start runs.
pub const EXECUTION_DEPTH: u32 = 10;
/// Node runs of one execution.
pub const NODE_RUNS: u64 = 2_000_000;
/// How long one node run may take, unless it waits for other work.
pub const NODE_TIME: Duration = Duration::from_secs(30 * 60);
/// How long an execution may be worked on.
pub const EXECUTION_TIME: Duration = Duration::from_secs(24 * 3600);
/// Bytes that the nodes of one execution may emit.
pub const EXECUTION_BYTES: u64 = 1024 * 1024 * 1024;
/// Agents that one session may start.
pub const RUNS_PER_SESSION: u32 = 30;

/// Characters in a user's message.
pub const MESSAGE_CHARS: usize = 64_000;
/// Files attached to a message.
pub const MESSAGE_FILES: usize = 20;
/// Characters in a client's message id.
pub const MESSAGE_ID_CHARS: usize = 64;
/// Bytes of a request body.
pub const BODY_BYTES: usize = 1024 * 1024;
/// Nesting of a JSON request body.
pub const JSON_DEPTH: usize = 64;
/// Characters in a session title.
pub const TITLE_CHARS: usize = 200;

/// Characters of tool output that reach the stream, the history and the model.
pub const TOOL_OUTPUT_CHARS: usize = 100_000;
/// Bytes of the arguments a model may write for one call.
pub const TOOL_INPUT_BYTES: usize = 1024 * 1024;
/// Characters of all tool schemas together; they are paid for with every model call.
pub const TOOL_SCHEMA_CHARS: usize = 32_000;

/// Attempts of a turn that may crash before it fails with `crash_loop`.
pub const CRASHED_ATTEMPTS: u32 = 3;
/// Equal failing tool calls in a row that trip the breaker.
pub const EQUAL_FAILURES: u32 = 3;

/// Silence on a connection before a heartbeat comment is sent.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long a client may refuse bytes before its connection is broken.
pub const WRITE_STALL: Duration = Duration::from_secs(30);
/// From SIGTERM to exit; below the ten seconds a container runtime grants.
pub const SHUTDOWN: Duration = Duration::from_secs(8);
/// How long a cancel request waits for the turn to end before it answers.
pub const CANCEL_CONFIRM: Duration = Duration::from_secs(5);

const _: () = assert!(BACKGROUND_WAIT.as_secs() < stream_idle_timeout(MAX_TOOL_WAIT).as_secs());
const _: () = assert!(SHUTDOWN.as_secs() < 10);
const _: () = assert!(stream_idle_timeout(MAX_TOOL_WAIT).as_secs() == 2 * MAX_TOOL_WAIT.as_secs());
