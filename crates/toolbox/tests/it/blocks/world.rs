//! Empty dependencies for blocks: no agents, listings or values, and the offline pilot as the model.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use pilothouse_toolbox::blocks::BlockDependencies;
use pilothouse_toolbox::egress::{EgressClient, EgressOptions};
use pilothouse_toolbox::providers::{CONTEXT_TOKENS, ProviderOptions, connect};
use ports::store::{AgentAdded, AgentChange, FolderWritten, ListingPublished};
use ports::{Clock, Library, Listings, PortResult, Values};
use protocol::graph::Graph;
use protocol::library::{Folder, LibraryAgent, Listing};
use protocol::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};
use serde_json::Value;

use crate::tools::folder;

pub(crate) fn dependencies() -> BlockDependencies {
    let offline = ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS };
    BlockDependencies {
        model: connect(&offline).expect("the offline pilot"),
        clock: Arc::new(FixedClock),
        egress: EgressClient::new(EgressOptions::default()).expect("a client"),
        files: Arc::new(folder::Folder::new()),
        values: Arc::new(MemoryValues::default()),
        library: Arc::new(EmptyServices),
        listings: Arc::new(EmptyServices),
    }
}

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        "2026-06-21T12:00:00Z".parse().expect("a time")
    }
}

#[derive(Default)]
struct MemoryValues(Mutex<HashMap<(UserId, String), Value>>);

#[async_trait]
impl Values for MemoryValues {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>> {
        let values = self.0.lock().expect("the lock is not poisoned");
        Ok(values.get(&(user.clone(), key.to_owned())).cloned())
    }

    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool> {
        let mut values = self.0.lock().expect("the lock is not poisoned");
        values.insert((user.clone(), key.to_owned()), value.clone());
        Ok(true)
    }
}

/// An empty library and marketplace.
struct EmptyServices;

#[async_trait]
impl Listings for EmptyServices {
    async fn publish(&self, _: &Listing, _: &Graph) -> PortResult<ListingPublished> {
        Ok(ListingPublished::TooMany)
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        Ok(Vec::new())
    }

    async fn by_name(&self, _: &str, _: &str) -> PortResult<Option<Listing>> {
        Ok(None)
    }

    async fn by_version(&self, _: &ListingVersionId) -> PortResult<Option<Listing>> {
        Ok(None)
    }
}

#[async_trait]
impl Library for EmptyServices {
    async fn add(&self, _: &UserId, _: &LibraryAgent) -> PortResult<AgentAdded> {
        Ok(AgentAdded::NoGraph)
    }

    async fn get(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        Ok(None)
    }

    async fn by_graph(&self, _: &UserId, _: &GraphId) -> PortResult<Option<LibraryAgent>> {
        Ok(None)
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<LibraryAgent>> {
        Ok(Vec::new())
    }

    async fn update(
        &self,
        _: &UserId,
        _: &LibraryAgentId,
        _: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        Ok(None)
    }

    async fn remove(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<bool> {
        Ok(false)
    }

    async fn folders(&self, _: &UserId) -> PortResult<Vec<Folder>> {
        Ok(Vec::new())
    }

    async fn add_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        Ok(FolderWritten::TooMany)
    }

    async fn update_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        Ok(FolderWritten::Missing)
    }

    async fn remove_folder(&self, _: &UserId, _: &FolderId) -> PortResult<bool> {
        Ok(false)
    }

    async fn move_agents(
        &self,
        _: &UserId,
        _: &[LibraryAgentId],
        _: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        Ok(None)
    }
}
