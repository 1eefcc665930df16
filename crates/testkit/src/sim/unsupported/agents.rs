//! Graphs, library, listings and values.

use async_trait::async_trait;
use ports::store::{
    AgentAdded, AgentChange, FolderWritten, GraphCreated, GraphDeleted, ListingPublished,
    VersionAdded, VersionTerms,
};
use ports::{Graphs, Library, Listings, PortResult, Values};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::{Folder, LibraryAgent, Listing};
use protocol::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};
use serde_json::Value;

use super::unsupported;
use crate::sim::node::SimNode;

#[async_trait]
impl Graphs for SimNode {
    async fn create(&self, _: &UserId, _: &Graph, _: &LibraryAgent) -> PortResult<GraphCreated> {
        unsupported()
    }

    async fn add_version(
        &self,
        _: &UserId,
        _: &Graph,
        _: VersionTerms,
    ) -> PortResult<VersionAdded> {
        unsupported()
    }

    async fn get(
        &self,
        _: &UserId,
        _: &GraphId,
        _: Option<u32>,
    ) -> PortResult<Option<StoredGraph>> {
        unsupported()
    }

    async fn list(&self, _: &UserId, _: u32, _: u64) -> PortResult<Vec<GraphMeta>> {
        unsupported()
    }

    async fn versions(&self, _: &UserId, _: &GraphId) -> PortResult<Vec<GraphMeta>> {
        unsupported()
    }

    async fn mentioning(&self, _: &UserId, _: &GraphId, _: u32) -> PortResult<Vec<StoredGraph>> {
        unsupported()
    }

    async fn activate(&self, _: &UserId, _: &GraphId, _: u32) -> PortResult<bool> {
        unsupported()
    }

    async fn delete(&self, _: &UserId, _: &GraphId) -> PortResult<GraphDeleted> {
        unsupported()
    }
}

#[async_trait]
impl Library for SimNode {
    async fn add(&self, _: &UserId, _: &LibraryAgent) -> PortResult<AgentAdded> {
        unsupported()
    }

    async fn get(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        unsupported()
    }

    async fn by_graph(&self, _: &UserId, _: &GraphId) -> PortResult<Option<LibraryAgent>> {
        unsupported()
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<LibraryAgent>> {
        unsupported()
    }

    async fn update(
        &self,
        _: &UserId,
        _: &LibraryAgentId,
        _: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        unsupported()
    }

    async fn remove(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<bool> {
        unsupported()
    }

    async fn folders(&self, _: &UserId) -> PortResult<Vec<Folder>> {
        unsupported()
    }

    async fn add_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        unsupported()
    }

    async fn update_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        unsupported()
    }

    async fn remove_folder(&self, _: &UserId, _: &FolderId) -> PortResult<bool> {
        unsupported()
    }

    async fn move_agents(
        &self,
        _: &UserId,
        _: &[LibraryAgentId],
        _: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        unsupported()
    }
}

#[async_trait]
impl Listings for SimNode {
    async fn publish(&self, _: &Listing, _: &Graph) -> PortResult<ListingPublished> {
        unsupported()
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        unsupported()
    }

    async fn by_name(&self, _: &str, _: &str) -> PortResult<Option<Listing>> {
        unsupported()
    }

    async fn by_version(&self, _: &ListingVersionId) -> PortResult<Option<Listing>> {
        unsupported()
    }
}

#[async_trait]
impl Values for SimNode {
    async fn get(&self, _: &UserId, _: &str) -> PortResult<Option<Value>> {
        unsupported()
    }

    async fn set(&self, _: &UserId, _: &str, _: &Value) -> PortResult<bool> {
        unsupported()
    }
}
