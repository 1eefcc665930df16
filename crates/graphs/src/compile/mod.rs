//! Compiles a spec into a graph: names become ids, references become links, texts with `{{…}}` become steps that fill
//! them. The same spec always compiles to the same bytes.

pub(crate) mod layout;
mod values;

use std::collections::{HashMap, HashSet};

use protocol::block::BlockSpec;
use protocol::graph::{Graph, GraphProblem, Link, Node};
use protocol::{BlockId, GraphId, NodeId};
use serde_json::{Map, Value, json};

use crate::AGENT_EXECUTOR;
use crate::catalog::{AgentInterface, BlockSpecs, KnownAgents, find_block, similar_blocks};
use crate::derived_id::derived_id;
use crate::names::{GENERATED_FOR, NodeName, NodeNames, STEP};
use crate::placeholders::KnownNames;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::spec::references::SpecNames;
use crate::spec::{AgentSpec, StepSpec, StepTarget};

/// The block of an agent's outputs.
pub const AGENT_OUTPUT: &str = "363ae599-353e-4804-937e-b2ee3cef3da4";

/// What a spec is compiled with.
#[derive(Clone, Copy)]
pub struct CompileContext<'a> {
    pub blocks: &'a dyn BlockSpecs,
    pub agents: &'a dyn KnownAgents,
    /// The id of the agent. Ids of nodes and links are derived from it.
    pub id: &'a GraphId,
    /// An earlier version of the agent: steps that it has keep their ids and positions.
    pub previous: Option<&'a Graph>,
}

/// A graph, and what is wrong with the spec. With problems, the graph is a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledAgent {
    pub graph: Graph,
    pub problems: Vec<GraphProblem>,
}

pub fn compile(spec: &AgentSpec, context: CompileContext<'_>) -> CompiledAgent {
    let mut earlier = HashMap::new();
    if let Some(previous) = context.previous {
        let names = NodeNames::of(previous, context.blocks);
        for node in &previous.nodes {
            earlier.insert(names.name(&node.id).clone(), node);
        }
    }
    let CompiledNodes { graph, problems, .. } = compile_onto(spec, context, earlier);
    CompiledAgent { graph, problems }
}

/// A compiled agent with the indexes of its nodes by name.
pub(crate) struct CompiledNodes {
    pub(crate) graph: Graph,
    pub(crate) nodes: HashMap<NodeName, usize>,
    pub(crate) problems: Vec<GraphProblem>,
}

/// Compiles onto nodes of the earlier version that are given by their names in the spec, which may be new ones.
pub(crate) fn compile_onto(
    spec: &AgentSpec,
    context: CompileContext<'_>,
    earlier: HashMap<NodeName, &Node>,
) -> CompiledNodes {
    let mut compiler = Compiler::new(spec, context, earlier);
    for (name, input) in &spec.inputs {
        let mut settings = Map::from_iter([("name".to_owned(), json!(name))]);
        settings.extend(input.settings.clone());
        let block = compiler.block_id(&input.block, &format!("inputs.{name}"));
        compiler.add_node(NodeName::Input(name.clone()), block, settings, Map::new());
    }
    for (name, step) in &spec.steps {
        compiler.add_step(name, step);
    }
    for (name, output) in &spec.outputs {
        let mut settings = Map::from_iter([("name".to_owned(), json!(name))]);
        settings.extend(output.settings.clone());
        let node = NodeName::Output(name.clone());
        compiler.add_node(node.clone(), BlockId::from(AGENT_OUTPUT), settings, Map::new());
        if let Some(from) = &output.from {
            compiler.add_value(&node, "value", from, &format!("outputs.{name}"));
        }
    }
    compiler.finish()
}

