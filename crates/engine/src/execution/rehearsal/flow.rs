//! An agent and the agents that it runs as one graph, so that a value can be followed back to where it comes from.

use std::collections::{HashMap, HashSet, VecDeque};

use graphs::catalog::BlockSpecs;
use graphs::names::NodeNames;
use graphs::samples::PASSED_ON;
use graphs::{AGENT_EXECUTOR, pins, schema};
use ports::PortResult;
use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::{Graph, Node};
use protocol::{GraphId, NodeId, UserId};
use serde_json::Value;

use crate::EngineInner;
use crate::graph::BlockCatalog;

/// How many agents are looked into, and how deep they may be nested.
const MAX_AGENTS: usize = 20;
const MAX_DEPTH: usize = 3;
const MAX_NODES: usize = 5_000;

/// The agents that an agent runs, directly and indirectly.
#[derive(Default)]
pub(crate) struct InnerAgents(HashMap<(GraphId, u32), Graph>);

impl InnerAgents {
    pub(crate) async fn load(
        inner: &EngineInner,
        user: &UserId,
        graph: &Graph,
    ) -> PortResult<Self> {
        let mut found = HashMap::new();
        let mut missing = HashSet::new();
        let mut next: VecDeque<(GraphId, u32)> = graph.nodes.iter().filter_map(runs).collect();
        while let Some((id, version)) = next.pop_front() {
            let key = (id, version);
            if found.contains_key(&key) || missing.contains(&key) || found.len() >= MAX_AGENTS {
                continue;
            }
            match inner.ports.graphs.get(user, &key.0, Some(version)).await? {
                Some(stored) => {
                    next.extend(stored.graph.nodes.iter().filter_map(runs));
                    found.insert(key, stored.graph);
                }
                None => {
                    missing.insert(key);
                }
            }
        }
        Ok(Self(found))
    }
}

/// The agent that a node runs.
fn runs(node: &Node) -> Option<(GraphId, u32)> {
    if node.block_id.as_str() != AGENT_EXECUTOR {
        return None;
    }
    let id = node.input_default.get("graph_id")?.as_str()?;
    let version = node.input_default.get("graph_version").and_then(Value::as_u64)?;
    Some((GraphId::from(id), u32::try_from(version).ok()?))
}

/// A node of the agent, or of an agent inside it.
pub(crate) struct FlowNode<'a> {
    /// The node, after the nodes that run the agents around it.
    pub(crate) path: Vec<NodeId>,
    /// Its step, after the steps that run the agents around it.
    pub(crate) name: String,
    pub(crate) node: &'a Node,
    pub(crate) spec: &'a BlockSpec,
}

impl FlowNode<'_> {
    pub(crate) fn is_inside(&self) -> bool {
        self.path.len() > 1
    }
}

/// An output of a node.
pub(crate) type FlowPin<'a> = (usize, &'a str);

#[derive(Default)]
pub(crate) struct Flow<'a> {
    pub(crate) nodes: Vec<FlowNode<'a>>,
    /// By sink: the outputs that lead to it, and the input that they lead to.
    arriving: Vec<Vec<(FlowPin<'a>, &'a str)>>,
    /// The node that runs the agent of a node.
    runner: Vec<Option<usize>>,
    /// The outputs of the agent that a node runs, by name.
    outputs: HashMap<usize, HashMap<&'a str, usize>>,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        agents: &'a InnerAgents,
        catalog: &'a BlockCatalog,
    ) -> Self {
        let mut flow = Self::default();
        flow.add(graph, None, agents, catalog);
        flow
    }

    fn add(
        &mut self,
        graph: &'a Graph,
        runner: Option<usize>,
        agents: &'a InnerAgents,
        catalog: &'a BlockCatalog,
    ) {
        let (path, prefix) = match runner.map(|runner| &self.nodes[runner]) {
            Some(runner) => (runner.path.clone(), format!("{}/", runner.name)),
            None => (Vec::new(), String::new()),
        };
        let names = NodeNames::of(graph, catalog);
        let mut by_id: HashMap<&NodeId, usize> = HashMap::new();
        for node in &graph.nodes {
            let Some(spec) = catalog.spec(&node.block_id) else { continue };
            let at = self.nodes.len();
            let own = names.get(&node.id).map(|name| name.as_str()).unwrap_or_default();
            self.nodes.push(FlowNode {
                path: path.iter().chain([&node.id]).cloned().collect(),
                name: format!("{prefix}{own}"),
                node,
                spec,
            });
            self.arriving.push(Vec::new());
            self.runner.push(runner);
            by_id.insert(&node.id, at);
            if let (BlockKind::Output, Some(runner), Some(name)) =
                (spec.kind, runner, schema::interface_name(node))
            {
                self.outputs.entry(runner).or_default().insert(name, at);
            }
        }
        for link in &graph.links {
            let ends = (by_id.get(&link.source_id), by_id.get(&link.sink_id));
            let (Some(&source), Some(&sink)) = ends else { continue };
            let from = (source, pins::base(&link.source_name));
            self.arriving[sink].push((from, pins::base(&link.sink_name)));
        }
        for at in by_id.into_values() {
            let inner = runs(self.nodes[at].node).and_then(|key| agents.0.get(&key));
            let Some(inner) = inner else { continue };
            let fits = self.nodes.len() + inner.nodes.len() <= MAX_NODES && path.len() < MAX_DEPTH;
            if fits {
                self.add(inner, Some(at), agents, catalog);
            }
        }
    }

    /// The outputs on which a value of this output depends. For an agent that is looked into: those inside it.
    pub(crate) fn behind(&self, (at, pin): FlowPin<'a>) -> Vec<FlowPin<'a>> {
        if let Some(outputs) = self.outputs.get(&at) {
            return outputs.get(pin).map(|output| (*output, "output")).into_iter().collect();
        }
        if self.nodes[at].spec.kind == BlockKind::Input {
            let Some(runner) = self.runner[at] else { return Vec::new() };
            let name = schema::interface_name(self.nodes[at].node);
            let given = self.arriving[runner].iter().filter(|(_, input)| Some(*input) == name);
            return given.map(|(from, _)| *from).collect();
        }
        let compared = self.arriving[at].iter().filter(|(_, input)| !PASSED_ON.contains(input));
        compared.map(|(from, _)| *from).collect()
    }

    /// The linked outputs of the agent's own nodes, each once, in the order of the graph.
    pub(crate) fn linked_pins(&self) -> Vec<FlowPin<'a>> {
        let mut found: Vec<FlowPin<'a>> = Vec::new();
        let mut seen = HashSet::new();
        for links in &self.arriving {
            for (from, _) in links {
                if !self.nodes[from.0].is_inside() && seen.insert(*from) {
                    found.push(*from);
                }
            }
        }
        found.sort_by_key(|(at, _)| *at);
        found
    }

    /// The agent's own nodes that can be reached from this one.
    pub(crate) fn downstream(&self, at: usize) -> HashSet<usize> {
        let mut leaving: HashMap<usize, Vec<usize>> = HashMap::new();
        for (sink, links) in self.arriving.iter().enumerate() {
            for ((source, _), _) in links {
                leaving.entry(*source).or_default().push(sink);
            }
        }
        let mut seen = HashSet::new();
        let mut next = vec![at];
        while let Some(one) = next.pop() {
            for sink in leaving.get(&one).into_iter().flatten() {
                if seen.insert(*sink) {
                    next.push(*sink);
                }
            }
        }
        seen
    }
}
