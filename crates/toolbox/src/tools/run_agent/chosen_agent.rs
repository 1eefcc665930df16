//! Finds the agent that the arguments name, and adds it to the user's library.

use jiff::Timestamp;
use ports::store::AgentAdded;
use ports::tool::ToolError;

use protocol::library::{LibraryAgent, Listing};
use protocol::{GraphId, UserId};

use super::RunAgentArguments;
use crate::tools::agent_lookup::AgentLookup;
use crate::tools::arguments::non_empty;

pub(crate) enum ChosenAgent {
    InLibrary(Box<LibraryAgent>),
    /// In the marketplace, but not in the user's library.
    Listed(Box<Listing>),
}

impl ChosenAgent {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::InLibrary(entry) => &entry.name,
            Self::Listed(listing) => &listing.name,
        }
    }

    pub(crate) fn graph(&self) -> (&GraphId, u32) {
        match self {
            Self::InLibrary(entry) => (&entry.graph_id, entry.graph_version),
            Self::Listed(listing) => (&listing.graph_id, listing.graph_version),
        }
    }

    pub(crate) fn entry(&self) -> Option<&LibraryAgent> {
        match self {
            Self::InLibrary(entry) => Some(entry),
            Self::Listed(_) => None,
        }
    }
}

impl AgentLookup {
    /// `library_agent_id` takes precedence when both are given.
    pub(crate) async fn choose(
        &self,
        user: &UserId,
        arguments: &RunAgentArguments,
    ) -> Result<ChosenAgent, ToolError> {
        if let Some(id) = non_empty(arguments.library_agent_id.as_ref()) {
            let entry = self.entry(user, id).await?;
            let entry = entry.ok_or_else(|| missing(&format!("The agent with id {id}")))?;
            return Ok(ChosenAgent::InLibrary(Box::new(entry)));
        }
        let Some(name) = non_empty(arguments.username_agent_slug.as_ref()) else {
            let sentence = "Give library_agent_id, or username_agent_slug as \"username/slug\".";
            return Err(ToolError::tell("invalid_arguments", sentence));
        };
        let listing = self.listing(name).await?;
        let listing = listing.ok_or_else(|| missing(&format!("The agent {name}")))?;
        Ok(match self.library.by_graph(user, &listing.graph_id).await? {
            Some(entry) => ChosenAgent::InLibrary(Box::new(entry)),
            None => ChosenAgent::Listed(Box::new(listing)),
        })
    }

    /// The user's library entry for the agent, added if missing: executions are found through it later.
    pub(crate) async fn ensure_in_library(
        &self,
        user: &UserId,
        chosen: &ChosenAgent,
        now: Timestamp,
    ) -> Result<LibraryAgent, ToolError> {
        let listing = match chosen {
            ChosenAgent::InLibrary(entry) => return Ok((**entry).clone()),
            ChosenAgent::Listed(listing) => listing,
        };
        let entry = LibraryAgent::of_listing(Listing::clone(listing), now);
        match self.library.add(user, &entry).await? {
            AgentAdded::New(entry) | AgentAdded::Exists(entry) => Ok(*entry),
            AgentAdded::NoGraph => Err(missing(&format!("The graph of {}", listing.name))),
            AgentAdded::TooMany => {
                let sentence = "The library is full. The user must remove an agent first.";
                Err(ToolError::tell("library_full", sentence))
            }
        }
    }
}

pub(crate) fn missing(what: &str) -> ToolError {
    let sentence = format!(
        "{what} was not found. Use find_library_agent or find_agent to see the available agents."
    );
    ToolError::tell("agent_not_found", sentence)
}
