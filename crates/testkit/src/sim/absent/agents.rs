//! Agents as people keep them, which no simulated process has.

use async_trait::async_trait;
use ports::store::{
    AgentAdded, AgentChange, FolderWritten, GraphCreated, GraphDeleted, ListingPublished,
};
use ports::{Graphs, Library, Listings, PortResult, Values};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::{Folder, LibraryAgent, Listing};
use protocol::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};
use serde_json::Value;

use super::{Absent, absent};

#[async_trait]
impl Graphs for Absent {
    async fn create(&self, _: &UserId, _: &Graph, _: &LibraryAgent) -> PortResult<GraphCreated> {
        absent()
    }

    async fn add_version(&self, _: &UserId, _: &Graph) -> PortResult<Option<StoredGraph>> {
        absent()
    }

    async fn get(
        &self,
        _: &UserId,
        _: &GraphId,
        _: Option<u32>,
    ) -> PortResult<Option<StoredGraph>> {
        absent()
    }

    async fn list(&self, _: &UserId, _: u32, _: u64) -> PortResult<Vec<GraphMeta>> {
        absent()
    }

    async fn versions(&self, _: &UserId, _: &GraphId) -> PortResult<Vec<GraphMeta>> {
        absent()
    }

    async fn activate(&self, _: &UserId, _: &GraphId, _: u32) -> PortResult<bool> {
        absent()
    }

    async fn delete(&self, _: &UserId, _: &GraphId) -> PortResult<GraphDeleted> {
        absent()
    }
}

#[async_trait]
impl Library for Absent {
    async fn add(&self, _: &UserId, _: &LibraryAgent) -> PortResult<AgentAdded> {
        absent()
    }

    async fn get(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        absent()
    }

    async fn by_graph(&self, _: &UserId, _: &GraphId) -> PortResult<Option<LibraryAgent>> {
        absent()
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<LibraryAgent>> {
        absent()
    }

    async fn update(
        &self,
        _: &UserId,
        _: &LibraryAgentId,
        _: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        absent()
    }

    async fn remove(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<bool> {
        absent()
    }

    async fn folders(&self, _: &UserId) -> PortResult<Vec<Folder>> {
        absent()
    }

    async fn add_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        absent()
    }

    async fn update_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        absent()
    }

    async fn remove_folder(&self, _: &UserId, _: &FolderId) -> PortResult<bool> {
        absent()
    }

    async fn move_agents(
        &self,
        _: &UserId,
        _: &[LibraryAgentId],
        _: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        absent()
    }
}

#[async_trait]
impl Listings for Absent {
    async fn publish(&self, _: &Listing, _: &Graph) -> PortResult<ListingPublished> {
        absent()
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        absent()
    }

    async fn by_name(&self, _: &str, _: &str) -> PortResult<Option<Listing>> {
        absent()
    }

    async fn by_version(&self, _: &ListingVersionId) -> PortResult<Option<Listing>> {
        absent()
    }
}

#[async_trait]
impl Values for Absent {
    async fn get(&self, _: &UserId, _: &str) -> PortResult<Option<Value>> {
        absent()
    }

    async fn set(&self, _: &UserId, _: &str, _: &Value) -> PortResult<bool> {
        absent()
    }
}
