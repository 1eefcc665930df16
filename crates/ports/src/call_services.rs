//! Services of the engine for a tool call.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::execution::{Execution, ExecutionView, NodeRange, SafeMode};
use protocol::graph::{Graph, GraphFlags, GraphProblem, InputProblems};
use protocol::graph_edit::GraphEdit;
use protocol::operation::Operation;
use protocol::permissions::CapabilityFilter;
use protocol::rehearsal::AgentState;
use protocol::response::{
    AgentFix, AgentPreview, AgentSaved, BackgroundStatus, BackgroundTool, SubSessionCall,
    SubSessionProgress, SubSessionState, ToolResponse, WorkspaceFile,
};
use protocol::review::{Review, ReviewDecision};
use protocol::{
    BackgroundId, BlockId, ExecutionId, FolderId, GraphId, ReviewId, SessionId, TurnId,
};
use serde_json::{Map, Value};

use crate::store::{BlockOutcome, ListExecutions, OperationKey};
use crate::tool::ToolError;

/// Services that know the session, the turn and the permissions of the call.
#[derive(Clone)]
pub struct CallServices {
    pub sub_sessions: Arc<dyn SubSessions>,
    pub background: Arc<dyn BackgroundCalls>,
    pub operations: Arc<dyn OperationStates>,
    pub reports: Arc<dyn ProgressReports>,
    pub agents: Arc<dyn AgentExecutions>,
    pub building: Arc<dyn AgentBuilding>,
}

/// Shows the progress of a call to the user.
pub trait ProgressReports: Send + Sync {
    /// Updates that come too fast are dropped.
    fn show(&self, so_far: &ToolResponse);

    /// For the few updates that begin a new stage: shown however soon they follow the one before.
    fn show_stage(&self, so_far: &ToolResponse);
}

/// Sessions that a call starts or uses. All are children of the call's own session; others are not found.
#[async_trait]
pub trait SubSessions: Send + Sync {
    /// The same call starts the same turn, however often it is repeated. A running sub-session gets the prompt as a
    /// follow-up.
    async fn start(&self, new: NewSubSession) -> Result<SubSessionTurn, ToolError>;

    /// Waits until the turn has ended, at most this long, without holding a worker permit meanwhile.
    async fn wait(
        &self,
        which: &SubSessionTurn,
        at_most: Duration,
    ) -> Result<SubSessionView, ToolError>;

