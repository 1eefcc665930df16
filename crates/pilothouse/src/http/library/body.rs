//! What the routes of the library take and give.

use jiff::Timestamp;
use ports::call_services::AgentDescription;
use ports::store::AgentChange;
use protocol::execution::SafeMode;
use protocol::graph::GraphFlags;
use protocol::library::{LibraryAgent, Listing};
use protocol::{FolderId, LibraryAgentId, ListingVersionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::paging::Pagination;
use super::super::problem::{Answer, Problem};
use super::arrange::SortBy;

const NAME_CHARS: usize = 200;
const DESCRIPTION_CHARS: usize = 10_000;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ListQuery {
    /// A few words; wrong letters are forgiven.
    pub(super) search_term: Option<String>,
    /// The order without a search; `updatedAt` when not given.
    #[param(inline)]
    pub(super) sort_by: Option<SortBy>,
    /// From 1.
    pub(super) page: Option<u32>,
    /// 1 to 100; 15 when not given.
    pub(super) page_size: Option<u32>,
    /// Only those in this folder.
    pub(super) folder_id: Option<FolderId>,
    /// Only those in no folder.
    #[serde(default)]
    pub(super) include_root_only: bool,
    /// Those that are hidden, instead of those that are not.
    #[serde(default)]
    pub(super) is_hidden: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct AgentList {
    pub(super) agents: Vec<LibraryAgent>,
    pub(super) pagination: Pagination,
}

/// An entry, with what a caller needs to know to run its agent.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = LibraryAgentDetails)]
pub(crate) struct AgentDetails {
    #[serde(flatten)]
    agent: LibraryAgent,
    #[serde(flatten)]
    flags: GraphFlags,
    instructions: Option<String>,
    /// JSON schema of what it takes.
    input_schema: Value,
    /// JSON schema of what it gives.
    output_schema: Value,
}

#[derive(Deserialize, utoipa::ToSchema)]
pub(crate) struct NewAgent {
    pub(super) store_listing_version_id: ListingVersionId,
}

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ChangeBody {
    name: Option<String>,
    description: Option<String>,
    is_favorite: Option<bool>,
    is_hidden: Option<bool>,
    graph_version: Option<u32>,
    /// Whether the entry follows the active version of its agent.
    #[serde(alias = "auto_update_version")]
    use_graph_is_active_version: Option<bool>,
    settings: Option<SafeMode>,
}

impl AgentDetails {
    pub(super) fn new(agent: LibraryAgent, described: AgentDescription) -> Self {
        Self {
            agent,
            flags: described.flags,
            instructions: described.graph.instructions,
            input_schema: described.input_schema,
            output_schema: described.output_schema,
        }
    }
}

impl TryFrom<ChangeBody> for AgentChange {
    type Error = Problem;

    fn try_from(body: ChangeBody) -> Answer<Self> {
        let name = body.name.map(|name| name.trim().to_owned());
        if name.as_ref().is_some_and(|name| !(1..=NAME_CHARS).contains(&name.chars().count())) {
            return Err(Problem::invalid(format!("A name has 1 to {NAME_CHARS} characters.")));
        }
        let too_long = |text: &String| text.chars().count() > DESCRIPTION_CHARS;
        if body.description.as_ref().is_some_and(too_long) {
            return Err(Problem::invalid(format!(
                "A description has at most {DESCRIPTION_CHARS} characters."
            )));
        }
        Ok(Self {
            name,
            description: body.description,
            is_favorite: body.is_favorite,
            is_hidden: body.is_hidden,
            graph_version: body.graph_version,
            use_graph_is_active_version: body.use_graph_is_active_version,
            settings: body.settings,
        })
    }
}

/// A fresh entry for an agent of the marketplace. It keeps the version that its user has seen there.
pub(super) fn entry_of(listing: Listing, now: Timestamp) -> LibraryAgent {
    LibraryAgent {
        id: LibraryAgentId::fresh(),
        graph_id: listing.graph_id,
        graph_version: listing.graph_version,
        name: listing.name,
        description: listing.description,
        creator: Some(listing.username),
        folder_id: None,
        is_favorite: false,
        is_created_by_user: false,
        is_hidden: false,
        use_graph_is_active_version: false,
        settings: SafeMode::default(),
        created_at: now,
        updated_at: now,
        last_run_at: None,
    }
}
