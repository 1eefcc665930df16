//! The responses of tools as one type, shared by the history, the API document and the client's cards. `type` names the
//! kind; null values are omitted.

mod agents;
mod blocks;
mod building;
mod delegation;
mod session;
mod setup;

pub use agents::{
    AgentDetails, AgentInfo, AgentOutput, AgentSource, AvailableExecution, ExecutionOptions,
    ExecutionOutput, ExecutionStarted,
};
pub use blocks::{BlockDetails, BlockInfo, BlockOutput, ReviewRequired};
pub use building::{
    AgentFix, AgentPreview, AgentProgress, AgentSaved, AgentValidation, BuildingStage, BuiltAgent,
    PlannedStep,
};
pub use delegation::{
    BackgroundStatus, BackgroundTool, SubSessionCall, SubSessionMessage, SubSessionProgress,
    SubSessionState,
};
pub use session::{DocHit, FileEncoding, TodoItem, TodoStatus, UserQuestion, WorkspaceFile};
pub use setup::{
    ExecutionMode, GoalType, NeededCredentials, NeededInput, SetupInfo, SetupNeeds,
    SetupRequirements, SuggestedGoal, UserReadiness,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{BackgroundId, CallId, ExecutionId, GraphId, OperationId, SessionId, TaskId};
use crate::operation::OperationStatus;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolResponse {
    /// A sentence for the model and the user.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(flatten)]
    pub body: ResponseBody,
}

impl ToolResponse {
    pub fn new(message: impl Into<String>, body: ResponseBody) -> Self {
        Self { message: message.into(), session_id: None, body }
    }

    pub fn error(code: &str, message: impl Into<String>) -> Self {
        let error = Some(code.to_owned());
        Self::new(message, ResponseBody::Error { error, details: None, execution_id: None })
    }

    pub fn is_error(&self) -> bool {
        matches!(self.body, ResponseBody::Error { .. } | ResponseBody::NeedLogin)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseBody {
    Error {
        /// A stable code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// The execution it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        execution_id: Option<ExecutionId>,
    },
    NeedLogin,
    NoResults {
        suggestions: Vec<String>,
    },
    ClarificationNeeded {
        questions: Vec<UserQuestion>,
    },
    TodoWrite {
        todos: Vec<TodoItem>,
    },
    WebFetch {
        url: String,
        status_code: u16,
        content_type: String,
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        content_length: u64,
        truncated: bool,
    },
    BashExec {
        stdout: String,
        stderr: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        timed_out: bool,
    },
    DocSearchResults {
        results: Vec<DocHit>,
        count: usize,
        query: String,
    },
    DocPage {
        title: String,
        path: String,
        content: String,
    },
    WorkspaceFileList {
        files: Vec<WorkspaceFile>,
        total_count: usize,
    },
    WorkspaceFileContent {
        file: WorkspaceFile,
        /// Text, or base64, depending on `encoding`.
        content: String,
        encoding: FileEncoding,
        truncated: bool,
    },
    WorkspaceFileWritten {
        file: WorkspaceFile,
        created: bool,
    },
    WorkspaceFileDeleted {
        path: String,
    },
    /// The call exceeded its time budget and continues in the background.
    Background {
        tool: String,
        timeout_seconds: u64,
        background_id: BackgroundId,
    },
    BackgroundToolStatus {
        background_id: BackgroundId,
        tool: String,
        status: BackgroundStatus,
        /// How long this call waited, if the background call has not ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_seconds: Option<u64>,
        /// The output of the background call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    BackgroundToolList {
        tools: Vec<BackgroundTool>,
        count: usize,
    },
    /// A long-running call was started; its own stream is `task_id`.
    OperationStarted {
        operation_id: OperationId,
        tool_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<TaskId>,
    },
    /// The placeholder in the history until the operation has a result.
    OperationPending {
        operation_id: OperationId,
        tool_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<TaskId>,
    },
    /// The same call was requested again while it is running.
    OperationInProgress {
        tool_call_id: CallId,
    },
    OperationStatus {
        status: OperationStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<TaskId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation_id: Option<OperationId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        /// The result, once it has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    SubSessionStatus {
        status: SubSessionState,
        sub_session_id: SessionId,
        /// The same id, under the name that the origin's clients know.
        sub_autopilot_session_id: SessionId,
        /// A link for the user to open it.
        sub_autopilot_session_link: String,
        /// The response, once there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<String>,
        /// Why there is no response.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        tool_calls: Vec<SubSessionCall>,
        elapsed_seconds: u64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sub_workspace_files: Vec<WorkspaceFile>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<SubSessionProgress>,
    },
    AgentsFound {
        title: String,
        agents: Vec<AgentInfo>,
        count: usize,
    },
    AgentDetails {
        agent: AgentDetails,
        user_authenticated: bool,
        graph_id: GraphId,
        graph_version: u32,
    },
    /// Inputs that an agent or a block does not have.
    InputValidationError {
        unrecognized_fields: Vec<String>,
        /// JSON schema of its inputs.
        inputs: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        graph_id: Option<GraphId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        graph_version: Option<u32>,
    },
    ExecutionStarted(ExecutionStarted),
    AgentOutput(AgentOutput),
    BlockList {
        blocks: Vec<BlockInfo>,
        count: usize,
        query: String,
        usage_hint: String,
    },
    BlockDetails {
        block: BlockDetails,
        user_authenticated: bool,
    },
    BlockOutput(BlockOutput),
    ReviewRequired(ReviewRequired),
    SetupRequirements(SetupRequirements),
    SuggestedGoal(SuggestedGoal),
    /// How agents are built, for the model.
    AgentBuilderGuide {
        content: String,
    },
    /// A call that makes an agent from words is still running.
    AgentProgress(AgentProgress),
    AgentPreview(Box<AgentPreview>),
    AgentSaved(Box<AgentSaved>),
    AgentBuilderValidationResult(AgentValidation),
    AgentBuilderFixResult(Box<AgentFix>),
    /// The plan for an agent.
    TaskDecomposition {
        goal: String,
        steps: Vec<PlannedStep>,
        step_count: usize,
    },
    /// Output of any shape: of an external tool, or of a tool without a response type of its own.
    ExternalToolOutput {
        tool: String,
        output: Value,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::execution::ExecutionStatus;

    #[test]
    fn a_response_is_read_back_as_it_was_written() {
        let output = AgentOutput {
            agent_name: "Word counter".into(),
            agent_id: "g".into(),
            library_agent_id: None,
            library_agent_link: None,
            execution: ExecutionOutput {
                execution_id: "e".into(),
                status: ExecutionStatus::Completed,
                started_at: None,
                ended_at: Some(jiff::Timestamp::UNIX_EPOCH),
                outputs: Map::from_iter([("n".to_owned(), json!([1, 2.5]))]),
                inputs_summary: Map::new(),
                node_executions: Vec::new(),
                nodes_failed: Vec::new(),
            },
            available_executions: Vec::new(),
            total_executions: 1,
        };
        let response = ToolResponse::new("It has completed.", ResponseBody::AgentOutput(output));
        let written = serde_json::to_string(&response).expect("JSON");
        assert!(written.contains(r#""type":"agent_output""#) && !written.contains("null"));
        let read: ToolResponse = serde_json::from_str(&written).expect("a response");
        assert_eq!(read, response);
    }
}
