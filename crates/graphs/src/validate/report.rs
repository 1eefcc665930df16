//! Everything that can be said about an agent before it runs: what keeps it from running, what is probably a mistake, and
//! what it needs from the server and from its user.

use protocol::graph::{Graph, GraphProblem};
use protocol::{BlockId, GraphId, NodeId};
use serde::Serialize;

use super::index::GraphIndex;
use super::{agents, endless_cycles, known_blocks, placeholders, reachability, secret_defaults};
use super::{interface_names, linked_schemas, misspelled};
use crate::catalog::{BlockSpecs, KnownAgents};
use crate::problem::ProblemCode;

#[derive(Clone, Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct GraphReport {
    /// What keeps the agent from running or from ever ending.
    pub errors: Vec<GraphProblem>,
    /// What is probably a mistake, although the agent runs.
    pub warnings: Vec<GraphProblem>,
    pub needs: GraphNeeds,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct GraphNeeds {
    /// Pins that take stored credentials.
    pub credentials: Vec<CredentialsPin>,
    /// Blocks that this server does not have.
    pub blocks: Vec<NeededBlock>,
    /// Agents that steps run and that are not part of the document, except those that are known to exist.
    pub agents: Vec<NeededAgent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct CredentialsPin {
    pub node_id: NodeId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub pin: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct NeededBlock {
    pub id: BlockId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct NeededAgent {
    pub id: GraphId,
    pub version: Option<u32>,
}

impl GraphReport {
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// All problems, errors first.
    pub fn problems(&self) -> impl Iterator<Item = &GraphProblem> {
        self.errors.iter().chain(&self.warnings)
    }

    fn absorb(&mut self, inner: Self, of: &str) {
        let within = |problem: GraphProblem| GraphProblem {
            message: format!("In the agent “{of}” inside it: {}", problem.message),
            // Edits apply to the outer agent, whose steps have other names.
            edit: None,
            ..problem
        };
        self.errors.extend(inner.errors.into_iter().map(within));
        self.warnings.extend(inner.warnings.into_iter().map(within));
        self.needs.credentials.extend(inner.needs.credentials);
        for block in inner.needs.blocks {
            if !self.needs.blocks.contains(&block) {
                self.needs.blocks.push(block);
            }
        }
        for agent in inner.needs.agents {
            if !self.needs.agents.contains(&agent) {
                self.needs.agents.push(agent);
            }
        }
    }
}

/// Checks an agent by all rules. Without `agents`, it is not known which agents exist, and those that steps run are
/// only listed as needs.
pub fn check(
    graph: &Graph,
    blocks: &dyn BlockSpecs,
    agents: Option<&dyn KnownAgents>,
) -> GraphReport {
    // A graph that is too large is not checked further: the limit is there to avoid that work.
    if let Some(problem) = super::too_large(graph) {
        return GraphReport { errors: vec![problem], ..GraphReport::default() };
    }
    let document = agents::DocumentAgents::of(graph, blocks, agents);
    inside(graph, blocks, &document)
}

fn inside(
    graph: &Graph,
    blocks: &dyn BlockSpecs,
    document: &agents::DocumentAgents<'_>,
) -> GraphReport {
    if graph.nodes.is_empty() {
        let empty = ProblemCode::Empty.of_graph("The graph has no nodes.");
        return GraphReport { errors: vec![empty], ..GraphReport::default() };
    }
    let index = GraphIndex::read(graph, blocks);
    let mut report = GraphReport { errors: super::rules(&index), ..GraphReport::default() };
    report.errors.extend(linked_schemas::check(&index));
    report.errors.extend(endless_cycles::check(&index));
    agents::check(&index, document, &mut report);
    report.warnings.extend(interface_names::check(&index));
    report.warnings.extend(misspelled::check(&index));
    report.warnings.extend(placeholders::check(&index));
    report.warnings.extend(reachability::check(&index));
    report.warnings.extend(secret_defaults::check(&index));
    report.needs.blocks = missing_blocks(&index);
    report.needs.credentials = credentials(&index);
    for sub_graph in &graph.sub_graphs {
        report.absorb(inside(sub_graph, blocks, document), &sub_graph.name);
    }
    report
}

fn missing_blocks(index: &GraphIndex<'_>) -> Vec<NeededBlock> {
    let mut needed: Vec<NeededBlock> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for placed in index.in_order().filter(|placed| placed.spec.is_none()) {
        let id = &placed.node.block_id;
        if seen.insert(id) {
            let name = known_blocks::name(id).map(str::to_owned);
            needed.push(NeededBlock { id: id.clone(), name });
        }
    }
    needed
}

fn credentials(index: &GraphIndex<'_>) -> Vec<CredentialsPin> {
    let mut needed = Vec::new();
    for placed in index.in_order() {
        for pin in placed.spec.into_iter().flat_map(|spec| spec.credentials()) {
            needed.push(CredentialsPin {
                node_id: placed.node.id.clone(),
                step: index.step(&placed.node.id).map(str::to_owned),
                pin: pin.name.to_owned(),
                title: pin.title.to_owned(),
                provider: pin.provider.map(str::to_owned),
            });
        }
    }
    needed
}
