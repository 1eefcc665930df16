//! Which agents of a user run another one.

use graphs::AGENT_EXECUTOR;
use ports::PortResult;
use protocol::graph::StoredGraph;
use protocol::graph_diff::{AgentUse, AgentUseKind};
use protocol::{GraphId, UserId};
use serde_json::Value;

use crate::Engine;

/// How many agents are listed.
const MAX_USES: u32 = 100;

impl Engine {
    /// The user's agents whose active version runs the agent as a step, with the version of it that they run.
    pub(crate) async fn agents_that_run(
        &self,
        user: &UserId,
        id: &GraphId,
    ) -> PortResult<Vec<AgentUse>> {
        let found = self.inner.ports.graphs.mentioning(user, id, MAX_USES).await?;
        Ok(found.iter().flat_map(|stored| uses(stored, id)).collect())
    }
}

/// One entry for each version that it runs.
fn uses(stored: &StoredGraph, id: &GraphId) -> Vec<AgentUse> {
    let graph = &stored.graph;
    let runs = graph.nodes.iter().filter(|node| {
        let runs = node.input_default.get("graph_id").and_then(Value::as_str);
        node.block_id.as_str() == AGENT_EXECUTOR && runs == Some(id.as_str())
    });
    let mut versions: Vec<Option<u32>> = runs
        .map(|node| {
            let version = node.input_default.get("graph_version").and_then(Value::as_u64);
            version.and_then(|version| u32::try_from(version).ok())
        })
        .collect();
    versions.sort_unstable();
    versions.dedup();
    let one = |version| AgentUse {
        kind: AgentUseKind::Agent,
        id: graph.id.to_string(),
        name: graph.name.clone(),
        version,
    };
    versions.into_iter().map(one).collect()
}
