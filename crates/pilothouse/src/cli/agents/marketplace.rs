//! Marketplace agents: listed, and added to the library.

use std::fmt::Write;

use protocol::GraphId;
use protocol::library::LibraryAgent;
use serde::Deserialize;
use serde_json::json;

use super::find;
use crate::cli::client::{ApiClient, ClientError};
use crate::cli::terminal::{note, shortened};

#[derive(Deserialize)]
pub(crate) struct MarketplaceListing {
    store_listing_version_id: String,
    creator: String,
    slug: String,
    agent_name: String,
    sub_heading: String,
    runs: u64,
}

/// All marketplace agents, or those that match the words.
pub(crate) async fn list(
    client: &ApiClient,
    words: Option<&str>,
) -> Result<Vec<MarketplaceListing>, ClientError> {
    let search = words.map(|words| ("search_query", words));
    find::every_page(client, &["store", "agents"], search).await
}

pub(crate) fn table(listings: &[MarketplaceListing]) -> String {
    if listings.is_empty() {
        return "No agents found in the marketplace.".to_owned();
    }
    let address = |listing: &MarketplaceListing| format!("{}/{}", listing.creator, listing.slug);
    let width = listings.iter().map(|listing| address(listing).len()).max().unwrap_or_default();
    let mut text = format!("{:<width$}  {:>6}  {}\n", "address", "runs", "name");
    for listing in listings {
        let name = match listing.sub_heading.as_str() {
            "" => shortened(&listing.agent_name),
            more => shortened(&format!("{}: {more}", listing.agent_name)),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:<width$}  {:>6}  {name}", address(listing), listing.runs);
    }
    text
}

/// Creator and slug, if the text can be the address of a marketplace agent.
pub(crate) fn address(text: &str) -> Option<(&str, &str)> {
    let (creator, slug) = text.split_once('/')?;
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    (is_word(creator) && is_word(slug)).then_some((creator, slug))
}

/// Adds the agent to the library, where it may be already.
pub(crate) async fn add(client: &ApiClient, address: (&str, &str)) -> Result<GraphId, ClientError> {
    let (creator, slug) = address;
    let listing: MarketplaceListing =
        client.fetch(client.get(&["store", "agents", creator, slug])).await?;
    let body = json!({"store_listing_version_id": listing.store_listing_version_id});
    let request = client.post(&["library", "agents"]).json(&body);
    let agent: LibraryAgent = client.fetch(request).await?;
    note(&format!("“{}” is in your library.", agent.name));
    Ok(agent.graph_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_user_and_a_slug() {
        assert_eq!(address("pilothouse/feed-digest"), Some(("pilothouse", "feed-digest")));
        for text in ["feed-digest", "a/b/c", "/b", "a/", "in/out of it", "../x"] {
            assert_eq!(address(text), None, "{text}");
        }
    }

    #[test]
    fn the_marketplace_is_listed_by_addresses() {
        let listing = |slug: &str, sub_heading: &str| MarketplaceListing {
            store_listing_version_id: "v".to_owned(),
            creator: "anna".to_owned(),
            slug: slug.to_owned(),
            agent_name: "Feed".to_owned(),
            sub_heading: sub_heading.to_owned(),
            runs: 3,
        };
        let expected = "\
address        runs  name
anna/feed         3  Feed
anna/digest       3  Feed: News in short
";
        assert_eq!(table(&[listing("feed", ""), listing("digest", "News in short")]), expected);
        assert!(table(&[]).contains("No agents found"));
    }
}
