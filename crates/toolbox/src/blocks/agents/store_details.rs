//! `GetStoreAgentDetailsBlock`: details of a marketplace agent.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Listings;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::super::{BlockDependencies, failures};

pub(super) struct GetStoreAgentDetails {
    spec: BlockSpec,
    listings: Arc<dyn Listings>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct StoreAgentDetailsInput {
    /// The username of the agent's creator.
    creator: String,
    /// The agent's slug, as in its URL.
    slug: String,
}

impl GetStoreAgentDetails {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "b604f0ec-6e0d-40a7-bf55-9fd09997cced",
            name: "GetStoreAgentDetailsBlock",
            description: "Gets the details of a marketplace agent by its creator and slug.",
            categories: &[BlockCategory::Basic, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<StoreAgentDetailsInput>(),
            outputs: typed::outputs([
                typed::boolean("found", "True if the agent exists."),
                typed::text(
                    "store_listing_version_id",
                    "The ID of the latest version, used to add the agent to the library.",
                ),
                typed::text("agent_name", "The agent's name."),
                typed::text("description", "The agent's description."),
                typed::text("creator", "The username of the creator."),
                typed::list("categories", "The agent's categories."),
                typed::integer("runs", "How many times the agent has been run."),
                typed::number("rating", "The agent's rating. Always 0: agents are not rated."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, listings: dependencies.listings.clone() })
    }
}

#[async_trait]
impl TypedBlock for GetStoreAgentDetails {
    type Input = StoreAgentDetailsInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: StoreAgentDetailsInput,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let listing = self.listings.by_name(&input.creator, &input.slug).await;
        let listing = listing.map_err(failures::storage)?;
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

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
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
        )]
    }
}
