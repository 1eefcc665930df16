//! Graphs and their versions.

use async_trait::async_trait;
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use crate::error::PortResult;

/// A stored version never changes; an edit creates the next one. Exactly one version of a graph is active. A version is
/// *visible* to its owner, to users whose library contains it, and to everyone once it is listed; only the owner can
/// change the graph. Activating a version does not make it visible to others: an edit is active at once, and visible to its
/// author only until it is listed.
///
/// Laws: a graph and its library entry are stored together, once per id (`a_graph_is_created_once_with_its_entry`); an id
/// of another user is refused (`a_graph_of_another_user_is_not_overwritten`); versions are dense and the newest becomes
/// active, with the library entry that follows it (`a_new_version_becomes_active`), unless it is a draft (`a_draft_is_kept_beside_the_active_version`); of several edits of
/// one version, one is stored (`an_edit_of_an_old_version_is_refused`); an older one can be activated again
/// (`an_older_version_can_be_made_active`); it is visible to users who have it in their library or find it listed, and to
/// no others (`a_graph_is_seen_by_its_owner_its_libraries_and_the_marketplace`); the graphs that mention another one are
/// found (`graphs_that_mention_another_one_are_found`); deleting removes every version and the
/// owner's entry, unless it is listed (`a_deleted_graph_is_gone`, `a_listed_graph_cannot_be_deleted`).
#[async_trait]
pub trait Graphs: Send + Sync {
    /// Stores version 1 and the owner's library entry (`entry.graph_id` and `graph_version` are those of the graph).
    async fn create(
        &self,
        user: &UserId,
        graph: &Graph,
        entry: &LibraryAgent,
    ) -> PortResult<GraphCreated>;

    /// Stores the next version, regardless of `graph.version`.
    async fn add_version(
        &self,
        user: &UserId,
        graph: &Graph,
        terms: VersionTerms,
    ) -> PortResult<VersionAdded>;

    /// Without a version: the active one of the user's own graph; for another user's graph the one in the user's library, or
    /// the one listed last.
    async fn get(
        &self,
        user: &UserId,
        id: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<StoredGraph>>;

    /// The active versions of the user's own graphs, newest first.
    async fn list(&self, user: &UserId, limit: u32, offset: u64) -> PortResult<Vec<GraphMeta>>;

    /// Every version of one of the user's own graphs, newest first.
    async fn versions(&self, user: &UserId, id: &GraphId) -> PortResult<Vec<GraphMeta>>;

    /// The active versions of the user's other graphs whose document contains this id as text, newest first: among them are all
    /// that run the graph.
    async fn mentioning(
        &self,
        user: &UserId,
        id: &GraphId,
        limit: u32,
    ) -> PortResult<Vec<StoredGraph>>;

    /// `false`: the user has no such version.
    async fn activate(&self, user: &UserId, id: &GraphId, version: u32) -> PortResult<bool>;

    async fn delete(&self, user: &UserId, id: &GraphId) -> PortResult<GraphDeleted>;
}

/// How a new version relates to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionTerms {
    /// The version that was edited: another newest one is a conflict. `None`: whatever there is.
    pub base: Option<u32>,
    /// Whether it becomes active. A draft does not: what runs stays as it is.
    pub activate: bool,
}

impl VersionTerms {
    /// Becomes active, whatever came before.
    pub const NEXT: Self = Self { base: None, activate: true };
}

#[derive(Clone, Debug, PartialEq)]
pub enum VersionAdded {
    Added(Box<StoredGraph>),
    /// The newest version is not the base. Nothing was stored.
    Stale {
        newest: u32,
    },
    /// The user has no such graph.
    Missing,
}

#[derive(Clone, Debug, PartialEq)]
pub enum GraphCreated {
    New(Box<LibraryAgent>),
    /// The id is taken, by this user or another. Nothing was stored.
    Taken,
    /// The user's library is full. Nothing was stored.
    TooMany,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphDeleted {
    /// The number of deleted versions.
    Deleted(u32),
    Missing,
    /// It is in the marketplace.
    Listed,
}
