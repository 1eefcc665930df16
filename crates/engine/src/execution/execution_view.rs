//! An execution as shown to users, built from its journal.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use ports::PortResult;
use protocol::block::BlockKind;
use protocol::execution::{
    Execution, ExecutionStatus, ExecutionView, NodeEvent, NodeExecution, NodeFailure, NodeRange,
    node_execution_id,
};
use protocol::graph::{Graph, Node};
use protocol::text::cut_end;
use protocol::{ExecutionId, NodeId, UserId};
use serde_json::{Map, Value};

use super::output_buffer::json_size;
use super::plan::ExecutionPlan;
use super::recovery::{READ_BYTES, execution_graph};
use crate::{Engine, EngineInner};
use graphs::catalog::BlockSpecs;

/// Limits on the outputs that a view includes and on their approximate bytes. If there are more, the view is marked as
/// cut.
const MAX_OUTPUTS: usize = 10_000;
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// How many outputs of one node run a view includes.
const NODE_OUTPUTS: usize = 100;
const MAX_FAILURES: usize = 20;
const ERROR_CHARS: usize = 500;

impl Engine {
    /// `None` if the user has no such execution.
    pub async fn execution_view(
        &self,
        user: &UserId,
        id: &ExecutionId,
        nodes: NodeRange,
    ) -> PortResult<Option<ExecutionView>> {
        load_view(&self.inner, user, id, nodes).await
    }
}

pub(crate) async fn load_view(
    inner: &EngineInner,
    user: &UserId,
    id: &ExecutionId,
    nodes: NodeRange,
) -> PortResult<Option<ExecutionView>> {
    let Some(execution) = inner.ports.executions.get(user, id).await? else {
        return Ok(None);
    };
    let graph = execution_graph(inner, &execution).await?.unwrap_or_default();
    let mut builder = ViewBuilder::new(inner, &execution, &graph, nodes);
    read_journal(inner, &execution, |event| builder.take(event)).await?;
    let ViewBuilder { outputs, nodes, failed, total, .. } = builder;
    let outputs_cut = outputs.cut;
    Ok(Some(ExecutionView {
        outputs: by_name(outputs.list),
        outputs_cut,
        nodes: nodes.into_values().collect(),
        node_total: total,
        failed,
        execution,
    }))
}

/// The outputs of the agent, in order; `None` if there are more than a view holds.
pub(crate) async fn load_outputs(
    inner: &EngineInner,
    execution: &Execution,
) -> PortResult<Option<Vec<(String, Value)>>> {
    let graph = execution_graph(inner, execution).await?.unwrap_or_default();
    let mut builder = ViewBuilder::new(inner, execution, &graph, NodeRange::None);
    read_journal(inner, execution, |event| builder.take(event)).await?;
    let ViewOutputs { list, cut, .. } = builder.outputs;
    Ok((!cut).then_some(list))
}

pub(crate) async fn read_journal(
    inner: &EngineInner,
    execution: &Execution,
    mut take: impl FnMut(NodeEvent),
) -> PortResult<()> {
    let mut at = 0;
    while at < execution.events {
        let journal = &inner.ports.executions;
        let batches = journal.journal(&execution.user_id, &execution.id, at, READ_BYTES).await?;
        let Some(last) = batches.last() else { break };
        let next = last.first + last.count;
        for batch in batches {
            // Skip batches that cannot be read and show the rest.
            let events: Vec<NodeEvent> = serde_json::from_slice(&batch.events).unwrap_or_default();
            events.into_iter().for_each(&mut take);
        }
        at = next;
    }
    Ok(())
}

struct ViewBuilder<'a> {
    execution: &'a Execution,
    by_id: HashMap<&'a NodeId, (&'a Node, &'static str, BlockKind)>,
    wanted: NodeRange,
    /// Only needed to derive the inputs of node runs from earlier outputs.
    plan: Option<ExecutionPlan>,
    outputs: ViewOutputs,
    nodes: BTreeMap<u64, NodeExecution>,
    failed: Vec<NodeFailure>,
    total: u64,
}

