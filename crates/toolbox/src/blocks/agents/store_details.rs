//! `GetStoreAgentDetailsBlock`: details of a marketplace agent.

use ports::Listings;

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct StoreAgentDetailsInput {
    /// The username of the agent's creator.
    creator: String,
    /// The agent's slug, as in its URL.
    slug: String,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "b604f0ec-6e0d-40a7-bf55-9fd09997cced",
        "GetStoreAgentDetailsBlock",
        "Gets the details of a marketplace agent by its creator and slug.",
    )
    .categories(&[BlockCategory::Basic, BlockCategory::Data])
    .outputs([
        pin::boolean("found", "True if the agent exists."),
        pin::text(
            "store_listing_version_id",
            "The ID of the latest version, used to add the agent to the library.",
        ),
        pin::text("agent_name", "The agent's name."),
        pin::text("description", "The agent's description."),
        pin::text("creator", "The username of the creator."),
        pin::list("categories", "The agent's categories."),
        pin::integer("runs", "How many times the agent has been run."),
        pin::number("rating", "The agent's rating. Always 0: agents are not rated."),
    ])
    .static_output();
    let examples = vec![BlockExample::exactly(
        json!({ "creator": "nobody", "slug": "no-such-agent" }),
        vec![
            ("found", json!(false)),
            ("store_listing_version_id", json!("")),
            ("agent_name", json!("")),
            ("description", json!("")),
            ("creator", json!("")),
            ("categories", json!([])),
            ("runs", json!(0)),
            ("rating", json!(0.0)),
        ],
    )];
    vec![block(spec, examples, GetStoreAgentDetails { listings: dependencies.listings.clone() })]
}

struct GetStoreAgentDetails {
    listings: Arc<dyn Listings>,
}

#[async_trait]
impl TypedBlock for GetStoreAgentDetails {
    type Input = StoreAgentDetailsInput;

    async fn run(
        &self,
        input: StoreAgentDetailsInput,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let listing = self.listings.by_name(&input.creator, &input.slug).await?;
        let text = |text: Option<&str>| Value::String(text.unwrap_or_default().to_owned());
        let found = listing.as_ref();
        out.emit("found", json!(found.is_some())).await?;
        let version = found.map(|listing| listing.version_id.as_str());
        out.emit("store_listing_version_id", text(version)).await?;
        out.emit("agent_name", text(found.map(|listing| listing.name.as_str()))).await?;
        out.emit("description", text(found.map(|listing| listing.description.as_str()))).await?;
        out.emit("creator", text(found.map(|listing| listing.username.as_str()))).await?;
        let categories = found.map(|listing| listing.categories.clone()).unwrap_or_default();
        out.emit("categories", json!(categories)).await?;
        out.emit("runs", json!(found.map_or(0, |listing| listing.runs))).await?;
        out.emit("rating", json!(0.0)).await
    }
}
