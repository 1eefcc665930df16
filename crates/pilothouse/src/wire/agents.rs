//! What agents are made of, and the examples that a fresh installation lists in its marketplace.

use std::sync::Arc;

use anyhow::Context;
use ports::store::ListingPublished;
use ports::{Block, ModelProvider, Ports};
use protocol::UserId;
use protocol::library::Listing;
use toolbox::blocks::{self, BlockDependencies};
use toolbox::{egress, examples};

/// The name under which the examples are published. Nobody can sign in as their owner: user ids come from tokens, keys
/// and the local user, and none of them has a colon in front.
const PUBLISHER: &str = "pilothouse";
const OWNER: &str = ":pilothouse";

pub(super) fn blocks(
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

/// Lists the examples. Those that are listed are left as they are, so that every process may do this.
pub(super) async fn list_examples(ports: &Ports) -> anyhow::Result<()> {
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
        match published.context("the example agents could not be listed")? {
            ListingPublished::New | ListingPublished::NewVersion | ListingPublished::Before => {}
            ListingPublished::NameTaken | ListingPublished::TooMany => {
                tracing::warn!(slug = example.slug, "an example agent could not be listed");
            }
        }
    }
    Ok(())
}
