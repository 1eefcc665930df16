//! Looks up agents in the user's library and in the marketplace, and converts them to tool responses.

use std::sync::Arc;

use ports::call_services::AgentDescription;
use ports::tool::ToolError;
use ports::{Library, Listings};
use protocol::library::{LibraryAgent, Listing};
use protocol::limits::SEARCH_CHARS;
use protocol::response::{AgentInfo, AgentSource};
use protocol::{LibraryAgentId, UserId};

use crate::search;
use crate::tools::ToolServices;

#[derive(Clone)]
pub(crate) struct AgentLookup {
    pub(crate) library: Arc<dyn Library>,
    pub(crate) listings: Arc<dyn Listings>,
}

impl AgentLookup {
    pub(crate) fn new(services: &ToolServices) -> Self {
        Self { library: services.library.clone(), listings: services.listings.clone() }
    }

    /// Finds a library entry by its own id or by its graph id: models use either as "the agent's id".
    pub(crate) async fn entry(
        &self,
        user: &UserId,
        id: &str,
    ) -> Result<Option<LibraryAgent>, ToolError> {
        match self.library.get(user, &id.into()).await? {
            Some(entry) => Ok(Some(entry)),
            None => Ok(self.library.by_graph(user, &id.into()).await?),
        }
    }

    /// Finds a marketplace listing by `username/slug`.
    pub(crate) async fn listing(&self, name: &str) -> Result<Option<Listing>, ToolError> {
        match name.trim_matches('/').split_once('/') {
            Some((username, slug)) => Ok(self.listings.by_name(username, slug).await?),
            None => Ok(None),
        }
    }

    /// The user's visible agents that match the words, with scores, best match first; all of them without words.
    pub(crate) async fn entries(
        &self,
        user: &UserId,
        words: &str,
    ) -> Result<Vec<(f64, LibraryAgent)>, ToolError> {
        let mut entries = self.library.list(user).await?;
        entries.retain(|entry| !entry.is_hidden);
        Ok(search::rank(words, entries, |entry| vec![&entry.name, &entry.description]))
    }
}

/// The search term without surrounding space.
pub(crate) fn search_term(query: &str) -> Result<&str, ToolError> {
    let term = query.trim();
    let chars = term.chars().count();
    match chars > SEARCH_CHARS {
        true => Err(ToolError::tell(
            "search_term_too_long",
            format!(
                "The query has {chars} characters; at most {SEARCH_CHARS} are allowed. Search with a few keywords."
            ),
        )),
        false => Ok(term),
    }
}

/// Link to the agent's page.
pub(crate) fn link(id: &LibraryAgentId) -> String {
    format!("/library/agents/{id}")
}

pub(crate) fn from_library(entry: &LibraryAgent) -> AgentInfo {
    AgentInfo {
        id: entry.id.to_string(),
        name: entry.name.clone(),
        description: entry.description.clone(),
        source: AgentSource::Library,
        in_library: true,
        creator: entry.creator.clone(),
        category: None,
        runs: None,
        is_featured: None,
        has_external_trigger: None,
        graph_id: entry.graph_id.clone(),
        graph_version: entry.graph_version,
        match_score: None,
        input_schema: None,
        output_schema: None,
        graph: None,
    }
}

pub(crate) fn from_listing(listing: &Listing) -> AgentInfo {
    AgentInfo {
        id: format!("{}/{}", listing.username, listing.slug),
        name: listing.name.clone(),
        description: listing.description.clone(),
        source: AgentSource::Marketplace,
        in_library: false,
        creator: Some(listing.username.clone()),
        category: listing.categories.first().cloned(),
        runs: Some(listing.runs),
        is_featured: Some(listing.is_featured),
        has_external_trigger: None,
        graph_id: listing.graph_id.clone(),
        graph_version: listing.graph_version,
        match_score: None,
        input_schema: None,
        output_schema: None,
        graph: None,
    }
}

/// Adds the fields that are read from the graph.
pub(crate) fn with_schemas(info: AgentInfo, agent: &AgentDescription) -> AgentInfo {
    AgentInfo {
        has_external_trigger: Some(agent.flags.has_external_trigger),
        input_schema: Some(agent.input_schema.clone()),
        output_schema: Some(agent.output_schema.clone()),
        ..info
    }
}
