//! Fakes of the services that blocks use: a library and marketplace, other agents, the copilot.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ports::block::{BlockError, ChildAgent, ChildAgents, CopilotAnswer, CopilotAsk, CopilotTurns};
use ports::store::{AgentAdded, AgentChange, FolderWritten, ListingPublished};
use ports::{Library, Listings, PortResult};
use protocol::graph::Graph;
use protocol::library::{Folder, LibraryAgent, Listing};
use protocol::response::SubSessionCall;
use protocol::usage::Usage;
use protocol::{FolderId, GraphId, LibraryAgentId, ListingVersionId, UserId};
use serde_json::{Value, json};

/// One marketplace, and the library of one user.
#[derive(Default)]
pub(crate) struct FakeMarketplace {
    pub(crate) listings: Mutex<Vec<Listing>>,
    pub(crate) agents: Mutex<Vec<LibraryAgent>>,
}

pub(crate) fn listing(slug: &str, name: &str, description: &str, runs: u64) -> Listing {
    Listing {
        version_id: ListingVersionId(format!("{slug}-1")),
        username: "ada".into(),
        slug: slug.into(),
        name: name.into(),
        sub_heading: String::new(),
        description: description.into(),
        categories: vec!["Productivity".into()],
        is_featured: false,
        graph_id: GraphId(format!("graph-{slug}")),
        graph_version: 2,
        owner: "ada".into(),
        runs,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

#[async_trait]
impl Listings for FakeMarketplace {
    async fn publish(&self, _: &Listing, _: &Graph) -> PortResult<ListingPublished> {
        unreachable!("no block publishes")
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        Ok(self.listings.lock().expect("the lock is not poisoned").clone())
    }

    async fn by_name(&self, username: &str, slug: &str) -> PortResult<Option<Listing>> {
        let mut found = Listings::list(self).await?.into_iter();
        Ok(found.find(|listing| listing.username == username && listing.slug == slug))
    }

    async fn by_version(&self, version: &ListingVersionId) -> PortResult<Option<Listing>> {
        Ok(Listings::list(self).await?.into_iter().find(|listing| listing.version_id == *version))
    }
}

#[async_trait]
impl Library for FakeMarketplace {
    async fn add(&self, _: &UserId, entry: &LibraryAgent) -> PortResult<AgentAdded> {
        let mut agents = self.agents.lock().expect("the lock is not poisoned");
        if let Some(agent) = agents.iter().find(|agent| agent.graph_id == entry.graph_id) {
            return Ok(AgentAdded::Exists(Box::new(agent.clone())));
        }
        agents.push(entry.clone());
        Ok(AgentAdded::New(Box::new(entry.clone())))
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<LibraryAgent>> {
        Ok(self.agents.lock().expect("the lock is not poisoned").clone())
    }

    async fn get(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        unreachable!("no block reads a single entry")
    }

    async fn by_graph(&self, _: &UserId, _: &GraphId) -> PortResult<Option<LibraryAgent>> {
        unreachable!("no block reads a single entry")
    }

    async fn update(
        &self,
        _: &UserId,
        _: &LibraryAgentId,
        _: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        unreachable!("no block changes an entry")
    }

    async fn remove(&self, _: &UserId, _: &LibraryAgentId) -> PortResult<bool> {
        unreachable!("no block removes an entry")
    }

    async fn folders(&self, _: &UserId) -> PortResult<Vec<Folder>> {
        unreachable!("no block uses folders")
    }

    async fn add_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        unreachable!("no block uses folders")
    }

    async fn update_folder(&self, _: &UserId, _: &Folder) -> PortResult<FolderWritten> {
        unreachable!("no block uses folders")
    }

    async fn remove_folder(&self, _: &UserId, _: &FolderId) -> PortResult<bool> {
        unreachable!("no block uses folders")
    }

    async fn move_agents(
        &self,
        _: &UserId,
        _: &[LibraryAgentId],
        _: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        unreachable!("no block uses folders")
    }
}

/// Other agents and the copilot; requests are recorded.
#[derive(Default)]
pub(crate) struct FakeServices {
    pub(crate) children: Mutex<Vec<ChildAgent>>,
    pub(crate) asks: Mutex<Vec<CopilotAsk>>,
}

#[async_trait]
impl ChildAgents for FakeServices {
    async fn run(&self, child: ChildAgent) -> Result<Vec<(String, Value)>, BlockError> {
        let graph = child.graph_id.clone();
        self.children.lock().expect("the lock is not poisoned").push(child);
        if graph.as_str() == "endless" {
            std::future::pending::<()>().await;
        }
        Ok(vec![("sum".into(), json!(3)), ("note".into(), json!("a")), ("sum".into(), json!(4))])
    }
}

#[async_trait]
impl CopilotTurns for FakeServices {
    async fn ask(&self, ask: CopilotAsk) -> Result<CopilotAnswer, BlockError> {
        self.asks.lock().expect("the lock is not poisoned").push(ask);
        Ok(CopilotAnswer {
            session_id: "session-7".into(),
            response: "You have two agents.".into(),
            calls: vec![SubSessionCall {
                tool_call_id: "call-1".into(),
                tool_name: "find_library_agent".into(),
                done: true,
            }],
            history: json!([{ "role": "user", "content": "List my agents." }]),
            usage: Usage { prompt_tokens: 100, completion_tokens: 50, ..Usage::default() },
            elapsed: Duration::from_secs(1),
        })
    }
}
