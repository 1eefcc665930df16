//! Checks the steps that run other agents: the agent exists, and the copy of its interface in the node is right.

use std::collections::HashMap;

use protocol::GraphId;
use protocol::block::BlockKind;
use protocol::graph::{Graph, GraphProblem, Node};
use serde_json::{Map, Value};

use super::index::{GraphIndex, IndexedNode};
use super::node_pins::{self, PinSchema};
use super::report::{GraphReport, NeededAgent};
use crate::catalog::{AgentInterface, BlockSpecs, KnownAgents};
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::schema::{input_schema, output_schema};
use crate::types::TypeSet;

/// The agents that the steps of a document can run: those inside it, and those that are known.
pub(crate) struct DocumentAgents<'a> {
    inside: HashMap<(GraphId, u32), AgentInterface>,
    known: Option<&'a dyn KnownAgents>,
}

impl<'a> DocumentAgents<'a> {
    pub(crate) fn of(
        graph: &Graph,
        blocks: &dyn BlockSpecs,
        known: Option<&'a dyn KnownAgents>,
    ) -> Self {
        let mut inside = HashMap::new();
        collect(graph, blocks, &mut inside);
        Self { inside, known }
    }

    pub(crate) fn agent(&self, id: &GraphId, version: u32) -> Option<AgentInterface> {
        let inside = self.inside.get(&(id.clone(), version)).cloned();
        inside.or_else(|| self.known?.agent(id, Some(version)))
    }
}

fn collect(
    graph: &Graph,
    blocks: &dyn BlockSpecs,
    found: &mut HashMap<(GraphId, u32), AgentInterface>,
) {
    for inner in &graph.sub_graphs {
        let interface = AgentInterface {
            id: inner.id.clone(),
            version: inner.version,
            name: inner.name.clone(),
            input_schema: input_schema(inner, blocks),
            output_schema: output_schema(inner, blocks),
        };
        found.insert((inner.id.clone(), inner.version), interface);
        collect(inner, blocks, found);
    }
}

/// The agent that a node runs, if it names one.
pub(crate) fn agent_of(node: &Node) -> Option<(GraphId, u32)> {
    let id = node.input_default.get("graph_id")?.as_str().filter(|id| !id.is_empty())?;
    let version = node.input_default.get("graph_version")?.as_u64()?;
    Some((GraphId::from(id), u32::try_from(version).ok().filter(|version| *version > 0)?))
}

pub(crate) fn check(index: &GraphIndex<'_>, agents: &DocumentAgents<'_>, report: &mut GraphReport) {
    // Many nodes may run the same agent, and a lookup copies its interface.
    let mut found: HashMap<(GraphId, u32), Option<AgentInterface>> = HashMap::new();
    for placed in index.in_order() {
        if placed.spec.is_none_or(|spec| spec.kind != BlockKind::Agent) {
            continue;
        }
        let Some(wanted) = agent_of(placed.node) else { continue };
        let known = found
            .entry(wanted.clone())
            .or_insert_with(|| agents.agent(&wanted.0, wanted.1))
            .as_ref();
        report.errors.extend(unknown_pins(index, placed, known));
        match known {
            Some(agent) => changed(index, placed, agent, report),
            None => {
                let (id, version) = wanted;
                if agents.known.is_some() {
                    report.errors.push(unknown(index, placed, &id, version, agents));
                }
                let needed = NeededAgent { id, version: Some(version) };
                if !report.needs.agents.contains(&needed) {
                    report.needs.agents.push(needed);
                }
            }
        }
    }
}

fn unknown(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    id: &GraphId,
    version: u32,
    agents: &DocumentAgents<'_>,
) -> GraphProblem {
    let active = agents.known.and_then(|known| known.agent(id, None));
    let message = match &active {
        Some(active) => format!(
            "There is no version {version} of the agent {id} for {placed}. Its active version is {}.",
            active.version
        ),
        None => format!("There is no agent {id} for {placed}."),
    };
    let problem = index.at_pin(ProblemCode::UnknownAgent, placed.node, "agent", message);
    let expected = match active {
        Some(active) => format!("{id}@{}", active.version),
        None => "an agent of the library".to_owned(),
    };
    problem.expected(expected).got(format!("{id}@{version}"))
}

