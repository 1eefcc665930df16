//! The library of a user, and the marketplace.

use async_trait::async_trait;
use protocol::execution::SafeMode;
use protocol::graph::Graph;
use protocol::library::{Folder, LibraryAgent, Listing};
use protocol::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};

use crate::error::PortResult;

/// Laws: a user has one entry per graph (`a_user_has_one_entry_for_a_graph`), at most `limits::LIBRARY_AGENTS` entries
/// (`library_agents_are_limited_per_user`), and sees no others (`a_library_is_seen_by_its_user_only`); a change only
/// affects the named fields (`an_update_changes_only_the_given_fields`). A following entry shows the active version of
/// the user's own graph, and of another user's graph the one listed last (`an_entry_follows_the_active_version`).
/// Sibling folders have different names (`sibling_folders_have_different_names`); a folder is never inside itself
/// (`a_folder_is_never_inside_itself`); deleting one moves its agents to the root and deletes its sub-folders
/// (`a_deleted_folder_leaves_its_agents_at_the_root`).
#[async_trait]
pub trait Library: Send + Sync {
    /// Adds an agent that is visible to the user. An existing entry for the graph is returned instead.
    async fn add(&self, user: &UserId, entry: &LibraryAgent) -> PortResult<AgentAdded>;

    async fn get(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<Option<LibraryAgent>>;

    async fn by_graph(&self, user: &UserId, graph: &GraphId) -> PortResult<Option<LibraryAgent>>;

    /// All entries, most recently changed first. There are at most `limits::LIBRARY_AGENTS`.
    async fn list(&self, user: &UserId) -> PortResult<Vec<LibraryAgent>>;

    async fn update(
        &self,
        user: &UserId,
        id: &LibraryAgentId,
        change: AgentChange,
    ) -> PortResult<Option<LibraryAgent>>;

    /// Removes the entry; the graph is kept. `false`: there was none.
    async fn remove(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<bool>;

    async fn folders(&self, user: &UserId) -> PortResult<Vec<Folder>>;

    async fn add_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten>;

    /// Sets name, icon, color and parent to those of `folder`.
    async fn update_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten>;

    async fn remove_folder(&self, user: &UserId, id: &FolderId) -> PortResult<bool>;

    /// Moves the listed agents that the user has, all or nothing; `None` is the root. Returns their number; `None`: there is no
    /// such folder.
    async fn move_agents(
        &self,
        user: &UserId,
        agents: &[LibraryAgentId],
        folder: Option<&FolderId>,
    ) -> PortResult<Option<u32>>;
}

/// Absent fields stay unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub is_favorite: Option<bool>,
    pub is_hidden: Option<bool>,
    pub graph_version: Option<u32>,
    pub use_graph_is_active_version: Option<bool>,
    pub settings: Option<SafeMode>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AgentAdded {
    New(Box<LibraryAgent>),
    Exists(Box<LibraryAgent>),
    /// The graph is not visible to the user.
    NoGraph,
    /// The user's library is full. Nothing was stored.
    TooMany,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FolderWritten {
    Done(Box<Folder>),
    Missing,
    NoParent,
    /// It would contain itself.
    Circular,
    NameTaken,
    /// The user has too many folders.
    TooMany,
}

/// Laws: a listing is found by its names and by its version id (`a_listing_is_found_by_its_names`); publishing again
/// updates the same listing, with a new version if the version id differs (`a_listing_is_published_once`); a name of
/// another user is refused (`a_name_of_another_user_is_refused`).
#[async_trait]
pub trait Listings: Send + Sync {
    /// Publishes with its graph, which is stored for the listing's owner if it is missing.
    async fn publish(&self, listing: &Listing, graph: &Graph) -> PortResult<ListingPublished>;

    /// All listings, at most `limits::LISTINGS`, featured ones first, then by name.
    async fn list(&self) -> PortResult<Vec<Listing>>;

    async fn by_name(&self, username: &str, slug: &str) -> PortResult<Option<Listing>>;

    async fn by_version(&self, version: &ListingVersionId) -> PortResult<Option<Listing>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingPublished {
    New,
    NewVersion,
    Before,
    NameTaken,
    /// The marketplace is full.
    TooMany,
}