struct Compiler<'a> {
    spec: &'a AgentSpec,
    names: SpecNames<'a>,
    context: CompileContext<'a>,
    /// The nodes of the earlier version, by their names in the spec.
    earlier: HashMap<NodeName, &'a Node>,
    /// Ids that belong to nodes of the earlier version.
    taken: HashSet<&'a NodeId>,
    graph: Graph,
    /// Indexes of the nodes in the graph.
    nodes: HashMap<NodeName, usize>,
    links: HashSet<String>,
    problems: Vec<GraphProblem>,
}

impl<'a> Compiler<'a> {
    fn new(
        spec: &'a AgentSpec,
        context: CompileContext<'a>,
        earlier: HashMap<NodeName, &'a Node>,
    ) -> Self {
        let base = context.previous;
        let graph = Graph {
            id: context.id.clone(),
            version: base.map_or(1, |base| base.version),
            is_active: base.is_none_or(|base| base.is_active),
            name: spec.name.clone(),
            description: spec.description.clone(),
            instructions: spec.instructions.clone(),
            recommended_schedule_cron: spec.recommended_schedule.clone(),
            forked_from_id: base.and_then(|base| base.forked_from_id.clone()),
            forked_from_version: base.and_then(|base| base.forked_from_version),
            sub_graphs: base.map_or_else(Vec::new, |base| base.sub_graphs.clone()),
            ..Graph::default()
        };
        Self {
            spec,
            names: SpecNames::of(spec),
            context,
            taken: earlier.values().map(|node| &node.id).collect(),
            earlier,
            graph,
            nodes: HashMap::new(),
            links: HashSet::new(),
            problems: Vec::new(),
        }
    }

    fn add_step(&mut self, name: &str, step: &StepSpec) {
        let path = format!("steps.{name}");
        let node = NodeName::Step(name.to_owned());
        let mut metadata = Map::from_iter([(STEP.to_owned(), json!(name))]);
        if let Some(label) = &step.label {
            metadata.insert("customized_name".to_owned(), json!(label));
        }
        match &step.runs {
            StepTarget::Block(block) => {
                let block = self.block_id(block, &path);
                self.add_node(node.clone(), block, Map::new(), metadata);
                for (pin, value) in &step.pins {
                    self.add_value(&node, pin, value, &format!("{path}.{pin}"));
                }
                self.add_implied_values(name, step);
            }
            StepTarget::Agent { id, version } => {
                let settings = self.agent_settings(&node, id, *version, &path);
                self.add_node(node.clone(), BlockId::from(AGENT_EXECUTOR), settings, metadata);
                for (pin, value) in &step.pins {
                    self.add_value(&node, pin, value, &format!("{path}.{pin}"));
                }
            }
        }
    }

    /// The settings of a node that runs another agent, whose schemas become the pins of the node.
    fn agent_settings(
        &mut self,
        node: &NodeName,
        id: &GraphId,
        version: Option<u32>,
        path: &str,
    ) -> Map<String, Value> {
        let mut settings = Map::new();
        if let Some(AgentInterface { version, name, input_schema, output_schema, .. }) =
            self.context.agents.agent(id, version)
        {
            settings.insert("graph_id".to_owned(), json!(id));
            settings.insert("graph_version".to_owned(), json!(version));
            settings.insert("agent_name".to_owned(), json!(name));
            settings.insert("input_schema".to_owned(), input_schema);
            settings.insert("output_schema".to_owned(), output_schema);
            settings.insert("inputs".to_owned(), json!({}));
            return settings;
        }
        let message = match version {
            Some(version) => format!("There is no version {version} of the agent {id}."),
            None => format!("There is no agent {id}."),
        };
        let problem = ProblemCode::UnknownAgent.at(format!("{path}.agent"), message);
        self.problems.push(GraphProblem { node_id: Some(self.id_of(node)), ..problem });
        settings.insert("graph_id".to_owned(), json!(id));
        settings.insert("graph_version".to_owned(), json!(version.unwrap_or(1)));
        settings.insert("inputs".to_owned(), json!({}));
        settings
    }