/// Reports differences between the node's copy of an interface and the interface.
fn changed(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    agent: &AgentInterface,
    report: &mut GraphReport,
) {
    for (side, copy, real) in copies(placed.node, agent) {
        let Some(why) = difference(copy, real) else { continue };
        let message = format!(
            "{placed} has an old copy of the {side}s of the agent “{}”: {why}.",
            agent.name
        );
        let names = real.keys().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
        let problem = index.at_node(ProblemCode::AgentChanged, placed.node, message);
        report.warnings.push(problem.expected(format!("the {side}s {names}")));
    }
}

type Pins = Map<String, Value>;

/// The sides of an interface of which the node has a copy: the copy, and the real one.
pub(crate) fn copies<'a>(
    node: &'a Node,
    agent: &'a AgentInterface,
) -> Vec<(&'static str, &'a Pins, &'a Pins)> {
    let sides = [
        ("input", "input_schema", &agent.input_schema),
        ("output", "output_schema", &agent.output_schema),
    ];
    let both = |(side, setting, real): (&'static str, &str, &'a Value)| {
        let copy = node.input_default.get(setting).and_then(properties)?;
        Some((side, copy, properties(real)?)).filter(|_| !copy.is_empty())
    };
    sides.into_iter().filter_map(both).collect()
}

/// Reports links to pins that the agent does not have. The block itself takes any pin, because it does not know the
/// agent.
fn unknown_pins(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    agent: Option<&AgentInterface>,
) -> Vec<GraphProblem> {
    let Some(spec) = placed.spec else { return Vec::new() };
    let node = placed.node;
    let copy = |name: &str| node.input_default.get(name).and_then(properties);
    let inputs = agent.map_or(copy("input_schema"), |agent| properties(&agent.input_schema));
    let outputs = agent.map_or(copy("output_schema"), |agent| properties(&agent.output_schema));
    let mut problems = Vec::new();
    // Without known pins, nothing can be said about others.
    let inputs = inputs.filter(|inputs| agent.is_some() || !inputs.is_empty());
    for link in index.arriving(&node.id) {
        let pin = pins::base(&link.sink_name);
        let is_known = |inputs: &Pins| inputs.contains_key(pin);
        let is_reported = matches!(node_pins::input(node, spec, pin), PinSchema::Missing);
        if inputs.is_none_or(is_known) || spec.input(pin).is_some() || is_reported {
            continue;
        }
        let names = inputs.into_iter().flatten().map(|(name, _)| name.as_str());
        let meant = index.meant(pin, names);
        let message = format!("The agent that {placed} runs has no input `{pin}`.");
        let problem = index.at_link(ProblemCode::UnknownInput, link, message).got(pin);
        problems.push(GraphProblem { expected: meant, ..problem });
    }
    let outputs = outputs.filter(|outputs| agent.is_some() || !outputs.is_empty());
    for link in
        index.leaving(&node.id).iter().filter(|link| index.nodes.contains_key(&link.sink_id))
    {
        let pin = pins::base(&link.source_name);
        let is_known = |outputs: &Pins| outputs.contains_key(pin);
        let is_reported = matches!(node_pins::output(node, spec, pin), PinSchema::Missing);
        if outputs.is_none_or(is_known) || pin == "error" || is_reported {
            continue;
        }
        let names = outputs.into_iter().flatten().map(|(name, _)| name.as_str());
        let meant = index.meant(pin, names);
        let message = format!("The agent that {placed} runs has no output `{pin}`.");
        let problem = index.at_link(ProblemCode::UnknownOutput, link, message).got(pin);
        problems.push(GraphProblem { expected: meant, ..problem });
    }
    problems
}

fn properties(schema: &Value) -> Option<&Pins> {
    schema.get("properties")?.as_object()
}

/// The first difference that matters: a pin that is missing on either side, or that has another type.
pub(crate) fn difference(copy: &Pins, real: &Pins) -> Option<String> {
    let gone = copy.keys().find(|pin| !real.contains_key(*pin));
    if let Some(pin) = gone {
        return Some(format!("the agent has no `{pin}`"));
    }
    for (pin, schema) in real {
        let Some(copied) = copy.get(pin) else { return Some(format!("`{pin}` is new")) };
        let (was, is) = (TypeSet::of(copied), TypeSet::of(schema));
        if !was.intersects(is) {
            return Some(format!("`{pin}` is {is}, not {was}"));
        }
    }
    None
}
