//! A block: what a node of a graph does.

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

use crate::files::SessionWorkspace;

/// Laws: every required input is there and fits its schema before `run`; outputs carry the names of the schema; it
/// stops soon after `cancel`; what it holds and emits is bounded; every example gives what it names
/// (`every_example_of_every_block_holds`).
#[async_trait]
pub trait Block: Send + Sync {
    fn spec(&self) -> &BlockSpec;

    /// Emits `(pin, value)` pairs, any number of them, in an order that a repetition keeps where it can.
    async fn run(
        &self,
        input: Map<String, Value>,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError>;

    fn examples(&self) -> Vec<BlockExample>;
}

/// Where outputs go. Emitting waits while those before have no room to flow.
#[async_trait]
pub trait OutputSink: Send + Sync {
    async fn emit(&self, pin: &str, value: Value) -> Result<(), BlockError>;
}

/// Everything a run may know. What else a block needs it was built with.
#[derive(Clone)]
pub struct BlockContext {
    pub user: UserId,
    /// Where it runs; `None` when it runs by itself.
    pub node: Option<NodePlace>,
    /// The session that asked for it, when it runs by itself.
    pub session: Option<SessionId>,
    /// The same in every attempt at this run.
    pub idempotency_key: String,
    pub dry_run: bool,
    pub cancel: CancellationToken,
    pub permissions: Permissions,
    /// What a person has decided, when this run has waited for that.
    pub decision: Option<ReviewDecision>,
    /// Whether the person wants to be asked where a block can ask.
    pub ask_first: bool,
    pub meter: Arc<UsageMeter>,
    /// Where links lead that treat the node behind them as a tool of this one.
    pub tools: Arc<[ToolPin]>,
    pub services: BlockServices,
}

impl BlockContext {
    /// Where the run keeps files: with its session, or in a folder of its execution.
    pub fn place(&self) -> SessionWorkspace {
        let session = match (&self.session, &self.node) {
            (Some(session), _) => session.clone(),
            (None, Some(node)) => SessionId(format!("execution-{}", node.execution_id)),
            (None, None) => SessionId("blocks".to_owned()),
        };
        SessionWorkspace { owner: Owner::User(self.user.clone()), session }
    }
}

/// One input of a node that an orchestrator may use as a tool: what is emitted on `pin` arrives there.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolPin {
    /// `tools_^_<node>_~_<field>`
    pub pin: String,
    pub node_id: NodeId,
    /// What its author calls the node, or else the name of its block; and what the block does.
    pub name: String,
    pub description: String,
    /// The input, its schema, and whether the node cannot do without it.
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

/// What a run reports about its use, for its bill.
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
    /// The node fails and says why on `error`; the graph goes on.
    #[error("{0}")]
    Failed(String),
    /// The whole run fails: no funds, not allowed.
    #[error("{message}")]
    Fatal { code: &'static str, message: String },
    /// A person has to decide first. The run is made again with the decision.
    #[error("a person has to decide first")]
    Review(ReviewRequest),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
}

impl BlockError {
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewRequest {
    pub payload: Value,
    pub instructions: String,
    pub editable: bool,
}

/// What the engine does for a run, in its name.
#[derive(Clone)]
pub struct BlockServices {
    pub agents: Arc<dyn ChildAgents>,
    pub copilot: Arc<dyn CopilotTurns>,
}

#[async_trait]
pub trait ChildAgents: Send + Sync {
    /// Runs another agent as a part of this run and returns what it gave: every output in order. The same run starts
    /// the same child, however often it is made; the child stops with its parent.
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
    /// Has the copilot answer a prompt, through the queue like every turn.
    async fn ask(&self, ask: CopilotAsk) -> Result<CopilotAnswer, BlockError>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct CopilotAsk {
    pub prompt: String,
    pub system_context: Option<String>,
    /// One to go on with, instead of a new one.
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

/// A run that works anywhere, and what it emits.
#[derive(Clone, Debug)]
pub struct BlockExample {
    pub input: Value,
    pub outputs: Vec<(&'static str, Value)>,
    pub matching: ExampleMatch,
}

/// How the outputs of an example are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleMatch {
    /// These, in this order, and nothing else.
    Exactly,
    /// These pins, with values of the same JSON type: what depends on time, chance or a model.
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
