//! Agents as people keep and find them: library entries, folders, and listings of the marketplace.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::execution::SafeMode;
use crate::ids::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};

/// A user's own entry for an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LibraryAgent {
    pub id: LibraryAgentId,
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub name: String,
    pub description: String,
    /// Whose agent it is: a user name of the marketplace, or nothing for the user's own.
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

/// An agent that everybody can find, in its newest version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Listing {
    pub version_id: ListingVersionId,
    /// `username/slug` names it.
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
    /// How many libraries hold it and how often it was run, as far as this installation knows.
    pub runs: u64,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
}
