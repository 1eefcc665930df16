//! The display names of an agent's nodes.

use std::collections::HashMap;

use protocol::NodeId;
use protocol::graph::{Graph, Node};
use serde::Deserialize;

use crate::cli::client::{ApiClient, ClientError};

/// By node: its custom name, or the name of its block.
#[derive(Debug, Default)]
pub(crate) struct NodeNames(HashMap<NodeId, String>);

#[derive(Deserialize)]
struct BlockName {
    id: String,
    name: String,
}

impl NodeNames {
    pub(crate) async fn of(
        client: &ApiClient,
        graph: &str,
        version: u32,
    ) -> Result<Self, ClientError> {
        let path = ["graphs", graph, "versions", &version.to_string()];
        let graph: Graph = client.fetch(client.get(&path)).await?;
        let blocks: Vec<BlockName> = client.fetch(client.get(&["blocks"])).await?;
        let blocks: HashMap<String, String> =
            blocks.into_iter().map(|block| (block.id, block.name)).collect();
        Ok(Self::read(&graph, &blocks))
    }

    fn read(graph: &Graph, blocks: &HashMap<String, String>) -> Self {
        let name = |node: &Node| {
            let given = node.metadata.get("customized_name").and_then(|name| name.as_str());
            let given = given.filter(|name| !name.is_empty()).map(str::to_owned);
            given.or_else(|| blocks.get(node.block_id.as_str()).cloned())
        };
        let named = |node: &Node| Some((node.id.clone(), name(node)?));
        Self(graph.nodes.iter().filter_map(named).collect())
    }

    /// Falls back to the id.
    pub(crate) fn get<'a>(&'a self, node: &'a NodeId) -> &'a str {
        self.0.get(node).map_or(node.as_str(), String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_has_its_custom_name_or_the_name_of_its_block() {
        let graph = json!({"nodes": [
            {"id": "a", "block_id": "b1", "metadata": {"customized_name": "Add tax"}},
            {"id": "b", "block_id": "b1", "metadata": {"customized_name": ""}},
            {"id": "c", "block_id": "b2"},
        ]});
        let graph: Graph = serde_json::from_value(graph).expect("a graph");
        let blocks = HashMap::from([("b1".to_owned(), "CalculatorBlock".to_owned())]);
        let names = NodeNames::read(&graph, &blocks);
        let called = ["a", "b", "c"].map(|id| names.get(&id.into()).to_owned());
        assert_eq!(called, ["Add tax", "CalculatorBlock", "c"]);
    }
}