    /// The id of a block that is given by name. An unknown one is reported and kept, so that drafts lose nothing.
    fn block_id(&mut self, name: &str, path: &str) -> BlockId {
        if let Some(spec) = find_block(self.context.blocks, name) {
            return BlockId::from(spec.id);
        }
        // An id that this server does not have is reported by the validation, like in every graph.
        if !looks_like_id(name) {
            let similar = similar_blocks(self.context.blocks, name);
            let mut problem = ProblemCode::UnknownBlock
                .at(format!("{path}.block"), format!("There is no block “{name}”."))
                .got(name);
            if !similar.is_empty() {
                problem = problem.expected(similar.join(", "));
            }
            self.problems.push(problem);
        }
        BlockId::from(name)
    }

    fn add_node(
        &mut self,
        name: NodeName,
        block: BlockId,
        settings: Map<String, Value>,
        mut metadata: Map<String, Value>,
    ) {
        if let Some(earlier) = self.earlier.get(&name) {
            for (key, value) in &earlier.metadata {
                let is_ours = [STEP, GENERATED_FOR, "customized_name"].contains(&key.as_str());
                if !is_ours {
                    metadata.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        let id = self.id_of(&name);
        self.nodes.insert(name, self.graph.nodes.len());
        self.graph.nodes.push(Node { id, block_id: block, input_default: settings, metadata });
    }

    fn id_of(&self, name: &NodeName) -> NodeId {
        match self.earlier.get(name) {
            Some(earlier) => earlier.id.clone(),
            None => self.new_id(name),
        }
    }

    /// A node that was renamed keeps the id of its first name, so a new node of that name needs another one.
    fn new_id(&self, name: &NodeName) -> NodeId {
        let parts = [self.context.id.as_str(), name.kind(), name.as_str()];
        let first = NodeId(derived_id(&parts));
        let others = (2_u32..).map(|number| {
            let [agent, kind, name] = parts;
            NodeId(derived_id(&[agent, kind, name, &number.to_string()]))
        });
        let mut candidates = std::iter::once(first.clone()).chain(others);
        candidates.find(|id| !self.taken.contains(id)).unwrap_or(first)
    }

    fn block(&self, name: &NodeName) -> Option<&'a BlockSpec> {
        let node = &self.graph.nodes[*self.nodes.get(name)?];
        self.context.blocks.spec(&node.block_id)
    }

    fn settings(&mut self, name: &NodeName) -> Option<&mut Map<String, Value>> {
        let at = *self.nodes.get(name)?;
        Some(&mut self.graph.nodes[at].input_default)
    }

    fn finish(mut self) -> CompiledNodes {
        let blocks = self.context.blocks;
        let is_static: HashMap<&NodeId, bool> = self
            .graph
            .nodes
            .iter()
            .map(|node| (&node.id, blocks.spec(&node.block_id).is_some_and(|s| s.static_output)))
            .collect();
        for link in &mut self.graph.links {
            link.is_static = is_static.get(&link.source_id).copied().unwrap_or(false);
        }
        layout::place(&mut self.graph);
        CompiledNodes { graph: self.graph, nodes: self.nodes, problems: self.problems }
    }

    fn add_link(&mut self, source: (NodeId, String), sink: (NodeId, String)) {
        let parts = [source.0.as_str(), &source.1, sink.0.as_str(), &sink.1];
        let link = Link {
            id: derived_id(&parts),
            source_id: source.0,
            sink_id: sink.0,
            source_name: source.1,
            sink_name: sink.1,
            is_static: false,
        };
        if self.links.insert(link.id.clone()) {
            self.graph.links.push(link);
        }
    }
}

impl KnownNames for Compiler<'_> {
    fn is_step(&self, name: &str) -> bool {
        self.names.is_step(name)
    }

    fn is_input(&self, name: &str) -> bool {
        self.names.is_input(name)
    }
}

/// Whether the name of a block is written like an id.
fn looks_like_id(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
