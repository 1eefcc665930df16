//! Executions started by a node. They belong to their parent: they are stopped with it, and found again when the node
//! is run again.

use std::sync::Arc;

use async_trait::async_trait;
use ports::block::{BlockError, ChildAgent, ChildAgents};
use ports::call_services::AgentExecutionStarted;
use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, NodeId};
use serde_json::Value;

use super::start_execution::StartExecution;
use super::wait_for_execution::{WaitUntil, wait_for_execution};
use super::waiting_nodes::WaitingNodes;
use super::{billing, execution_view};
use crate::{EngineInner, deterministic_id};

pub(crate) struct ChildExecutions {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) execution: Arc<Execution>,
    pub(crate) node: NodeId,
    /// Idempotency key of the node run.
    pub(crate) key: String,
    pub(crate) waiting: Arc<WaitingNodes>,
}

#[async_trait]
impl ChildAgents for ChildExecutions {
    async fn run(&self, child: ChildAgent) -> Result<Vec<(String, Value)>, BlockError> {
        let parent = &self.execution;
        let id = ExecutionId(deterministic_id::uuid("execution", &self.key));
        let start = StartExecution {
            graph_id: child.graph_id,
            version: Some(child.graph_version),
            inputs: child.inputs,
            dry_run: parent.request.dry_run,
            // A child is rehearsed like its parent.
            rehearsal: parent.request.rehearsal.as_ref().map(|outer| outer.of_child(&self.node)),
            safe_mode: Some(parent.request.safe_mode),
            permissions: parent.request.permissions.clone(),
            id: Some(id.clone()),
            copilot_depth: parent.request.copilot_depth,
        };
        let started = self.inner.start_execution(&parent.user_id, start, Some(parent)).await?;
        refusal(started)?;
        let _waits = self.waiting.begin_wait();
        let ended = wait_for_execution(&self.inner, &parent.user_id, &id, None, WaitUntil::Ended);
        let ended = ended.await?;
        let ended = ended.ok_or_else(|| BlockError::failed("The execution was deleted."))?;
        let why = ended.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
        match ended.status {
            ExecutionStatus::Completed => {
                let given = execution_view::load_outputs(&self.inner, &ended).await?;
                given.ok_or_else(|| {
                    BlockError::failed(format!(
                        "The execution {id} emitted more than one node can take."
                    ))
                })
            }
            ExecutionStatus::Terminated => {
                Err(BlockError::failed(format!("The execution {id} was stopped.")))
            }
            _ => Err(BlockError::failed(format!("The execution {id} failed. {why}"))),
        }
    }
}

fn refusal(started: AgentExecutionStarted) -> Result<(), BlockError> {
    let message = match started {
        AgentExecutionStarted::Started(_) => return Ok(()),
        AgentExecutionStarted::NoGraph => {
            "The agent was not found, or its parent has ended.".to_owned()
        }
        AgentExecutionStarted::Invalid(problems) => {
            let first = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
            format!("The agent cannot run. {first}")
        }
        AgentExecutionStarted::Inputs(wrong) => format!(
            "The inputs do not match: missing {:?}, unknown {:?}, wrong {:?}.",
            wrong.missing, wrong.unknown, wrong.wrong
        ),
        AgentExecutionStarted::NotAllowed(blocks) => {
            let message =
                format!("The agent contains blocks that may not be used here: {blocks:?}.");
            return Err(BlockError::Fatal { code: "not_allowed", message });
        }
        AgentExecutionStarted::NoFunds => return Err(billing::no_funds()),
        AgentExecutionStarted::TooMany => "Agents are nested too deeply here.".to_owned(),
    };
    Err(BlockError::Failed(message))
}
