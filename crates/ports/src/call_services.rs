//! What the engine does for a tool call, in its name.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::execution::{Execution, ExecutionView, NodeRange, SafeMode};
use protocol::graph::{Graph, GraphFlags, GraphProblem, InputProblems};
use protocol::operation::Operation;
use protocol::permissions::CapabilityFilter;
use protocol::response::{
    BackgroundStatus, BackgroundTool, SubSessionCall, SubSessionProgress, SubSessionState,
    ToolResponse, WorkspaceFile,
};
use protocol::review::{Review, ReviewDecision};
use protocol::{BackgroundId, BlockId, ExecutionId, GraphId, ReviewId, SessionId, TurnId};
use serde_json::{Map, Value};

use crate::store::{BlockOutcome, ListExecutions, OperationKey};
use crate::tool::ToolError;

/// Every one of these knows the session, the turn and the permissions.
#[derive(Clone)]
pub struct CallServices {
    pub sub_sessions: Arc<dyn SubSessions>,
    pub background: Arc<dyn BackgroundCalls>,
    pub operations: Arc<dyn OperationStates>,
    pub reports: Arc<dyn ProgressReports>,
    pub agents: Arc<dyn AgentExecutions>,
}

/// Shows what a call has so far. A hint for the person: what comes too fast is left out.
pub trait ProgressReports: Send + Sync {
    fn show(&self, so_far: &ToolResponse);
}

/// Sessions that a call starts or looks after. All of them are children of the call's own session; others look missing.
#[async_trait]
pub trait SubSessions: Send + Sync {
    /// The same call starts the same turn, however often it is made. A sub-session that is at work gets the prompt as a
    /// follow-up.
    async fn start(&self, new: NewSubSession) -> Result<SubSessionTurn, ToolError>;

    /// Waits until the turn has ended, at most so long, without holding a worker meanwhile.
    async fn wait(
        &self,
        which: &SubSessionTurn,
        at_most: Duration,
    ) -> Result<SubSessionView, ToolError>;

    /// The turn that the sub-session is at work on, or else its last one.
    async fn current(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError>;

    /// Returns when it has ended, or when it takes longer than a cancel should.
    async fn cancel(&self, session: &SessionId) -> Result<(), ToolError>;

    async fn progress(&self, session: &SessionId) -> Result<SubSessionProgress, ToolError>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewSubSession {
    pub prompt: String,
    pub system_context: Option<String>,
    /// One to go on with, instead of a new one.
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
    /// The words of the last step, when it has ended well.
    pub response: Option<String>,
    pub error: Option<String>,
    pub calls: Vec<SubSessionCall>,
    pub files: Vec<WorkspaceFile>,
    pub elapsed: Duration,
}

/// Calls of this session that went on in the background.
#[async_trait]
pub trait BackgroundCalls: Send + Sync {
    fn list(&self) -> Vec<BackgroundTool>;

    /// `None`: there is no such call of this session (any more).
    async fn wait(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView>;

    /// One that has ended meanwhile keeps its real result.
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

/// Agents and blocks, run for the call's user.
#[async_trait]
pub trait AgentExecutions: Send + Sync {
    /// Without a version: the active one. `None`: the user does not see such a graph.
    async fn describe(
        &self,
        graph: &GraphId,
        version: Option<u32>,
    ) -> Result<Option<AgentDescription>, ToolError>;

    /// The same call starts the same run, however often it is made.
    async fn start(&self, new: NewAgentExecution) -> Result<AgentExecutionStarted, ToolError>;

    /// Waits until the run has ended or needs a person, at most so long, without holding a worker meanwhile. Gives it
    /// as it is then; `None`: the user has no such run.
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

    /// Runs a block by itself: recorded once for the call, with its charge. Its inputs are valid.
    async fn run_block(&self, run: BlockCall) -> Result<BlockCallEnd, ToolError>;
}

/// An agent, as a caller needs to know it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDescription {
    pub graph: Graph,
    /// JSON schemas of what it takes and gives, by name.
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
    /// The graph cannot run.
    Invalid(Vec<GraphProblem>),
    /// The inputs do not fit.
    Inputs(InputProblems),
    /// It has blocks that the turn may not use; their names.
    NotAllowed(Vec<String>),
    NoFunds,
    /// The session has started as many as it may.
    TooMany,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockCall {
    pub block_id: BlockId,
    pub input: Map<String, Value>,
    pub dry_run: bool,
    /// What a person has decided about it, in which review.
    pub decision: Option<ReviewDecision>,
    pub review: Option<ReviewId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BlockCallEnd {
    Done(BlockOutcome),
    /// A person has to decide first.
    Review(Box<Review>),
    NoFunds,
    /// It took longer than a call may.
    TimedOut,
    /// It was begun before, the server went down, and it must not be repeated.
    Interrupted,
}
