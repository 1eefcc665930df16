//! In-memory library, marketplace and reviews of one user.

use std::sync::Mutex;

use async_trait::async_trait;
use jiff::Timestamp;
use ports::store::{
    AgentAdded, AgentChange, FolderWritten, Library, ListingPublished, Listings, ReviewVerdict,
    Reviews, ReviewsDecided,
};
use ports::{PortError, PortResult};
use protocol::execution::SafeMode;
use protocol::graph::Graph;
use protocol::library::{Folder, LibraryAgent, Listing};
use protocol::review::Review;
use protocol::{
    ExecutionId, FolderId, GraphId, LibraryAgentId, ListingVersionId, NodeId, ReviewId, UserId,
};

#[derive(Default)]
pub(crate) struct MemoryStore {
    pub(crate) entries: Mutex<Vec<LibraryAgent>>,
    pub(crate) listings: Mutex<Vec<Listing>>,
    pub(crate) reviews: Mutex<Vec<Review>>,
}

pub(crate) fn entry(id: &str, name: &str, description: &str) -> LibraryAgent {
    LibraryAgent {
        id: id.into(),
        graph_id: format!("graph-{id}").into(),
        graph_version: 1,
        name: name.into(),
        description: description.into(),
        creator: None,
        folder_id: None,
        is_favorite: false,
        is_created_by_user: true,
        is_hidden: false,
        use_graph_is_active_version: true,
        settings: SafeMode::default(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        last_run_at: None,
    }
}

pub(crate) fn listing(slug: &str, name: &str, description: &str) -> Listing {
    Listing {
        version_id: format!("version-{slug}").into(),
        username: "helm".into(),
        slug: slug.into(),
        name: name.into(),
        sub_heading: String::new(),
        description: description.into(),
        categories: vec!["text".into()],
        is_featured: false,
        graph_id: format!("graph-{slug}").into(),
        graph_version: 2,
        owner: "helm".into(),
        runs: 3,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

fn not_used<T>() -> PortResult<T> {
    Err(PortError::Broken("no tool calls this".into()))
}

#[async_trait]
impl Library for MemoryStore {
    async fn add(&self, user: &UserId, entry: &LibraryAgent) -> PortResult<AgentAdded> {
        if let Some(entry) = self.by_graph(user, &entry.graph_id).await? {
            return Ok(AgentAdded::Exists(Box::new(entry)));
        }
        self.entries.lock().expect("not poisoned").push(entry.clone());
        Ok(AgentAdded::New(Box::new(entry.clone())))
    }

    async fn get(&self, _: &UserId, id: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        let entries = self.entries.lock().expect("not poisoned");
        Ok(entries.iter().find(|entry| entry.id == *id).cloned())
    }

    async fn by_graph(&self, _: &UserId, graph: &GraphId) -> PortResult<Option<LibraryAgent>> {
        let entries = self.entries.lock().expect("not poisoned");
        Ok(entries.iter().find(|entry| entry.graph_id == *graph).cloned())
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<LibraryAgent>> {
        Ok(self.entries.lock().expect("not poisoned").clone())
    }

    async fn update(
        &self,
        _: &UserId,
        _: &LibraryAgentId,
        _: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        not_used()
    }

    async fn remove(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<bool> {
        not_used()
    }

    async fn folders(&self, _: &UserId) -> PortResult<Vec<Folder>> {
        not_used()
    }

    async fn add_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        not_used()
    }

    async fn update_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        not_used()
    }

    async fn remove_folder(&self, _: &UserId, _: &FolderId) -> PortResult<bool> {
        not_used()
    }

    async fn move_agents(
        &self,
        _: &UserId,
        _: &[LibraryAgentId],
        _: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        not_used()
    }
}

#[async_trait]
impl Listings for MemoryStore {
    async fn publish(&self, _: &Listing, _: &Graph) -> PortResult<ListingPublished> {
        not_used()
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        Ok(self.listings.lock().expect("not poisoned").clone())
    }

    async fn by_name(&self, username: &str, slug: &str) -> PortResult<Option<Listing>> {
        let listings = self.listings.lock().expect("not poisoned");
        let is_meant = |listed: &&Listing| listed.username == username && listed.slug == slug;
        Ok(listings.iter().find(is_meant).cloned())
    }

    async fn by_version(&self, _: &ListingVersionId) -> PortResult<Option<Listing>> {
        not_used()
    }
}

#[async_trait]
impl Reviews for MemoryStore {
    async fn ask(&self, _: &Review) -> PortResult<Review> {
        not_used()
    }

    async fn get(&self, user: &UserId, id: &ReviewId) -> PortResult<Option<Review>> {
        let reviews = self.reviews.lock().expect("not poisoned");
        let is_meant = |review: &&Review| review.id == *id && review.user_id == *user;
        Ok(reviews.iter().find(is_meant).cloned())
    }

    async fn pending(&self, _: &UserId, _: u32, _: u64) -> PortResult<(Vec<Review>, u64)> {
        not_used()
    }

    async fn of_execution(&self, _: &UserId, _: &ExecutionId) -> PortResult<Vec<Review>> {
        not_used()
    }

    async fn decide(&self, _: &UserId, _: &[ReviewVerdict]) -> PortResult<ReviewsDecided> {
        not_used()
    }

    async fn approved_for_the_rest(
        &self,
        _: &UserId,
        _: &ExecutionId,
        _: &NodeId,
    ) -> PortResult<bool> {
        not_used()
    }

    async fn remove(&self, _: &UserId, id: &ReviewId) -> PortResult<bool> {
        let mut reviews = self.reviews.lock().expect("not poisoned");
        let before = reviews.len();
        reviews.retain(|review| review.id != *id);
        Ok(reviews.len() < before)
    }
}
