//! `GetStoreAgentDetailsBlock`: what the marketplace knows of one agent.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Listings;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};

pub(super) struct GetStoreAgentDetails {
    spec: BlockSpec,
    listings: Arc<dyn Listings>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// Who has published the agent.
    creator: String,
    /// Its name in addresses.
    slug: String,
}

impl GetStoreAgentDetails {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "b604f0ec-6e0d-40a7-bf55-9fd09997cced",
            name: "GetStoreAgentDetailsBlock",
            description: "Gives what the marketplace knows of an agent, named by its creator and its slug.",
            categories: &[BlockCategory::Basic, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::boolean("found", "Whether there is such an agent."),
                typed::text(
                    "store_listing_version_id",
                    "Its newest version, for adding it to the library.",
                ),
                typed::text("agent_name", "Its name."),
                typed::text("description", "What it does."),
                typed::text("creator", "Who has published it."),
                typed::list("categories", "Its categories."),
                typed::integer("runs", "How often it was run."),
                typed::number("rating", "Its rating, where agents are rated."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, listings: parts.listings.clone() })
    }
}

#[async_trait]
impl TypedBlock for GetStoreAgentDetails {
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
        let listing = self.listings.by_name(&given.creator, &given.slug).await;
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
