//! Starts and reads agent executions and block runs for a tool call, on behalf of its user.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{
    AgentDescription, AgentExecutionStarted, AgentExecutions, BlockCall, BlockCallEnd,
    NewAgentExecution,
};
use ports::store::ListExecutions;
use ports::tool::ToolError;
use protocol::execution::{Execution, ExecutionView, NodeRange};
use protocol::message::{Message, MessageRole};
use protocol::permissions::Permissions;
use protocol::session::{Owner, Session};
use protocol::{ExecutionId, GraphId, UserId, limits};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::block_call::{BlockRefused, BlockRequest};
use super::execution_view;
use super::node_copilot::DEPTH;
use super::rehearsal::made_inputs;
use super::start_execution::StartExecution;
use super::wait_for_execution::{WaitUntil, wait_for_execution};
use crate::job::waiting_calls::WaitingCalls;
use crate::{Engine, EngineInner, deterministic_id};

/// The tool whose calls count toward the session's execution limit.
const RUN_AGENT: &str = "run_agent";

pub(crate) struct AgentExecutionService {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) owner: Owner,
    pub(crate) session: Session,
    pub(crate) permissions: Permissions,
    /// The call's idempotency key.
    pub(crate) key: String,
    pub(crate) waiting_calls: Arc<WaitingCalls>,
    pub(crate) cancel: CancellationToken,
    /// How many executions the session has started.
    pub(crate) started: u32,
}

/// Counts the executions that the session's history mentions.
pub(crate) fn count_started(messages: &[Message]) -> u32 {
    let started = |message: &&Message| {
        message.role == MessageRole::Tool
            && message.name.as_deref() == Some(RUN_AGENT)
            && message.content.contains("\"execution_id\"")
    };
    messages.iter().filter(started).count() as u32
}

#[async_trait]
impl AgentExecutions for AgentExecutionService {
    async fn describe(
        &self,
        graph: &GraphId,
        version: Option<u32>,
    ) -> Result<Option<AgentDescription>, ToolError> {
        Ok(self.engine().describe_agent(self.user()?, graph, version).await?)
    }

    async fn start(&self, new: NewAgentExecution) -> Result<AgentExecutionStarted, ToolError> {
        if self.started >= limits::RUNS_PER_SESSION && !new.dry_run {
            return Ok(AgentExecutionStarted::TooMany);
        }
        let depth = self.session.metadata.get(DEPTH).and_then(serde_json::Value::as_u64);
        let mut inputs = new.inputs;
        if new.dry_run {
            // As in a rehearsal, inputs that are absent are made up.
            let (graphs, version) = (&self.inner.ports.graphs, Some(new.graph_version));
            let found = graphs.get(self.user()?, &new.graph_id, version).await?;
            if let Some(stored) = found {
                inputs.extend(made_inputs(&self.inner.catalog, &stored.graph, &inputs, 0));
            }
        }
        let start = StartExecution {
            graph_id: new.graph_id,
            version: Some(new.graph_version),
            inputs,
            dry_run: new.dry_run,
            rehearsal: None,
            safe_mode: Some(new.safe_mode),
            permissions: self.permissions.clone(),
            id: Some(ExecutionId(deterministic_id::uuid("execution", &self.key))),
            copilot_depth: depth.unwrap_or(0) as u32,
        };
        Ok(self.engine().start_execution(self.user()?, start).await?)
    }

    async fn wait(
        &self,
        id: &ExecutionId,
        at_most: Duration,
    ) -> Result<Option<Execution>, ToolError> {
        let user = self.user()?;
        let waiting = self.waiting_calls.begin_wait();
        let deadline = Some(Instant::now() + at_most);
        let waited = tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                return Err(ToolError::tell("cancelled", "This turn is being stopped."));
            }
            waited = wait_for_execution(&self.inner, user, id, deadline, WaitUntil::EndedOrReview) => waited,
        };
        drop(waiting);
        Ok(waited?)
    }

    async fn list(&self, wanted: &ListExecutions) -> Result<(Vec<Execution>, u64), ToolError> {
        Ok(self.inner.ports.executions.list(self.user()?, wanted).await?)
    }

    async fn view(
        &self,
        id: &ExecutionId,
        nodes: NodeRange,
    ) -> Result<Option<ExecutionView>, ToolError> {
        Ok(execution_view::load_view(&self.inner, self.user()?, id, nodes).await?)
    }

    async fn run_block(&self, call: BlockCall) -> Result<BlockCallEnd, ToolError> {
        let request = BlockRequest {
            key: self.key.clone(),
            session: Some(self.session.id.clone()),
            permissions: self.permissions.clone(),
            call,
        };
        match self.engine().run_block(self.user()?, request, self.cancel.clone()).await? {
            Ok(end) => Ok(end),
            Err(BlockRefused::Unknown) => {
                Err(ToolError::tell("block_not_found", "Block not found."))
            }
            Err(BlockRefused::NotAllowed) => {
                Err(ToolError::tell("permission_denied", "This block may not be used here."))
            }
            Err(BlockRefused::Input(why)) => Err(ToolError::tell("invalid_input", why)),
        }
    }
}

impl AgentExecutionService {
    fn engine(&self) -> Engine {
        Engine { inner: self.inner.clone() }
    }

    fn user(&self) -> Result<&UserId, ToolError> {
        self.owner.user().ok_or_else(|| ToolError::tell("need_login", "Sign in to do this."))
    }
}
