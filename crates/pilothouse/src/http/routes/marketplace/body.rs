//! The request and response bodies of the marketplace.

use jiff::Timestamp;
use ports::call_services::AgentDescription;
use protocol::graph::GraphFlags;
use protocol::library::Listing;
use protocol::{GraphId, ListingVersionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arrange::SortedBy;
use crate::http::extract::PageInfo;

#[derive(Default, Deserialize, utoipa::IntoParams)]
#[serde(default)]
pub(crate) struct MarketplaceListQuery {
    /// Only featured agents.
    pub(crate) featured: bool,
    /// Only agents of this user name.
    pub(crate) creator: Option<String>,
    pub(crate) category: Option<String>,
    /// A few words, at most 100 characters; the best match comes first.
    pub(crate) search_query: Option<String>,
    /// The order without a search; default: featured agents first, then by name.
    #[param(inline)]
    pub(crate) sorted_by: Option<SortedBy>,
    /// From 1.
    pub(crate) page: Option<u32>,
    /// 1 to 100; default 20.
    pub(crate) page_size: Option<u32>,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct SearchQuery {
    /// A few words, at most 100 characters; misspellings are tolerated.
    pub(crate) query: String,
    /// From 1.
    pub(crate) page: Option<u32>,
    /// 1 to 100; default 20.
    pub(crate) page_size: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct StoreAgents {
    pub(crate) agents: Vec<StoreAgent>,
    pub(crate) pagination: PageInfo,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct StoreAgent {
    store_listing_version_id: ListingVersionId,
    /// Together with `slug`, identifies the agent.
    creator: String,
    slug: String,
    agent_name: String,
    sub_heading: String,
    description: String,
    categories: Vec<String>,
    is_featured: bool,
    runs: u64,
    agent_graph_id: GraphId,
    #[schema(value_type = String, format = DateTime)]
    last_updated: Timestamp,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct StoreAgentDetails {
    #[serde(flatten)]
    agent: StoreAgent,
    #[serde(flatten)]
    flags: GraphFlags,
    graph_id: GraphId,
    graph_version: u32,
    instructions: Option<String>,
    /// JSON schema of its inputs.
    input_schema: Value,
    /// JSON schema of its outputs.
    output_schema: Value,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SearchResults {
    pub(crate) results: Vec<SearchResult>,
    pub(crate) pagination: PageInfo,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SearchResult {
    /// Always `STORE_AGENT`.
    content_type: &'static str,
    content_id: ListingVersionId,
    /// Above 0 and up to 1.
    combined_score: f64,
    agent: StoreAgent,
}

impl From<Listing> for StoreAgent {
    /// Omits the private id of its owner.
    fn from(listing: Listing) -> Self {
        Self {
            store_listing_version_id: listing.version_id,
            creator: listing.username,
            slug: listing.slug,
            agent_name: listing.name,
            sub_heading: listing.sub_heading,
            description: listing.description,
            categories: listing.categories,
            is_featured: listing.is_featured,
            runs: listing.runs,
            agent_graph_id: listing.graph_id,
            last_updated: listing.updated_at,
        }
    }
}

impl From<(f64, Listing)> for SearchResult {
    fn from((combined_score, listing): (f64, Listing)) -> Self {
        Self {
            content_type: "STORE_AGENT",
            content_id: listing.version_id.clone(),
            combined_score,
            agent: listing.into(),
        }
    }
}

impl StoreAgentDetails {
    pub(crate) fn new(listing: Listing, described: AgentDescription) -> Self {
        Self {
            flags: described.flags,
            graph_id: listing.graph_id.clone(),
            graph_version: listing.graph_version,
            instructions: described.graph.instructions,
            input_schema: described.input_schema,
            output_schema: described.output_schema,
            agent: listing.into(),
        }
    }
}
