//! `AddToLibraryFromStoreBlock`: adds a marketplace agent to the user's library.

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

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::super::{BlockDependencies, failures};

pub(super) struct AddToLibraryFromStore {
    spec: BlockSpec,
    library: Arc<dyn Library>,
    listings: Arc<dyn Listings>,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct AddToLibraryInput {
    /// The version to add, from GetStoreAgentDetailsBlock.
    store_listing_version_id: ListingVersionId,
    /// The agent's name in the library. Defaults to its marketplace name.
    #[serde(default)]
    agent_name: Option<String>,
}

impl AddToLibraryFromStore {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "2602a7b1-3f4d-4e5f-9c8b-1a2b3c4d5e6f",
            name: "AddToLibraryFromStoreBlock",
            description: "Adds a marketplace agent to your library.",
            categories: &[BlockCategory::Basic],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<AddToLibraryInput>(),
            outputs: typed::outputs([
                typed::boolean("success", "True if the agent is in the library."),
                typed::text("library_agent_id", "The ID of the library entry."),
                typed::text("agent_id", "The ID of the agent."),
                typed::integer("agent_version", "The version of the agent."),
                typed::text("agent_name", "The agent's name in the library."),
                typed::text("message", "A message that describes the outcome."),
            ]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        let BlockDependencies { library, listings, clock, .. } = dependencies.clone();
        TypedBlockAdapter(Self { spec, library, listings, clock })
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
    type Input = AddToLibraryInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: AddToLibraryInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        failures::not_in_a_dry_run(&context, "nothing is added to the library")?;
        let listing = self.listings.by_version(&input.store_listing_version_id).await;
        let listing = listing
            .map_err(failures::storage)?
            .ok_or_else(|| BlockError::failed("Agent not found in the marketplace."))?;
        let entry = self.entry(listing, input.agent_name, &context);
        let added = self.library.add(&context.user, &entry).await.map_err(failures::storage)?;
        let (entry, message) = match added {
            AgentAdded::New(entry) => (entry, "Agent added to the library."),
            AgentAdded::Exists(entry) => (entry, "The agent is already in the library."),
            AgentAdded::NoGraph => {
                return Err(BlockError::failed("The agent no longer exists."));
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
        // No listing exists on every installation.
        Vec::new()
    }
}