impl<'a> ViewBuilder<'a> {
    fn new(
        inner: &EngineInner,
        execution: &'a Execution,
        graph: &'a Graph,
        wanted: NodeRange,
    ) -> Self {
        let known = |node: &'a Node| {
            let spec = inner.catalog.spec(&node.block_id)?;
            Some((&node.id, (node, spec.name, spec.kind)))
        };
        let plan = match wanted {
            NodeRange::None => None,
            NodeRange::From { .. } => ExecutionPlan::new(graph, &inner.catalog).ok(),
        };
        let plan = plan.map(|mut plan| {
            plan.seed(&execution.request.inputs);
            plan
        });
        Self {
            execution,
            by_id: graph.nodes.iter().filter_map(known).collect(),
            wanted,
            plan,
            outputs: ViewOutputs::default(),
            nodes: BTreeMap::new(),
            failed: Vec::new(),
            total: 0,
        }
    }

    fn take(&mut self, event: NodeEvent) {
        self.total = self.total.max(event.run + 1);
        let known = self.by_id.get(&event.node).copied();
        if let Some((node, _, BlockKind::Output)) = known {
            self.outputs.take(node, &event);
        }
        if let (Some(error), true) = (&event.error, self.failed.len() < MAX_FAILURES) {
            self.failed.push(NodeFailure {
                node_id: event.node.clone(),
                block_name: known.map(|(_, name, _)| name.to_owned()).unwrap_or_default(),
                error: cut_end(error, ERROR_CHARS),
            });
        }
        self.take_node(&event, known.map(|(node, name, _)| (node, name)));
        if let Some(plan) = &mut self.plan {
            // If the journal does not match the graph, only the inputs are missing from the view.
            if plan.apply(&event).is_err() {
                self.plan = None;
            }
        }
    }

    fn take_node(&mut self, event: &NodeEvent, known: Option<(&Node, &'static str)>) {
        let NodeRange::From { first, limit } = self.wanted else { return };
        if event.run < first || event.run >= first.saturating_add(limit as u64) {
            return;
        }
        let at = Timestamp::from_millisecond(event.at).ok();
        let plan = &self.plan;
        let run = self.nodes.entry(event.run).or_insert_with(|| NodeExecution {
            node_exec_id: node_execution_id(&self.execution.id, event.run),
            node_id: event.node.clone(),
            block_id: known.map_or_else(|| "".into(), |(node, _)| node.block_id.clone()),
            block_name: known.map(|(_, name)| name.to_owned()).unwrap_or_default(),
            status: ExecutionStatus::Running,
            input_data: plan.as_ref().map(|plan| plan.upcoming(&event.node)).unwrap_or_default(),
            output_data: Map::new(),
            error: None,
            cost: 0,
            start_time: at,
            end_time: None,
        });
        for (pin, value) in &event.outputs {
            let values = run.output_data.entry(pin.clone()).or_insert_with(|| Value::Array(vec![]));
            if let Value::Array(values) = values
                && values.len() < NODE_OUTPUTS
            {
                values.push(Value::clone(value));
            }
        }
        run.cost += event.cost;
        if let Some(error) = &event.error {
            run.error = Some(error.clone());
        }
        if let Some(status) = event.status {
            run.status = status;
            run.end_time = at.filter(|_| status.is_final());
        }
    }
}

#[derive(Default)]
struct ViewOutputs {
    list: Vec<(String, Value)>,
    bytes: usize,
    cut: bool,
}

impl ViewOutputs {
    fn take(&mut self, node: &Node, event: &NodeEvent) {
        let named = event.outputs.iter().find(|(pin, _)| pin == "name");
        let name = named.and_then(|(_, value)| value.as_str());
        let name = name.or_else(|| graphs::schema::interface_name(node)).unwrap_or_default();
        for (_, value) in event.outputs.iter().filter(|(pin, _)| pin == "output") {
            self.bytes += json_size(value);
            if self.list.len() >= MAX_OUTPUTS || self.bytes > MAX_OUTPUT_BYTES {
                self.cut = true;
                return;
            }
            self.list.push((name.to_owned(), Value::clone(value)));
        }
    }
}

/// Outputs as shown to users: every name with its values, in order.
pub(crate) fn by_name(outputs: Vec<(String, Value)>) -> Map<String, Value> {
    let mut by_name = Map::new();
    for (name, value) in outputs {
        if let Value::Array(values) = by_name.entry(name).or_insert_with(|| Value::Array(vec![])) {
            values.push(value);
        }
    }
    by_name
}
