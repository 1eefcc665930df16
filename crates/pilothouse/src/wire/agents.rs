//! The blocks of agents, and the example agents in the marketplace of a new installation.

use std::sync::Arc;

use anyhow::Context;
use ports::store::ListingPublished;
use ports::{Block, ModelProvider, Ports};
use protocol::UserId;
use protocol::library::Listing;
use toolbox::blocks::{self, BlockDependencies};
use toolbox::{egress, examples};

/// The creator name of the examples. No one can sign in as their owner: user ids come from tokens, keys and the local
/// user, and none of them starts with a colon.
const PUBLISHER: &str = "pilothouse";
const OWNER: &str = ":pilothouse";

pub(crate) fn blocks(
    ports: &Ports,
    model: Arc<dyn ModelProvider>,
    egress: egress::EgressClient,
) -> Vec<Arc<dyn Block>> {
    blocks::all(&BlockDependencies {
        model,
        egress,
        files: ports.files.clone(),
        values: ports.values.clone(),
        library: ports.library.clone(),
        listings: ports.listings.clone(),
        clock: ports.clock.clone(),
    })
}

/// Lists the examples. Existing ones are unchanged, so every process can call this.
pub(crate) async fn list_examples(ports: &Ports) -> anyhow::Result<()> {
    let now = ports.clock.now();
    for example in examples::all() {
        let listing = Listing {
            version_id: example.version_id,
            username: PUBLISHER.to_owned(),
            slug: example.slug.to_owned(),
            name: example.graph.name.clone(),
            sub_heading: example.sub_heading.to_owned(),
            description: example.graph.description.clone(),
            categories: example.categories.iter().map(|word| (*word).to_owned()).collect(),
            is_featured: example.is_featured,
            graph_id: example.graph.id.clone(),
            graph_version: example.graph.version,
            owner: UserId::from(OWNER),
            runs: 0,
            updated_at: now,
        };
        let published = ports.listings.publish(&listing, &example.graph).await;
        match published.context("could not list the example agents")? {
            ListingPublished::New | ListingPublished::NewVersion | ListingPublished::Before => {}
            ListingPublished::NameTaken | ListingPublished::TooMany => {
                tracing::warn!(slug = example.slug, "could not list an example agent");
            }
        }
    }
    Ok(())
}
