//! `AddToLibraryFromStoreBlock`: adds a marketplace agent to the user's library.

use ports::store::AgentAdded;
use ports::{Clock, Library, Listings};

use protocol::ListingVersionId;
use protocol::library::{LibraryAgent, Listing};

use crate::blocks::failures;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct AddToLibraryInput {
    /// The version to add, from GetStoreAgentDetailsBlock.
    store_listing_version_id: ListingVersionId,
    /// The agent's name in the library. Defaults to its marketplace name.
    #[serde(default)]
    agent_name: Option<String>,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "2602a7b1-3f4d-4e5f-9c8b-1a2b3c4d5e6f",
        "AddToLibraryFromStoreBlock",
        "Adds a marketplace agent to your library.",
    )
    .categories(&[BlockCategory::Basic])
    .outputs([
        pin::boolean("success", "True if the agent is in the library."),
        pin::text("library_agent_id", "The ID of the library entry."),
        pin::text("agent_id", "The ID of the agent."),
        pin::integer("agent_version", "The version of the agent."),
        pin::text("agent_name", "The agent's name in the library."),
        pin::text("message", "A message that describes the outcome."),
    ])
    .effect(ToolEffect::Idempotent);
    let BlockDependencies { library, listings, clock, .. } = dependencies.clone();
    // No examples: no listing exists on every installation.
    vec![block(spec, Vec::new(), AddToLibraryFromStore { library, listings, clock })]
}

struct AddToLibraryFromStore {
    library: Arc<dyn Library>,
    listings: Arc<dyn Listings>,
    clock: Arc<dyn Clock>,
}

impl AddToLibraryFromStore {
    fn entry(
        &self,
        listing: Listing,
        name: Option<String>,
        context: &BlockContext,
    ) -> LibraryAgent {
        let is_created_by_user = listing.owner == context.user;
        let mut entry = LibraryAgent::of_listing(listing, self.clock.now());
        if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
            entry.name = name;
        }
        LibraryAgent { is_created_by_user, ..entry }
    }
}

#[async_trait]
impl TypedBlock for AddToLibraryFromStore {
    type Input = AddToLibraryInput;

    async fn run(
        &self,
        input: AddToLibraryInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        failures::not_in_a_dry_run(&context, "nothing is added to the library")?;
        let listing = self.listings.by_version(&input.store_listing_version_id).await?;
        let listing =
            listing.ok_or_else(|| BlockError::failed("Agent not found in the marketplace."))?;
        let entry = self.entry(listing, input.agent_name, &context);
        let added = self.library.add(&context.user, &entry).await?;
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
}
