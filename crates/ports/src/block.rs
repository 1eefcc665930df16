//! A block: the operation of a node in a graph.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use protocol::block::{BlockSpec, MeteredUsage};
use protocol::permissions::{CapabilityFilter, Permissions};
use protocol::response::SubSessionCall;
use protocol::review::ReviewDecision;
use protocol::session::Owner;
use protocol::usage::Usage;
use protocol::{ExecutionId, GraphId, NodeId, SessionId, UserId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::PortError;
use crate::files::SessionWorkspace;

/// Laws: before `run`, every required input is present and matches its schema; outputs use the names of the schema; it
/// stops soon after `cancel`; its memory and outputs are bounded; every example produces its stated outputs
/// (`every_block_produces_its_example_outputs`).
#[async_trait]
pub trait Block: Send + Sync {
    fn spec(&self) -> &BlockSpec;

    /// Emits any number of `(pin, value)` pairs, in an order that a repetition preserves where possible.
    async fn run(
        &self,
        input: Map<String, Value>,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError>;

    fn examples(&self) -> Vec<BlockExample>;
}

/// Receives outputs. Emitting waits while the buffer of earlier outputs is full.
#[async_trait]
pub trait OutputSink: Send + Sync {
    async fn emit(&self, pin: &str, value: Value) -> Result<(), BlockError>;
}

/// Per-run data. Long-lived dependencies are passed to the block's constructor.
#[derive(Clone)]
pub struct BlockContext {
    pub user: UserId,
    /// The node that runs; `None` when the block runs on its own.
    pub node: Option<NodePlace>,
    /// The session that requested it, when it runs on its own.
    pub session: Option<SessionId>,
    /// The same in every attempt at this run.
    pub idempotency_key: String,
    pub dry_run: bool,
    pub cancel: CancellationToken,
    pub permissions: Permissions,
    /// The decision of a review, if this run has waited for one.
    pub decision: Option<ReviewDecision>,
    /// Whether the user requires approval for blocks that can ask for it.
    pub ask_first: bool,
    pub meter: Arc<UsageMeter>,
    /// The links that use the node behind them as a tool of this one.
    pub tools: Arc<[ToolPin]>,
    pub services: BlockServices,
}

impl BlockContext {
    /// The workspace of the run: that of its session, or a folder for its execution.
    pub fn workspace(&self) -> SessionWorkspace {
        let session = match (&self.session, &self.node) {
            (Some(session), _) => session.clone(),
            (None, Some(node)) => SessionId(format!("execution-{}", node.execution_id)),
            (None, None) => SessionId("blocks".to_owned()),
        };
        SessionWorkspace { owner: Owner::User(self.user.clone()), session }
    }
}

/// One input of a node that an orchestrator can use as a tool: values emitted on `pin` arrive there.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolPin {
    /// `tools_^_<node>_~_<field>`
    pub pin: String,
    pub node_id: NodeId,
    /// The custom name of the node, or the name of its block; and the description of the block.
    pub name: String,
    pub description: String,
    /// The input, its schema, and whether it is required.
    pub field: String,
    pub schema: Value,
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlace {
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub execution_id: ExecutionId,
    pub node_id: NodeId,
}

/// Collects the usage of a run, for its charge.
#[derive(Debug, Default)]
pub struct UsageMeter(Mutex<MeteredUsage>);

impl UsageMeter {
    pub fn add(&self, used: MeteredUsage) {
        let mut total = self.0.lock().expect("no code panics while it holds this lock");
        total.bytes += used.bytes;
        total.seconds += used.seconds;
        total.items += used.items;
        total.microdollars += used.microdollars;
        total.tokens += used.tokens;
    }

    pub fn model(&self, usage: &Usage) {
        let microdollars = usage.cost_microdollars.unwrap_or(0);
        self.add(MeteredUsage {
            tokens: usage.total_tokens(),
            microdollars,
            ..MeteredUsage::default()
        });
    }

    pub fn total(&self) -> MeteredUsage {
        *self.0.lock().expect("no code panics while it holds this lock")
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BlockError {
    /// The node fails and reports why on `error`; the graph continues.
    #[error("{0}")]
    Failed(String),
    /// The whole execution fails: no funds, not allowed.
    #[error("{message}")]
    Fatal { code: &'static str, message: String },
    /// Approval is required first. The run is repeated with the decision.
    #[error("approval is required first")]
    Review(ReviewRequest),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

impl BlockError {
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

impl From<PortError> for BlockError {
    /// The node fails, unless the server is shutting down. The error is logged here and nowhere else.
    fn from(error: PortError) -> Self {
        let message = error.message();
        match error {
            PortError::Closed => return Self::Stopped,
            PortError::Full => {}
            PortError::Unavailable(reason) => {
                tracing::warn!(reason, "node failed: the store is not available");
            }
            PortError::Broken(reason) => {
                tracing::error!(reason, "node failed: internal error in the store");
            }
        }
        Self::failed(message)
    }
}

/// The content of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewRequest {
    pub payload: Value,
    pub instructions: String,
    pub editable: bool,
}

/// Services of the engine for a run.
#[derive(Clone)]
pub struct BlockServices {
    pub agents: Arc<dyn ChildAgents>,
    pub copilot: Arc<dyn CopilotTurns>,
}

#[async_trait]
pub trait ChildAgents: Send + Sync {
    /// Runs another agent as part of this run and returns its outputs in order. Repeated runs with the same key start the
    /// same child execution; the child stops with its parent.
    async fn run(&self, child: ChildAgent) -> Result<Vec<(String, Value)>, BlockError>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChildAgent {
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub inputs: Map<String, Value>,
}

#[async_trait]
pub trait CopilotTurns: Send + Sync {
    /// Runs a copilot turn for a prompt, through the queue like every turn.
    async fn ask(&self, ask: CopilotAsk) -> Result<CopilotAnswer, BlockError>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct CopilotAsk {
    pub prompt: String,
    pub system_context: Option<String>,
    /// The session to continue, instead of a new one.
    pub session: Option<SessionId>,
    pub max_recursion_depth: u32,
    pub filter: CapabilityFilter,
    pub dry_run: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CopilotAnswer {
    pub session_id: SessionId,
    pub response: String,
    pub calls: Vec<SubSessionCall>,
    /// Role and content of every message of the session.
    pub history: Value,
    pub usage: Usage,
    pub elapsed: Duration,
}

/// A run that works without external services, and its outputs.
#[derive(Clone, Debug)]
pub struct BlockExample {
    pub input: Value,
    pub outputs: Vec<(&'static str, Value)>,
    pub matching: ExampleMatch,
}

/// How the outputs of an example are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleMatch {
    /// These outputs, in this order, and no others.
    Exactly,
    /// These pins, with values of the same JSON type, for results that depend on time, chance or a model.
    Shape,
}

impl BlockExample {
    pub fn exactly(input: Value, outputs: Vec<(&'static str, Value)>) -> Self {
        Self { input, outputs, matching: ExampleMatch::Exactly }
    }

    pub fn shape(input: Value, outputs: Vec<(&'static str, Value)>) -> Self {
        Self { input, outputs, matching: ExampleMatch::Shape }
    }
}
