//! A graph as a spec, with the nodes that the names of the spec stand for.

use std::collections::HashMap;

use protocol::NodeId;
use protocol::graph::{Graph, Node};

use crate::catalog::BlockSpecs;
use crate::decompile::decompile_as;
use crate::names::{NodeName, NodeNames, ReservedNames};
use crate::spec::AgentSpec;

pub(crate) struct NamedGraph<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) spec: AgentSpec,
    /// The ids of the nodes, by name.
    pub(crate) ids: HashMap<NodeName, NodeId>,
}

impl<'a> NamedGraph<'a> {
    /// Texts that look like references to reserved names are marked as literals.
    pub(crate) fn read(graph: &'a Graph, blocks: &dyn BlockSpecs, reserved: ReservedNames) -> Self {
        let names = NodeNames::with_reserved(graph, blocks, reserved);
        let named = |node: &Node| (names.name(&node.id).clone(), node.id.clone());
        let ids = graph.nodes.iter().map(named).collect();
        Self { graph, spec: decompile_as(graph, blocks, names), ids }
    }

    /// Reads two graphs so that their specs can be compared: both mark the same texts as literals.
    pub(crate) fn read_both(
        a: &'a Graph,
        b: &'a Graph,
        blocks: &dyn BlockSpecs,
    ) -> (NamedGraph<'a>, NamedGraph<'a>) {
        let names_of = |graph: &'a Graph| {
            let spec = Self::read(graph, blocks, ReservedNames::default()).spec;
            ReservedNames {
                steps: spec.steps.into_iter().map(|(name, _)| name).collect(),
                inputs: spec.inputs.into_iter().map(|(name, _)| name).collect(),
            }
        };
        (Self::read(a, blocks, names_of(b)), Self::read(b, blocks, names_of(a)))
    }

    /// The nodes by name, where the names may be others than those of the graph.
    pub(crate) fn nodes(&self, ids: &HashMap<NodeName, NodeId>) -> HashMap<NodeName, &'a Node> {
        let nodes: HashMap<&NodeId, &Node> =
            self.graph.nodes.iter().map(|node| (&node.id, node)).collect();
        let known = |(name, id): (&NodeName, &NodeId)| Some((name.clone(), *nodes.get(id)?));
        ids.iter().filter_map(known).collect()
    }
}
