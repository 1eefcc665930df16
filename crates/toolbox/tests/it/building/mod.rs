//! Agents as documents, with the real blocks: specs, round trips, validation.

mod diffs;
mod edits;
mod faulty_agents;
mod good_agents;
mod guide;
mod mutations;
mod round_trip;

use std::path::Path;
use std::sync::Arc;

use graphs::catalog::{AgentInterface, BlockSpecs};
use graphs::schema::{input_schema, output_schema};
use pilothouse_toolbox::{blocks, examples};
use ports::Block;
use protocol::BlockId;
use protocol::block::BlockSpec;
use protocol::graph::Graph;

use crate::blocks::world;

/// All blocks of this server.
pub(crate) struct AllBlocks(Vec<Arc<dyn Block>>);

pub(crate) fn all_blocks() -> AllBlocks {
    AllBlocks(blocks::all(&world::dependencies()))
}

impl BlockSpecs for AllBlocks {
    fn spec(&self, id: &BlockId) -> Option<&BlockSpec> {
        self.specs().find(|spec| spec.id == id.as_str())
    }

    fn specs(&self) -> Box<dyn Iterator<Item = &BlockSpec> + '_> {
        Box::new(self.0.iter().map(|block| block.spec()))
    }
}

/// The example agents of every installation, and the agent files that other installations exported.
pub(crate) fn agents() -> Vec<(String, Graph)> {
    let mut agents: Vec<(String, Graph)> = examples::all()
        .into_iter()
        .map(|example| (example.slug.to_owned(), example.graph))
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_name().is_some_and(|name| name != "blocks.json"))
        .collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("the file");
        let graph: Graph = serde_json::from_str(&text).expect("a graph");
        agents.push((path.file_name().expect("a name").to_string_lossy().into_owned(), graph));
    }
    agents
}

/// The agents inside a file, by the ids that its nodes use.
pub(crate) fn inner_agents(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<AgentInterface> {
    let mut found = Vec::new();
    for inner in &graph.sub_graphs {
        found.push(AgentInterface {
            id: inner.id.clone(),
            version: inner.version,
            name: inner.name.clone(),
            input_schema: input_schema(inner, blocks),
            output_schema: output_schema(inner, blocks),
        });
        found.extend(inner_agents(inner, blocks));
    }
    found
}
