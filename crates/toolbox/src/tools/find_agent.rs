//! `find_agent`: finds marketplace agents by words or by `username/slug`.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::library::Listing;
use protocol::response::{AgentInfo, ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::search;
use crate::tools::agent_lookup::{self, AgentLookup};
use crate::tools::{ToolDefinition, TypedTool, waiting};

/// Agents that one search returns.
const SHOWN: usize = 5;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(FindAgent { lookup: AgentLookup::new(services) }))
}

struct FindAgent {
    lookup: AgentLookup,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindAgentArguments {
    /// Keywords, at most 100 characters, or "username/slug" for one agent.
    query: String,
}

impl FindAgent {
    async fn search(&self, query: &str) -> Result<Vec<(Option<f64>, Listing)>, ToolError> {
        if let Some(exact) = self.lookup.listing(query).await? {
            return Ok(vec![(None, exact)]);
        }
        let all = self.lookup.listings.list().await?;
        let ranked = search::rank(query, all, |listing| {
            vec![&listing.name, &listing.sub_heading, &listing.description, &listing.slug]
        });
        let best = ranked.into_iter().take(SHOWN);
        Ok(best.map(|(score, listing)| (Some(score), listing)).collect())
    }

    async fn shown(
        &self,
        context: &ToolContext,
        score: Option<f64>,
        listing: &Listing,
    ) -> Result<AgentInfo, ToolError> {
        let mut info = AgentInfo { match_score: score, ..agent_lookup::from_listing(listing) };
        if let Some(user) = context.owner.user() {
            let entry = self.lookup.library.by_graph(user, &listing.graph_id).await?;
            info.in_library = entry.is_some();
        }
        Ok(info)
    }
}

#[async_trait]
impl TypedTool for FindAgent {
    type Arguments = FindAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "find_agent",
            "Search the marketplace for ready-made agents. run_agent runs one by its id \
             (username/slug).",
        )
        .summary("searches the marketplace for agents")
        .effect(ToolEffect::None)
        .labels(
            ToolLabels::new(
                "Marketplace",
                ToolIcon::Store,
                "Searching for agents",
                "Searched for agents",
            )
            .quoted_object(&["query"]),
        )
    }

    async fn call(
        &self,
        arguments: FindAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let FindAgentArguments { query } = arguments;
        let query = agent_lookup::search_term(&query)?;
        if query.is_empty() {
            return Err(ToolError::tell("invalid_arguments", "The query is empty."));
        }
        let work = async {
            let mut agents = Vec::new();
            for (score, listing) in self.search(query).await? {
                agents.push(self.shown(&context, score, &listing).await?);
            }
            Ok(found(query, agents))
        };
        waiting::unless_cancelled(&context.cancel, work).await
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"query": "zyzzyva/qwertz"}), response: "no_results" },
            ToolExample { arguments: json!({"query": " "}), response: "error" },
        ]
    }
}

fn found(query: &str, agents: Vec<AgentInfo>) -> ToolResponse {
    if agents.is_empty() {
        let suggestions = vec![
            "Search with fewer or more general words.".to_owned(),
            "Search the user's library with find_library_agent.".to_owned(),
        ];
        let message = format!("No marketplace agents match {query:?}.");
        return ToolResponse::new(message, ResponseBody::NoResults { suggestions });
    }
    let count = agents.len();
    ToolResponse::new(
        "Show the user the matching agents. run_agent with username_agent_slug returns what an agent needs and runs it.",
        ResponseBody::AgentsFound {
            title: format!("Marketplace agents for {query:?}"),
            agents,
            count,
        },
    )
}
