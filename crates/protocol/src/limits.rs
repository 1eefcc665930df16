//! Limits that several crates share. Related ones are derived from each other.

use std::time::Duration;

/// The maximum time a single tool call may block the step loop.
pub const MAX_TOOL_WAIT: Duration = Duration::from_secs(300);
/// The maximum silence of a model stream. Twice the tool wait, so that a tool within its limit never looks like a stuck
/// turn.
pub const fn stream_idle_timeout(max_tool_wait: Duration) -> Duration {
    Duration::from_secs(2 * max_tool_wait.as_secs())
}
/// The default time limit of a tool.
pub const TOOL_BUDGET: Duration = Duration::from_secs(600);

/// Maximum tool calls in one step.
pub const STEP_CALLS: usize = 128;
/// The maximum time a call may wait for a background call. Below the idle limit, like every wait.
pub const BACKGROUND_WAIT: Duration = Duration::from_secs(540);
/// Maximum background calls of one session; one more cancels the oldest.
pub const BACKGROUND_CALLS: usize = 32;
/// Maximum follow-ups waiting for one turn.
pub const FOLLOW_UPS: u32 = 10;
/// Maximum open operations of one session.
pub const OPERATIONS: u32 = 32;
/// Time limit of an operation, including its external part.
pub const OPERATION_TIME: Duration = Duration::from_secs(24 * 3600);

/// Limits of delegation to sub-sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelegationLimits {
    /// Levels below a session started by a person.
    pub depth: u32,
    /// Sub-sessions that one turn may run at the same time.
    pub fan_out: u32,
}

impl Default for DelegationLimits {
    fn default() -> Self {
        Self { depth: 3, fan_out: 10 }
    }
}

/// Limits of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserLimits {
    /// Turns that run or wait in the queue for a worker. Further ones wait in the store.
    pub running: u32,
    /// Turns that were accepted and have not ended. Further ones are refused.
    pub in_flight: u32,
    /// Running executions, excluding those started by other executions. Further ones go to the back of the queue.
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
/// Characters of a search term for agents. A longer one is a text, and would find whatever shares a word with it.
pub const SEARCH_CHARS: usize = 100;
/// Agents in the marketplace.
pub const LISTINGS: u32 = 2_000;
/// Stored values of one user's agents, and bytes of one.
pub const VALUES: u32 = 10_000;
pub const VALUE_BYTES: usize = 1024 * 1024;
/// Maximum depth of executions that start executions.
pub const EXECUTION_DEPTH: u32 = 10;
/// Node executions of one execution.
pub const NODE_RUNS: u64 = 2_000_000;
/// Time limit of a node execution, excluding waits for other work.
pub const NODE_TIME: Duration = Duration::from_secs(30 * 60);
/// Time limit of an execution.
pub const EXECUTION_TIME: Duration = Duration::from_secs(24 * 3600);
/// Bytes that the nodes of one execution may emit.
pub const EXECUTION_BYTES: u64 = 1024 * 1024 * 1024;
/// Executions that one session may start.
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
/// Bytes of the arguments of one tool call.
pub const TOOL_INPUT_BYTES: usize = 1024 * 1024;
/// Characters of all tool schemas together; they are sent with every model call.
pub const TOOL_SCHEMA_CHARS: usize = 32_000;

/// Crashed attempts after which a turn fails with `crash_loop`.
pub const CRASHED_ATTEMPTS: u32 = 3;
/// Identical failing tool calls in a row after which the turn fails.
pub const EQUAL_FAILURES: u32 = 3;

/// Silence on a connection after which a heartbeat comment is sent.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long a client may read nothing before its connection is reset.
pub const WRITE_STALL: Duration = Duration::from_secs(30);
/// From SIGTERM to exit; below the ten seconds that container runtimes grant.
pub const SHUTDOWN: Duration = Duration::from_secs(8);
/// How long a cancel request waits for the turn to end before it responds.
pub const CANCEL_CONFIRM: Duration = Duration::from_secs(5);

const _: () = assert!(BACKGROUND_WAIT.as_secs() < stream_idle_timeout(MAX_TOOL_WAIT).as_secs());
const _: () = assert!(SHUTDOWN.as_secs() < 10);
const _: () = assert!(stream_idle_timeout(MAX_TOOL_WAIT).as_secs() == 2 * MAX_TOOL_WAIT.as_secs());