    /// The running turn of the sub-session, or its last one.
    async fn current(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError>;

    /// Returns when it has ended, or after the time limit of a cancel.
    async fn cancel(&self, session: &SessionId) -> Result<(), ToolError>;

    async fn progress(&self, session: &SessionId) -> Result<SubSessionProgress, ToolError>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewSubSession {
    pub prompt: String,
    pub system_context: Option<String>,
    /// The session to continue, instead of a new one.
    pub resume: Option<SessionId>,
    pub filter: CapabilityFilter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubSessionTurn {
    pub session_id: SessionId,
    pub turn_id: TurnId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SubSessionView {
    pub state: SubSessionState,
    /// The text of the last step, if it ended successfully.
    pub response: Option<String>,
    pub error: Option<String>,
    pub calls: Vec<SubSessionCall>,
    pub files: Vec<WorkspaceFile>,
    pub elapsed: Duration,
}

/// Background calls of this session.
#[async_trait]
pub trait BackgroundCalls: Send + Sync {
    fn list(&self) -> Vec<BackgroundTool>;

    /// `None`: there is no such call of this session (anymore).
    async fn wait(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView>;

    /// A call that has already ended keeps its result.
    async fn cancel(&self, id: &BackgroundId) -> Option<BackgroundView>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundView {
    pub tool: String,
    pub status: BackgroundStatus,
    pub output: Option<Value>,
}

/// Operations of the call's user.
#[async_trait]
pub trait OperationStates: Send + Sync {
    async fn get(&self, which: &OperationKey) -> Result<Option<Operation>, ToolError>;
}

/// Executes agents and blocks for the call's user.
#[async_trait]
pub trait AgentExecutions: Send + Sync {
    /// Without a version: the active one. `None`: the graph is not visible to the user.
    async fn describe(
        &self,
        graph: &GraphId,
        version: Option<u32>,
    ) -> Result<Option<AgentDescription>, ToolError>;

    /// The same call starts the same execution, however often it is repeated.
    async fn start(&self, new: NewAgentExecution) -> Result<AgentExecutionStarted, ToolError>;

    /// Waits until the execution has ended or needs approval, at most this long, without holding a worker permit meanwhile,
    /// and returns its state. `None`: the user has no such execution.
    async fn wait(
        &self,
        id: &ExecutionId,
        at_most: Duration,
    ) -> Result<Option<Execution>, ToolError>;

    async fn list(&self, wanted: &ListExecutions) -> Result<(Vec<Execution>, u64), ToolError>;

    async fn view(
        &self,
        id: &ExecutionId,
        nodes: NodeRange,
    ) -> Result<Option<ExecutionView>, ToolError>;

    /// Runs a block on its own: recorded once for the call, with its charge. The inputs are valid.
    async fn run_block(&self, run: BlockCall) -> Result<BlockCallEnd, ToolError>;
}

/// Builds agents for the call's user: an agent is fixed, checked and rehearsed before it is shown or saved.
#[async_trait]
pub trait AgentBuilding: Send + Sync {
    /// Whether the session has called the tool with this name, in this turn or an earlier one.
    fn was_called(&self, tool: &str) -> bool;

    /// The newest version of one of the user's own agents, by its graph id or its library id.
    async fn newest(&self, id: &GraphId) -> Result<Option<Graph>, ToolError>;

    /// The agent as a spec, in YAML.
    fn spec_of(&self, graph: &Graph) -> String;

    async fn check(&self, agent: GivenAgent) -> Result<AgentChecked, ToolError>;

    async fn fix(&self, agent: GivenAgent) -> Result<AgentFixed, ToolError>;

    /// The same call saves the agent once, however often it is repeated. An agent that means the same as the newest version
    /// is not saved again.
    async fn build(&self, build: BuildAgent) -> Result<AgentBuilt, ToolError>;
}

/// An agent as a model gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenAgent {
    /// Graph JSON.
    Graph(Value),
    /// The agent spec: text or an object.
    Spec(Value),
    /// Edits of one version of a stored agent.
    Edits { id: GraphId, base_version: u32, edits: Vec<GraphEdit> },
    /// Without a version: the active one.
    Stored { id: GraphId, version: Option<u32> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AgentChecked {
    Checked { state: AgentState, errors: Vec<GraphProblem>, warnings: Vec<GraphProblem> },
    NotFound,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AgentFixed {
    Fixed(Box<AgentFix>),
    /// It cannot be read as an agent.
    Unreadable(Vec<GraphProblem>),
    NotFound,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BuildAgent {
    pub agent: GivenAgent,
    pub target: BuildTarget,
    pub save: bool,
}

/// What an agent is saved as.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildTarget {
    NewAgent {
        /// The folder of the library that it is put into.
        folder: Option<FolderId>,
        /// The agent and version that it was made from.
        template: Option<(GraphId, u32)>,
    },
    /// The next version of one of the user's own agents.
    NewVersion {
        /// Its graph id or its library id.
        of: GraphId,
        /// The version that was changed. `None`: the newest one, whichever it is.
        base_version: Option<u32>,
    },
}

impl BuildTarget {
    pub const NEW: Self = Self::NewAgent { folder: None, template: None };
}

#[derive(Clone, Debug, PartialEq)]
pub enum AgentBuilt {
    Preview(Box<AgentPreview>),
    Saved(Box<AgentSaved>),
    /// It still has errors after it was fixed.
    Invalid(Vec<GraphProblem>),
    /// It was changed since the version that was edited; what changed, a line each.
    Stale {
        newest: u32,
        diff: String,
    },
    NotFound,
    /// The library has no such folder. Nothing was saved.
    NoFolder,
    LibraryFull,
}

/// What a caller needs to know about an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDescription {
    pub graph: Graph,
    /// JSON schemas of its inputs and outputs, by name.
    pub input_schema: Value,
    pub output_schema: Value,
    pub flags: GraphFlags,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewAgentExecution {
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub inputs: Map<String, Value>,
    pub dry_run: bool,
    pub safe_mode: SafeMode,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AgentExecutionStarted {
    Started(Box<Execution>),
    NoGraph,
    /// The graph is invalid.
    Invalid(Vec<GraphProblem>),
    /// The inputs are invalid.
    Inputs(InputProblems),
    /// The names of blocks that the turn may not use.
    NotAllowed(Vec<String>),
    NoFunds,
    /// The session has reached its limit of executions.
    TooMany,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockCall {
    pub block_id: BlockId,
    pub input: Map<String, Value>,
    pub dry_run: bool,
    /// The decision about it, and the review.
    pub decision: Option<ReviewDecision>,
    pub review: Option<ReviewId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BlockCallEnd {
    Done(BlockOutcome),
    /// Approval is required first.
    Review(Box<Review>),
    NoFunds,
    /// It exceeded the time limit of a call.
    TimedOut,
    /// It was started before, the server stopped, and it must not be repeated.
    Interrupted,
}
