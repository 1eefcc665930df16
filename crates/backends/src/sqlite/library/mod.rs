//! A user's library: agent entries, in folders.

pub(crate) mod agents;
mod folders;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{AgentAdded, AgentChange, FolderWritten, Library};
use protocol::library::{Folder, LibraryAgent};
use protocol::{FolderId, GraphId, LibraryAgentId, UserId};
use rusqlite::Connection;

use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime, graphs};

#[async_trait]
impl Library for SqliteStore {
    async fn add(&self, user: &UserId, entry: &LibraryAgent) -> PortResult<AgentAdded> {
        let (user, entry, now) = (user.clone(), entry.clone(), self.store_time());
        self.writer.run(WritePriority::Ordinary, move |db| add(db, now, &user, &entry)).await
    }

    async fn get(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| agents::by_id(db, &user, &id)).await
    }

    async fn by_graph(&self, user: &UserId, graph: &GraphId) -> PortResult<Option<LibraryAgent>> {
        let (user, graph) = (user.clone(), graph.clone());
        self.readers.run(move |db| agents::by_graph(db, &user, &graph)).await
    }

    async fn list(&self, user: &UserId) -> PortResult<Vec<LibraryAgent>> {
        let user = user.clone();
        self.readers.run(move |db| agents::all(db, &user)).await
    }

    async fn update(
        &self,
        user: &UserId,
        id: &LibraryAgentId,
        change: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        let (user, id, now) = (user.clone(), id.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| update(db, now, &user, &id, &change))
            .await
    }

    async fn remove(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer
            .run(WritePriority::Essential, move |db| {
                let removed = db
                    .prepare_cached("DELETE FROM library_agent WHERE user_id = ?1 AND id = ?2")?
                    .execute([user.as_str(), id.as_str()])?;
                Ok(WriteOutput::silent(removed > 0))
            })
            .await
    }

    async fn folders(&self, user: &UserId) -> PortResult<Vec<Folder>> {
        let user = user.clone();
        self.readers.run(move |db| folders::all(db, &user)).await
    }

    async fn add_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten> {
        let (user, folder, now) = (user.clone(), folder.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| folders::add(db, now, &user, &folder))
            .await
    }

    async fn update_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten> {
        let (user, folder, now) = (user.clone(), folder.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| folders::update(db, now, &user, &folder))
            .await
    }

    async fn remove_folder(&self, user: &UserId, id: &FolderId) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer.run(WritePriority::Essential, move |db| folders::remove(db, &user, &id)).await
    }

    async fn move_agents(
        &self,
        user: &UserId,
        agents: &[LibraryAgentId],
        folder: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        let (user, agents, folder) = (user.clone(), agents.to_vec(), folder.cloned());
        let now = self.store_time();
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                folders::move_agents(db, now, &user, &agents, folder.as_ref())
            })
            .await
    }
}

fn add(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    entry: &LibraryAgent,
) -> Result<WriteOutput<AgentAdded>, SqliteError> {
    if let Some(existing) = agents::by_graph(db, user, &entry.graph_id)? {
        return Ok(WriteOutput::silent(AgentAdded::Exists(Box::new(existing))));
    }
    if !graphs::is_visible(db, user, &entry.graph_id, entry.graph_version)? {
        return Ok(WriteOutput::silent(AgentAdded::NoGraph));
    }
    if agents::is_full(db, user)? {
        return Ok(WriteOutput::silent(AgentAdded::TooMany));
    }
    let entry = agents::insert(db, now, user, entry)?;
    Ok(WriteOutput::silent(AgentAdded::New(Box::new(entry))))
}

fn update(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    id: &LibraryAgentId,
    change: &AgentChange,
) -> Result<WriteOutput<Option<LibraryAgent>>, SqliteError> {
    let Some(entry) = agents::by_id(db, user, id)? else { return Ok(WriteOutput::silent(None)) };
    // A version held by a library is visible to its user: so only a version that is already visible can be held.
    if let Some(version) = change.graph_version
        && !graphs::is_visible(db, user, &entry.graph_id, version)?
    {
        return Ok(WriteOutput::silent(None));
    }
    agents::change(db, now, id, change)?;
    Ok(WriteOutput::silent(agents::by_id(db, user, id)?))
}
