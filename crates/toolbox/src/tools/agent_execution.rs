//! Responses about an execution of an agent, shared by the tools that start and show executions.

use ports::call_services::AgentExecutions;
use ports::tool::ToolError;
use protocol::execution::{Execution, ExecutionStatus, ExecutionView, NodeRange};
use protocol::library::LibraryAgent;
use protocol::response::{
    AgentOutput, ExecutionOutput, ExecutionStarted, ResponseBody, ToolResponse,
};
use protocol::{GraphId, LibraryAgentId};
use serde_json::json;

use super::agent_lookup;

/// Node executions that a response shows.
const NODES: usize = 100;
/// Failed nodes that the message names; the response body lists more.
const NAMED: usize = 5;

/// The agent of an execution, as the user knows it.
pub(crate) struct ExecutedAgent {
    pub(crate) name: String,
    pub(crate) graph_id: GraphId,
    pub(crate) library_agent_id: Option<LibraryAgentId>,
}

/// How much a response shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputDetail {
    Outputs,
    /// Also the inputs and the node executions.
    Nodes,
}

impl ExecutedAgent {
    pub(crate) fn entry(entry: &LibraryAgent) -> Self {
        Self {
            name: entry.name.clone(),
            graph_id: entry.graph_id.clone(),
            library_agent_id: Some(entry.id.clone()),
        }
    }

    fn link(&self) -> Option<String> {
        self.library_agent_id.as_ref().map(agent_lookup::link)
    }

    pub(crate) fn started(&self, run: &Execution, message: String) -> ToolResponse {
        ToolResponse::new(
            message,
            ResponseBody::ExecutionStarted(ExecutionStarted {
                execution_id: run.id.clone(),
                graph_id: self.graph_id.clone(),
                graph_name: self.name.clone(),
                library_agent_id: self.library_agent_id.clone(),
                library_agent_link: self.link(),
                status: run.status,
            }),
        )
    }

    pub(crate) fn output(&self, view: ExecutionView, detail: OutputDetail) -> AgentOutput {
        let ExecutionView { execution, outputs, nodes, failed, .. } = view;
        let inputs_summary = match detail {
            OutputDetail::Outputs => Default::default(),
            OutputDetail::Nodes => execution.request.inputs,
        };
        AgentOutput {
            agent_name: self.name.clone(),
            agent_id: self.graph_id.clone(),
            library_agent_id: self.library_agent_id.clone(),
            library_agent_link: self.link(),
            execution: ExecutionOutput {
                execution_id: execution.id,
                status: execution.status,
                started_at: execution.started_at,
                ended_at: execution.ended_at,
                outputs,
                inputs_summary,
                node_executions: nodes,
                nodes_failed: failed,
            },
            available_executions: Vec::new(),
            total_executions: 1,
        }
    }

    /// The response for a failed or stopped execution.
    pub(crate) fn failure(&self, view: &ExecutionView) -> ToolResponse {
        let code = match view.execution.status {
            ExecutionStatus::Terminated => "execution_stopped",
            _ => "execution_failed",
        };
        // Outputs that were produced before the failure may be all that is needed.
        let details = json!({ "nodes_failed": view.failed, "outputs": view.outputs });
        ToolResponse::new(
            self.sentence(view),
            ResponseBody::Error {
                error: Some(code.into()),
                details: Some(details),
                execution_id: Some(view.execution.id.clone()),
            },
        )
    }

    /// The status, warnings and next step.
    pub(crate) fn sentence(&self, view: &ExecutionView) -> String {
        let (name, id) = (&self.name, &view.execution.id);
        let mut message = match view.execution.status {
            ExecutionStatus::Completed => format!("{name} has completed."),
            ExecutionStatus::Failed => match &view.execution.error {
                Some(error) => format!("{name} has failed: {}", error.message),
                None => format!("{name} has failed."),
            },
            ExecutionStatus::Terminated => {
                format!("{name} was stopped before it finished.")
            }
            ExecutionStatus::Review => needs_review(name),
            ExecutionStatus::Incomplete | ExecutionStatus::Queued | ExecutionStatus::Running => {
                format!(
                    "{name} has not finished yet ({}). Call view_agent_output with execution_id {id} and wait_if_running.",
                    view.execution.status.as_str()
                )
            }
        };
        for warning in warnings(view) {
            message.push(' ');
            message.push_str(&warning);
        }
        message
    }
}

/// Used for agents and for single blocks.
pub(crate) fn no_funds() -> ToolResponse {
    let sentence =
        "The user does not have enough credits, so nothing was run. Only the user can add more.";
    ToolResponse::error("insufficient_credits", sentence)
}

pub(crate) fn needs_review(name: &str) -> String {
    format!(
        "{name} needs approval: the user approves or rejects it on the review page (or with POST \
         /api/review/action), then the run continues automatically."
    )
}

/// Problems that the status alone does not show.
fn warnings(view: &ExecutionView) -> Vec<String> {
    let mut warnings = Vec::new();
    if !view.failed.is_empty() {
        let named = view.failed.iter().take(NAMED);
        let named: Vec<String> = named
            .map(|node| format!("{}: {}", node.block_name, node.error.trim_end_matches('.')))
            .collect();
        let count = view.execution.stats.node_error_count.max(view.failed.len() as u64);
        warnings.push(format!("WARNING: {count} node executions failed. {}.", named.join("; ")));
    }
    if view.outputs.is_empty() && view.execution.status == ExecutionStatus::Completed {
        warnings.push("WARNING: there are no outputs.".to_owned());
    }
    if view.outputs_cut {
        warnings.push("Only some of the outputs are shown.".to_owned());
    }
    warnings
}

/// The current state of the execution.
pub(crate) async fn view(
    agents: &dyn AgentExecutions,
    run: &Execution,
    detail: OutputDetail,
) -> Result<ExecutionView, ToolError> {
    let nodes = match detail {
        OutputDetail::Outputs => NodeRange::None,
        OutputDetail::Nodes => NodeRange::From { first: 0, limit: NODES },
    };
    agents.view(&run.id, nodes).await?.ok_or_else(|| {
        ToolError::tell("execution_not_found", format!("Run {} was deleted.", run.id))
    })
}
