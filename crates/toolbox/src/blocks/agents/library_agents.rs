//! `ListLibraryAgentsBlock`: the agents of the user's library, page by page.

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

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use crate::search;

pub(super) struct ListLibraryAgents {
    spec: BlockSpec,
    library: Arc<dyn Library>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// Words to look for. Without them all agents are found.
    #[serde(default)]
    search_query: Option<String>,
    /// Agents on a page.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// The page, from 1.
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
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "082602d3-a74d-4600-9e9c-15b3af7eae98",
            name: "ListLibraryAgentsBlock",
            description: "Lists the agents of your library, all of them or those that match some words.",
            categories: &[BlockCategory::Basic, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::list("agents", "The agents of the page."),
                typed::object("agent", "One agent after the other: its ids, name and description."),
                typed::integer("total_count", "How many agents were found."),
                typed::integer("page", "The page."),
                typed::integer("total_pages", "How many pages there are."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, library: parts.library.clone() })
    }
}

#[async_trait]
impl TypedBlock for ListLibraryAgents {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let all = self.library.list(&context.user).await.map_err(failures::storage)?;
        let shown_ones = all.into_iter().filter(|agent| !agent.is_hidden);
        let query = given.search_query.as_deref().unwrap_or_default();
        let found = search::rank(query, shown_ones, |agent| vec![&agent.name, &agent.description]);
        let (size, page) = (given.limit.clamp(1, 100), given.page.max(1));
        let first = (page - 1).saturating_mul(size);
        let agents: Vec<Value> =
            found.iter().skip(first).take(size).map(|(_, agent)| shown(agent)).collect();
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

fn shown(agent: &LibraryAgent) -> Value {
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
