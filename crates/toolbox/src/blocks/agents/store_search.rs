//! `SearchStoreAgentsBlock`: finds agents in the marketplace.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Listings;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::library::Listing;
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use crate::search;

pub(super) struct SearchStoreAgents {
    spec: BlockSpec,
    listings: Arc<dyn Listings>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// Words to look for. Without them all agents are found.
    #[serde(default)]
    query: Option<String>,
    /// Only agents of this category.
    #[serde(default)]
    category: Option<String>,
    /// The order: `rating` (best match, then popular), `runs`, `name` or `recent`.
    #[serde(default)]
    sort_by: Order,
    /// How many agents are given.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Rating,
    Runs,
    Name,
    Recent,
}

fn ten() -> usize {
    10
}

impl SearchStoreAgents {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "39524701-026c-4328-87cc-1b88c8e2cb4c",
            name: "SearchStoreAgentsBlock",
            description: "Looks for agents in the marketplace by words and category.",
            categories: &[BlockCategory::Basic, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::list("agents", "What was found."),
                typed::object(
                    "agent",
                    "One agent after the other: its slug, creator, name and more.",
                ),
                typed::integer("total_count", "How many were found, given or not."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, listings: parts.listings.clone() })
    }
}

#[async_trait]
impl TypedBlock for SearchStoreAgents {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let listings = self.listings.list().await.map_err(failures::storage)?;
        let found = find(listings, &given);
        let total = found.len();
        let agents: Vec<Value> = found.iter().take(given.limit.clamp(1, 100)).map(shown).collect();
        out.emit("agents", Value::Array(agents.clone())).await?;
        out.emit("total_count", json!(total)).await?;
        for agent in agents {
            out.emit("agent", agent).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "query": "zzyzx qwxyzzk" }),
            vec![("agents", json!([])), ("total_count", json!(0))],
        )]
    }
}

fn find(listings: Vec<Listing>, given: &Given) -> Vec<Listing> {
    let category = given.category.as_deref().filter(|category| !category.is_empty());
    let belongs = |listing: &Listing| {
        category.is_none_or(|wanted| {
            listing.categories.iter().any(|category| category.eq_ignore_ascii_case(wanted))
        })
    };
    let query = given.query.as_deref().unwrap_or_default();
    let mut found: Vec<(f64, Listing)> =
        search::rank(query, listings.into_iter().filter(belongs), |listing| {
            vec![&listing.name, &listing.sub_heading, &listing.description, &listing.slug]
        });
    match given.sort_by {
        Order::Rating => found
            .sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| other.runs.cmp(&one.runs))),
        Order::Runs => found.sort_by_key(|(_, listing)| std::cmp::Reverse(listing.runs)),
        Order::Name => found.sort_by_key(|(_, listing)| listing.name.to_lowercase()),
        Order::Recent => found.sort_by_key(|(_, listing)| std::cmp::Reverse(listing.updated_at)),
    }
    found.into_iter().map(|(_, listing)| listing).collect()
}

/// Nobody rates agents here, so the rating says nothing.
fn shown(listing: &Listing) -> Value {
    json!({
        "slug": listing.slug,
        "name": listing.name,
        "description": listing.description,
        "creator": listing.username,
        "rating": 0.0,
        "runs": listing.runs,
        "categories": listing.categories,
    })
}
