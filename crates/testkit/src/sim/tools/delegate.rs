//! A tool that delegates: starts a sub-session or goes on with one, waits for it, asks after it, stops it.

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

use super::super::node::Node;
use super::{carry_out, spec};

pub(in super::super) const DELEGATE: &str = "delegate";

pub(super) struct Delegate {
    node: Arc<Node>,
    spec: ToolSpec,
}

impl Delegate {
    pub(super) fn of(node: &Arc<Node>) -> Self {
        let spec =
            ToolSpec { budget: TimeBudget::Own, effect: ToolEffect::Idempotent, ..spec(DELEGATE) };
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
                    // The same whenever the call is made again, and no other call's.
                    prompt: format!("{} delegates", context.idempotency_key),
                    system_context: None,
                    resume,
                    filter: CapabilityFilter::default(),
                };
                sub_sessions.start(new).await
            }
        }
    }

    /// What is said about a turn that has ended is true for ever.
    fn judge(&self, which: &SubSessionTurn, view: &SubSessionView) {
        let row = {
            let state = self.node.sim.world.state();
            state.turns.get(&which.turn_id).map(|row| row.turn.status)
        };
        let agrees = match view.state {
            SubSessionState::Completed => row == Some(TurnStatus::Completed),
            SubSessionState::Error => row == Some(TurnStatus::Failed),
            SubSessionState::Cancelled => row == Some(TurnStatus::Cancelled),
            SubSessionState::Running | SubSessionState::Queued => true,
        };
        if !agrees {
            let said = format!("{:?} is said of {}, which is {row:?}", view.state, which.turn_id);
            self.node.sim.violated(format!("L5: {said}"));
        }
        if (view.state == SubSessionState::Completed) != view.response.is_some() {
            self.node.sim.violated(format!("L5: {:?} with {:?}", view.state, view.response));
        }
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        self.node.alive().await;
        self.node.step().await;
        carry_out(&self.node, &self.spec, &context);
        let which = self.which(&arguments, &context).await?;
        let wait = Duration::from_millis(arguments["wait"].as_u64().unwrap_or(0));
        let view = context.services.sub_sessions.wait(&which, wait).await?;
        self.node.alive().await;
        self.judge(&which, &view);
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
