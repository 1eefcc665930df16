//! A tool that starts or resumes a sub-session, waits for it, reads its status, or cancels it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::call_services::{NewSubSession, SubSessionTurn, SubSessionView};
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::SessionId;
use protocol::permissions::CapabilityFilter;
use protocol::response::{ResponseBody, SubSessionState, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::turn::TurnStatus;
use serde_json::Value;

use super::{record_effect, spec};
use crate::sim::node::SimNode;

pub(crate) const DELEGATE: &str = "delegate";

pub(crate) struct DelegateTool {
    node: Arc<SimNode>,
    spec: ToolSpec,
}

impl DelegateTool {
    pub(crate) fn of(node: &Arc<SimNode>) -> Self {
        let spec = spec(DELEGATE).budget(TimeBudget::Own).effect(ToolEffect::Idempotent);
        Self { node: node.clone(), spec }
    }

    async fn which(
        &self,
        arguments: &Value,
        context: &ToolContext,
    ) -> Result<SubSessionTurn, ToolError> {
        let sub_sessions = &context.services.sub_sessions;
        let known = arguments["session"].as_str().map(SessionId::from);
        match known {
            Some(session) if arguments["look"] == true => {
                if arguments["cancel"] == true {
                    sub_sessions.cancel(&session).await?;
                }
                sub_sessions.current(&session).await
            }
            resume => {
                let new = NewSubSession {
                    // The same for every attempt of this call, and different from every other call.
                    prompt: format!("{} delegates", context.idempotency_key),
                    system_context: None,
                    resume,
                    filter: CapabilityFilter::default(),
                };
                sub_sessions.start(new).await
            }
        }
    }

    /// Checks a reported final status against the store: it can no longer change.
    fn check_view(&self, which: &SubSessionTurn, view: &SubSessionView) {
        let row = {
            let state = self.node.sim.backend.state();
            state.turns.get(&which.turn_id).map(|row| row.turn.status)
        };
        let agrees = match view.state {
            SubSessionState::Completed => row == Some(TurnStatus::Completed),
            SubSessionState::Error => row == Some(TurnStatus::Failed),
            SubSessionState::Cancelled => row == Some(TurnStatus::Cancelled),
            SubSessionState::Running | SubSessionState::Queued => true,
        };
        if !agrees {
            let mismatch =
                format!("reported {:?} for {}, which is {row:?}", view.state, which.turn_id);
            self.node.sim.report_violation(format!("L5: {mismatch}"));
        }
        if (view.state == SubSessionState::Completed) != view.response.is_some() {
            self.node
                .sim
                .report_violation(format!("L5: {:?} with {:?}", view.state, view.response));
        }
    }
}

#[async_trait]
impl Tool for DelegateTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        self.node.wait_until_running().await;
        self.node.fault_point().await;
        record_effect(&self.node, &self.spec, &context);
        let which = self.which(&arguments, &context).await?;
        let wait = Duration::from_millis(arguments["wait"].as_u64().unwrap_or(0));
        let view = context.services.sub_sessions.wait(&which, wait).await?;
        self.node.wait_until_running().await;
        self.check_view(&which, &view);
        let body = ResponseBody::SubSessionStatus {
            status: view.state,
            sub_session_id: which.session_id.clone(),
            sub_autopilot_session_id: which.session_id,
            sub_autopilot_session_link: String::new(),
            response: view.response,
            error: view.error,
            tool_calls: view.calls,
            elapsed_seconds: view.elapsed.as_secs(),
            sub_workspace_files: view.files,
            progress: None,
        };
        Ok(ToolResponse::new("asked", body))
    }

    fn examples(&self) -> Vec<ToolExample> {
        Vec::new()
    }
}
