//! `AddToLibraryFromStoreBlock`: puts an agent of the marketplace into the user's library.

use std::sync::Arc;

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use ports::store::AgentAdded;
use ports::{Clock, Library, Listings};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::execution::SafeMode;
use protocol::library::{LibraryAgent, Listing};
use protocol::tool::ToolEffect;
use protocol::{LibraryAgentId, ListingVersionId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};

pub(super) struct AddToLibraryFromStore {
    spec: BlockSpec,
    library: Arc<dyn Library>,
    listings: Arc<dyn Listings>,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The version to add, as GetStoreAgentDetailsBlock names it.
    store_listing_version_id: ListingVersionId,
    /// What the agent is called in the library, if not as in the marketplace.
    #[serde(default)]
    agent_name: Option<String>,
}

impl AddToLibraryFromStore {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "2602a7b1-3f4d-4e5f-9c8b-1a2b3c4d5e6f",
            name: "AddToLibraryFromStoreBlock",
            description: "Adds an agent of the marketplace to your library.",
            categories: &[BlockCategory::Basic],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::boolean("success", "Whether it is in the library now."),
                typed::text("library_agent_id", "Its entry in the library."),
                typed::text("agent_id", "The agent."),
                typed::integer("agent_version", "Its version."),
                typed::text("agent_name", "Its name in the library."),
                typed::text("message", "What was done."),
            ]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        let Parts { library, listings, clock, .. } = parts.clone();
        Typed(Self { spec, library, listings, clock })
    }

    fn entry(
        &self,
        listing: Listing,
        name: Option<String>,
        context: &BlockContext,
    ) -> LibraryAgent {
        let now = self.clock.now();
        LibraryAgent {
            id: LibraryAgentId::fresh(),
            graph_id: listing.graph_id,
            graph_version: listing.graph_version,
            name: name.filter(|name| !name.trim().is_empty()).unwrap_or(listing.name),
            description: listing.description,
            creator: Some(listing.username),
            folder_id: None,
            is_favorite: false,
            is_created_by_user: listing.owner == context.user,
            is_hidden: false,
            use_graph_is_active_version: false,
            settings: SafeMode::default(),
            created_at: now,
            updated_at: now,
            last_run_at: None,
        }
    }
}

#[async_trait]
impl TypedBlock for AddToLibraryFromStore {
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
        failures::not_in_a_dry_run(&context, "nothing is added to the library")?;
        let listing = self.listings.by_version(&given.store_listing_version_id).await;
        let listing = listing
            .map_err(failures::storage)?
            .ok_or_else(|| BlockError::failed("There is no such agent in the marketplace."))?;
        let entry = self.entry(listing, given.agent_name, &context);
        let added = self.library.add(&context.user, &entry).await.map_err(failures::storage)?;
        let (entry, message) = match added {
            AgentAdded::New(entry) => (entry, "The agent was added to the library."),
            AgentAdded::Exists(entry) => (entry, "The agent is in the library already."),
            AgentAdded::NoGraph => {
                return Err(BlockError::failed("The agent is not there any more."));
            }
            AgentAdded::TooMany => return Err(BlockError::failed("The library is full.")),
        };
        out.emit("success", json!(true)).await?;
        out.emit("library_agent_id", json!(entry.id)).await?;
        out.emit("agent_id", json!(entry.graph_id)).await?;
        out.emit("agent_version", json!(entry.graph_version)).await?;
        out.emit("agent_name", json!(entry.name)).await?;
        out.emit("message", json!(message)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // There is no listing that every installation has.
        Vec::new()
    }
}
