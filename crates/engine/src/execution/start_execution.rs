//! Starts an execution: validates the agent and its inputs, writes the execution in one store call, and pushes it to
//! the queue.

use ports::PortResult;
use ports::call_services::AgentExecutionStarted;
use ports::store::{ExecutionCreated, NewExecution};
use protocol::execution::{Execution, ExecutionRequest, SafeMode};
use protocol::graph::Graph;
use protocol::permissions::Permissions;
use protocol::rehearsal::Rehearsal;
use protocol::{ExecutionId, GraphId, UserId};
use serde_json::{Map, Value};

use super::billing;
use crate::job::push::PUSH_GRACE;
use crate::{Engine, EngineInner};
use graphs::catalog::BlockSpecs;
use graphs::{schema, validate};

/// A request to start an execution.
#[derive(Clone, Debug)]
pub struct StartExecution {
    pub graph_id: GraphId,
    /// `None`: the active version.
    pub version: Option<u32>,
    pub inputs: Map<String, Value>,
    pub dry_run: bool,
    /// How a dry run answers for blocks. It may bring its own graph.
    pub rehearsal: Option<Rehearsal>,
    /// `None`: the settings of the user's library entry for the graph.
    pub safe_mode: Option<SafeMode>,
    pub permissions: Permissions,
    /// Chosen by the caller, so that a repeated request finds the same execution.
    pub id: Option<ExecutionId>,
    pub copilot_depth: u32,
}

impl Engine {
    /// The execution is durably stored when this returns. If the push is lost, the sweeper finds it.
    pub async fn start_execution(
        &self,
        user: &UserId,
        start: StartExecution,
    ) -> PortResult<AgentExecutionStarted> {
        self.inner.start_execution(user, start, None).await
    }
}

impl EngineInner {
    /// The only way to create an execution, for users, tool calls and other executions.
    pub(crate) async fn start_execution(
        &self,
        user: &UserId,
        start: StartExecution,
        parent: Option<&Execution>,
    ) -> PortResult<AgentExecutionStarted> {
        let own = start.rehearsal.as_ref().and_then(|rehearsal| rehearsal.graph.clone());
        let graph = match own {
            Some(graph) => graph,
            None => match self.ports.graphs.get(user, &start.graph_id, start.version).await? {
                Some(stored) => stored.graph,
                None => return Ok(AgentExecutionStarted::NoGraph),
            },
        };
        if let Some(refused) = self.refuse(user, &graph, &start).await? {
            return Ok(refused);
        }
        let safe_mode = match start.safe_mode {
            Some(safe_mode) => safe_mode,
            None => self.safe_mode(user, &graph.id).await?,
        };
        let new = NewExecution {
            id: start.id.unwrap_or_else(ExecutionId::fresh),
            user_id: user.clone(),
            graph_id: graph.id,
            graph_version: graph.version,
            request: ExecutionRequest {
                inputs: start.inputs,
                dry_run: start.dry_run,
                safe_mode,
                permissions: start.permissions,
                copilot_depth: start.copilot_depth,
                rehearsal: start.rehearsal.map(Box::new),
            },
            parent: parent.map(|parent| parent.id.clone()),
            push_grace: PUSH_GRACE,
        };
        Ok(match self.ports.executions.create(new).await? {
            ExecutionCreated::New(execution) => {
                metrics::counter!("pilothouse_executions_started_total").increment(1);
                self.push(&execution.id).await;
                AgentExecutionStarted::Started(execution)
            }
            ExecutionCreated::Exists(execution) => AgentExecutionStarted::Started(execution),
            ExecutionCreated::ParentEnded => AgentExecutionStarted::NoGraph,
            ExecutionCreated::TooDeep => AgentExecutionStarted::TooMany,
        })
    }

    /// Why the execution cannot start, if it cannot.
    async fn refuse(
        &self,
        user: &UserId,
        graph: &Graph,
        start: &StartExecution,
    ) -> PortResult<Option<AgentExecutionStarted>> {
        let problems = validate::validate(graph, &self.catalog);
        if !problems.is_empty() {
            return Ok(Some(AgentExecutionStarted::Invalid(problems)));
        }
        let schema = schema::input_schema(graph, &self.catalog);
        let wrong = schema::check_inputs(&schema, &start.inputs);
        if !wrong.is_empty() {
            return Ok(Some(AgentExecutionStarted::Inputs(wrong)));
        }
        let denied = self.denied(graph, &start.permissions);
        if !denied.is_empty() {
            return Ok(Some(AgentExecutionStarted::NotAllowed(denied)));
        }
        if !start.dry_run && !billing::can_pay(self, user).await? {
            return Ok(Some(AgentExecutionStarted::NoFunds));
        }
        Ok(None)
    }

    /// Names of the graph's blocks that the permissions do not allow.
    fn denied(&self, graph: &Graph, permissions: &Permissions) -> Vec<String> {
        let mut denied: Vec<String> = graph
            .nodes
            .iter()
            .filter_map(|node| self.catalog.spec(&node.block_id))
            .filter(|spec| !permissions.allow_block(spec.id, spec.name))
            .map(|spec| spec.name.to_owned())
            .collect();
        denied.sort_unstable();
        denied.dedup();
        denied
    }

    async fn safe_mode(&self, user: &UserId, graph: &GraphId) -> PortResult<SafeMode> {
        let entry = self.ports.library.by_graph(user, graph).await?;
        Ok(entry.map(|entry| entry.settings).unwrap_or_default())
    }
}
