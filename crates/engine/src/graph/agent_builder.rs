//! Builds agents for a tool call, on behalf of the call's user.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use graphs::diff::to_text;
use graphs::fix::AppliedFix;
use ports::call_services::{
    AgentBuilding, AgentBuilt, AgentChecked, AgentFixed, BuildAgent, GivenAgent, ProgressReports,
};
use ports::tool::ToolError;
use protocol::GraphId;
use protocol::graph::{Graph, GraphProblem};
use protocol::message::{Message, MessageRole};
use protocol::rehearsal::AgentState;
use protocol::response::AgentFix;
use protocol::session::Owner;
use protocol::text::cut_end;

use super::agent_stages::{AgentStages, DIFF_CHARS, NotAnAgent};
use super::document_stages::state_of;
use crate::{Engine, EngineInner};

pub(crate) struct AgentBuilder {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) owner: Owner,
    /// The call's idempotency key.
    pub(crate) key: String,
    /// The tools that the session has called.
    pub(crate) called: HashSet<String>,
    /// Shows each stage of a build, for calls that make an agent from words.
    pub(crate) reports: Option<Arc<dyn ProgressReports>>,
}

/// The tools that assistant messages of the session have called, those of the current step among them. A compaction adds
/// a message and removes none, so nothing is forgotten.
pub(crate) fn called_tools(messages: &[Message]) -> HashSet<String> {
    let assistant = messages.iter().filter(|message| message.role == MessageRole::Assistant);
    assistant.flat_map(|message| &message.tool_calls).map(|call| call.name.clone()).collect()
}

#[async_trait]
impl AgentBuilding for AgentBuilder {
    fn was_called(&self, tool: &str) -> bool {
        self.called.contains(tool)
    }

    async fn newest(&self, id: &GraphId) -> Result<Option<Graph>, ToolError> {
        Ok(self.stages()?.newest(id).await?)
    }

    fn spec_of(&self, graph: &Graph) -> String {
        self.engine().write_spec(graph)
    }

    async fn check(&self, agent: GivenAgent) -> Result<AgentChecked, ToolError> {
        Ok(match self.stages()?.resolve(agent, None).await? {
            Ok(agent) => {
                let report = self.engine().check_agent(&agent).await?;
                AgentChecked::Checked {
                    state: state_of(&report),
                    errors: report.errors,
                    warnings: report.warnings,
                }
            }
            Err(NotAnAgent::Problems(errors)) => {
                AgentChecked::Checked { state: AgentState::Draft, errors, warnings: Vec::new() }
            }
            Err(NotAnAgent::NotFound) => AgentChecked::NotFound,
        })
    }

    async fn fix(&self, agent: GivenAgent) -> Result<AgentFixed, ToolError> {
        let agent = match self.stages()?.resolve(agent, None).await? {
            Ok(agent) => agent,
            Err(NotAnAgent::Problems(problems)) => return Ok(AgentFixed::Unreadable(problems)),
            Err(NotAnAgent::NotFound) => return Ok(AgentFixed::NotFound),
        };
        let engine = self.engine();
        let fixed = engine.fix_agent(&agent).await?;
        let diff = engine.diff_documents(agent.graph, fixed.graph.clone()).await;
        let diff = to_text(&diff?);
        Ok(AgentFixed::Fixed(Box::new(AgentFix {
            fixed_agent_json: Some(fixed.graph),
            fixed_agent_ref: None,
            fix_diff: (!diff.is_empty()).then(|| cut_end(&diff, DIFF_CHARS)),
            fix_count: fixed.fixes.len(),
            fixes_applied: fixed.fixes.into_iter().map(as_problem).collect(),
            valid_after_fix: fixed.remaining.is_valid(),
            remaining_errors: fixed.remaining.errors,
        })))
    }

    async fn build(&self, build: BuildAgent) -> Result<AgentBuilt, ToolError> {
        Ok(self.stages()?.build(build).await?)
    }
}

impl AgentBuilder {
    fn stages(&self) -> Result<AgentStages, ToolError> {
        let user = self.owner.user().cloned();
        Ok(AgentStages {
            engine: self.engine(),
            user: user.ok_or_else(|| ToolError::tell("need_login", "Sign in to do this."))?,
            key: self.key.clone(),
            reports: self.reports.clone(),
        })
    }

    fn engine(&self) -> Engine {
        Engine { inner: self.inner.clone() }
    }
}

fn as_problem(fix: AppliedFix) -> GraphProblem {
    let AppliedFix { code, path, message, edit } = fix;
    GraphProblem { code, path, message, edit, ..GraphProblem::default() }
}
