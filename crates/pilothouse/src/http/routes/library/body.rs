//! The request and response bodies of the library.

use ports::call_services::AgentDescription;
use ports::store::AgentChange;
use protocol::execution::SafeMode;
use protocol::graph::GraphFlags;
use protocol::library::LibraryAgent;
use protocol::{FolderId, ListingVersionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arrange::SortBy;
use crate::http::extract::PageInfo;
use crate::http::problem::{ApiProblem, ApiResult};

const NAME_CHARS: usize = 200;
const DESCRIPTION_CHARS: usize = 10_000;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct LibraryListQuery {
    /// A few words, at most 100 characters; misspellings are tolerated.
    pub(crate) search_term: Option<String>,
    /// The order without a search; default `updatedAt`.
    #[param(inline)]
    pub(crate) sort_by: Option<SortBy>,
    /// From 1.
    pub(crate) page: Option<u32>,
    /// 1 to 100; default 15.
    pub(crate) page_size: Option<u32>,
    /// Only agents in this folder.
    pub(crate) folder_id: Option<FolderId>,
    /// Only agents in no folder.
    #[serde(default)]
    pub(crate) include_root_only: bool,
    /// Hidden agents instead of visible ones.
    #[serde(default)]
    pub(crate) is_hidden: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct AgentList {
    pub(crate) agents: Vec<LibraryAgent>,
    pub(crate) pagination: PageInfo,
}

/// A library agent, with what a caller needs to run it.
#[derive(Serialize, utoipa::ToSchema)]

pub(crate) struct LibraryAgentDetails {
    #[serde(flatten)]
    agent: LibraryAgent,
    #[serde(flatten)]
    flags: GraphFlags,
    instructions: Option<String>,
    /// JSON schema of its inputs.
    input_schema: Value,
    /// JSON schema of its outputs.
    output_schema: Value,
}

#[derive(Deserialize, utoipa::ToSchema)]
pub(crate) struct NewAgent {
    pub(crate) store_listing_version_id: ListingVersionId,
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

impl LibraryAgentDetails {
    pub(crate) fn new(agent: LibraryAgent, described: AgentDescription) -> Self {
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
    type Error = ApiProblem;

    fn try_from(body: ChangeBody) -> ApiResult<Self> {
        let name = body.name.map(|name| name.trim().to_owned());
        if name.as_ref().is_some_and(|name| !(1..=NAME_CHARS).contains(&name.chars().count())) {
            return Err(ApiProblem::invalid(format!(
                "The name must have 1 to {NAME_CHARS} characters."
            )));
        }
        let too_long = |text: &String| text.chars().count() > DESCRIPTION_CHARS;
        if body.description.as_ref().is_some_and(too_long) {
            return Err(ApiProblem::invalid(format!(
                "The description must have at most {DESCRIPTION_CHARS} characters."
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
