//! Library agents, folders, and marketplace listings.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::execution::SafeMode;
use crate::ids::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};

/// An agent in a user's library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LibraryAgent {
    pub id: LibraryAgentId,
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub name: String,
    pub description: String,
    /// The marketplace user name of its creator; absent for the user's own agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    pub is_favorite: bool,
    pub is_created_by_user: bool,
    pub is_hidden: bool,
    /// Whether the entry follows the active version of its graph.
    pub use_graph_is_active_version: bool,
    pub settings: SafeMode,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub last_run_at: Option<Timestamp>,
}

impl LibraryAgent {
    /// A new entry for a marketplace agent. It is pinned to the version listed there.
    pub fn of_listing(listing: Listing, now: Timestamp) -> Self {
        Self {
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Folder {
    pub id: FolderId,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<FolderId>,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
}

/// An agent in the marketplace, in its newest version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Listing {
    pub version_id: ListingVersionId,
    /// Together with `slug`, identifies the agent.
    pub username: String,
    pub slug: String,
    pub name: String,
    pub sub_heading: String,
    pub description: String,
    pub categories: Vec<String>,
    pub is_featured: bool,
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub owner: UserId,
    /// The number of libraries that contain it plus the number of executions in this installation.
    pub runs: u64,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
}
