//! `ListLibraryAgentsBlock`: lists the agents of the user's library, in pages.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Library;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::library::LibraryAgent;
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::super::{BlockDependencies, failures};
use crate::search;

pub(super) struct ListLibraryAgents {
    spec: BlockSpec,
    library: Arc<dyn Library>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ListLibraryAgentsInput {
    /// Words to search for. Leave empty to list all agents.
    #[serde(default)]
    search_query: Option<String>,
    /// The number of agents per page.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// The page number, starting at 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    page: usize,
}

fn fifty() -> usize {
    50
}

fn one() -> usize {
    1
}

impl ListLibraryAgents {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "082602d3-a74d-4600-9e9c-15b3af7eae98",
            name: "ListLibraryAgentsBlock",
            description: "Lists the agents in your library, optionally filtered by a search.",
            categories: &[BlockCategory::Basic, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<ListLibraryAgentsInput>(),
            outputs: typed::outputs([
                typed::list("agents", "The agents on this page."),
                typed::object(
                    "agent",
                    "Each agent, emitted one at a time: its IDs, name and description.",
                ),
                typed::integer("total_count", "The total number of agents found."),
                typed::integer("page", "The page number."),
                typed::integer("total_pages", "The total number of pages."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, library: dependencies.library.clone() })
    }
}

#[async_trait]
impl TypedBlock for ListLibraryAgents {
    type Input = ListLibraryAgentsInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: ListLibraryAgentsInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let all = self.library.list(&context.user).await.map_err(failures::storage)?;
        let visible = all.into_iter().filter(|agent| !agent.is_hidden);
        let query = input.search_query.as_deref().unwrap_or_default();
        let found = search::rank(query, visible, |agent| vec![&agent.name, &agent.description]);
        let (size, page) = (input.limit.clamp(1, 100), input.page.max(1));
        let first = (page - 1).saturating_mul(size);
        let agents: Vec<Value> =
            found.iter().skip(first).take(size).map(|(_, agent)| agent_json(agent)).collect();
        out.emit("agents", Value::Array(agents.clone())).await?;
        out.emit("total_count", json!(found.len())).await?;
        out.emit("page", json!(page)).await?;
        out.emit("total_pages", json!(found.len().div_ceil(size))).await?;
        for agent in agents {
            out.emit("agent", agent).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "search_query": "zzyzx qwxyzzk" }),
            vec![
                ("agents", json!([])),
                ("total_count", json!(0)),
                ("page", json!(1)),
                ("total_pages", json!(0)),
            ],
        )]
    }
}

fn agent_json(agent: &LibraryAgent) -> Value {
    json!({
        "library_agent_id": agent.id,
        "agent_id": agent.graph_id,
        "agent_version": agent.graph_version,
        "agent_name": agent.name,
        "description": agent.description,
        "creator": agent.creator.as_deref().unwrap_or_default(),
        "is_archived": false,
        "categories": [],
    })
}
