//! `SearchStoreAgentsBlock`: searches the marketplace.

use ports::Listings;
use protocol::library::Listing;

use crate::blocks::prelude::*;
use crate::search;

#[derive(Deserialize, JsonSchema)]
struct SearchStoreAgentsInput {
    /// Words to search for. Leave empty to find all agents.
    #[serde(default)]
    query: Option<String>,
    /// Only include agents in this category.
    #[serde(default)]
    category: Option<String>,
    /// The sort order: `rating` (best match, then most run), `runs`, `name` or `recent`.
    #[serde(default)]
    sort_by: ListingOrder,
    /// The maximum number of agents to return.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ListingOrder {
    #[default]
    Rating,
    Runs,
    Name,
    Recent,
}

fn ten() -> usize {
    10
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "39524701-026c-4328-87cc-1b88c8e2cb4c",
        "SearchStoreAgentsBlock",
        "Searches the marketplace for agents by words and category.",
    )
    .categories(&[BlockCategory::Basic, BlockCategory::Data])
    .outputs([
        pin::list("agents", "The agents found."),
        pin::object(
            "agent",
            "Each agent, emitted one at a time: its slug, creator, name and more.",
        ),
        pin::integer(
            "total_count",
            "The total number of matches, including those beyond the limit.",
        ),
    ]);
    let examples = vec![BlockExample::exactly(
        json!({ "query": "zzyzx qwxyzzk" }),
        vec![("agents", json!([])), ("total_count", json!(0))],
    )];
    vec![block(spec, examples, SearchStoreAgents { listings: dependencies.listings.clone() })]
}

struct SearchStoreAgents {
    listings: Arc<dyn Listings>,
}

#[async_trait]
impl TypedBlock for SearchStoreAgents {
    type Input = SearchStoreAgentsInput;

    async fn run(
        &self,
        input: SearchStoreAgentsInput,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let listings = self.listings.list().await?;
        let found = find(listings, &input);
        let total = found.len();
        let agents: Vec<Value> =
            found.iter().take(input.limit.clamp(1, 100)).map(listing_json).collect();
        out.emit("agents", Value::Array(agents.clone())).await?;
        out.emit("total_count", json!(total)).await?;
        for agent in agents {
            out.emit("agent", agent).await?;
        }
        Ok(())
    }
}

fn find(listings: Vec<Listing>, input: &SearchStoreAgentsInput) -> Vec<Listing> {
    let category = input.category.as_deref().filter(|category| !category.is_empty());
    let in_category = |listing: &Listing| {
        category.is_none_or(|wanted| {
            listing.categories.iter().any(|category| category.eq_ignore_ascii_case(wanted))
        })
    };
    let query = input.query.as_deref().unwrap_or_default();
    let mut found: Vec<(f64, Listing)> =
        search::rank(query, listings.into_iter().filter(in_category), |listing| {
            vec![&listing.name, &listing.sub_heading, &listing.description, &listing.slug]
        });
    match input.sort_by {
        ListingOrder::Rating => found
            .sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| other.runs.cmp(&one.runs))),
        ListingOrder::Runs => found.sort_by_key(|(_, listing)| std::cmp::Reverse(listing.runs)),
        ListingOrder::Name => found.sort_by_key(|(_, listing)| listing.name.to_lowercase()),
        ListingOrder::Recent => {
            found.sort_by_key(|(_, listing)| std::cmp::Reverse(listing.updated_at))
        }
    }
    found.into_iter().map(|(_, listing)| listing).collect()
}

/// Agents are not rated, so the rating is always 0.
fn listing_json(listing: &Listing) -> Value {
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
