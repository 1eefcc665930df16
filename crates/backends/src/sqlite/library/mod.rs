//! A user's library: entries for agents, in folders.

pub(super) mod entries;
mod folders;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{AgentAdded, AgentChange, FolderWritten, Library};
use protocol::library::{Folder, LibraryAgent};
use protocol::{FolderId, GraphId, LibraryAgentId, UserId};
use rusqlite::Connection;

use super::fault::Fault;
use super::job::{Done, Need};
use super::{Moment, Sqlite, graphs};

#[async_trait]
impl Library for Sqlite {
    async fn add(&self, user: &UserId, entry: &LibraryAgent) -> PortResult<AgentAdded> {
        let (user, entry, now) = (user.clone(), entry.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| add(db, now, &user, &entry)).await
    }

    async fn get(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| entries::by_id(db, &user, &id)).await
    }

    async fn by_graph(&self, user: &UserId, graph: &GraphId) -> PortResult<Option<LibraryAgent>> {
        let (user, graph) = (user.clone(), graph.clone());
        self.readers.run(move |db| entries::by_graph(db, &user, &graph)).await
    }

    async fn list(&self, user: &UserId) -> PortResult<Vec<LibraryAgent>> {
        let user = user.clone();
        self.readers.run(move |db| entries::all(db, &user)).await
    }

    async fn update(
        &self,
        user: &UserId,
        id: &LibraryAgentId,
        change: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        let (user, id, now) = (user.clone(), id.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| update(db, now, &user, &id, &change)).await
    }

    async fn remove(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer
            .run(Need::Essential, move |db| {
                let removed = db
                    .prepare_cached("DELETE FROM library_agent WHERE user_id = ?1 AND id = ?2")?
                    .execute([user.as_str(), id.as_str()])?;
                Ok(Done::quietly(removed > 0))
            })
            .await
    }

    async fn folders(&self, user: &UserId) -> PortResult<Vec<Folder>> {
        let user = user.clone();
        self.readers.run(move |db| folders::all(db, &user)).await
    }

    async fn add_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten> {
        let (user, folder, now) = (user.clone(), folder.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| folders::add(db, now, &user, &folder)).await
    }

    async fn update_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten> {
        let (user, folder, now) = (user.clone(), folder.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| folders::update(db, now, &user, &folder)).await
    }

    async fn remove_folder(&self, user: &UserId, id: &FolderId) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer.run(Need::Essential, move |db| folders::remove(db, &user, &id)).await
    }

    async fn move_agents(
        &self,
        user: &UserId,
        agents: &[LibraryAgentId],
        folder: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        let (user, agents, folder) = (user.clone(), agents.to_vec(), folder.cloned());
        let now = self.moment();
        self.writer
            .run(Need::Ordinary, move |db| {
                folders::move_agents(db, now, &user, &agents, folder.as_ref())
            })
            .await
    }
}

fn add(
    db: &Connection,
    now: Moment,
    user: &UserId,
    entry: &LibraryAgent,
) -> Result<Done<AgentAdded>, Fault> {
    if let Some(known) = entries::by_graph(db, user, &entry.graph_id)? {
        return Ok(Done::quietly(AgentAdded::Exists(Box::new(known))));
    }
    if !graphs::is_seen(db, user, &entry.graph_id, entry.graph_version)? {
        return Ok(Done::quietly(AgentAdded::NoGraph));
    }
    if entries::is_full(db, user)? {
        return Ok(Done::quietly(AgentAdded::TooMany));
    }
    let entry = entries::insert(db, now, user, entry)?;
    Ok(Done::quietly(AgentAdded::New(Box::new(entry))))
}

fn update(
    db: &Connection,
    now: Moment,
    user: &UserId,
    id: &LibraryAgentId,
    change: &AgentChange,
) -> Result<Done<Option<LibraryAgent>>, Fault> {
    let Some(entry) = entries::by_id(db, user, id)? else { return Ok(Done::quietly(None)) };
    // A version that a library holds is shown to its user: so only one that is shown already can be held.
    if let Some(version) = change.graph_version
        && !graphs::is_seen(db, user, &entry.graph_id, version)?
    {
        return Ok(Done::quietly(None));
    }
    entries::change(db, now, id, change)?;
    Ok(Done::quietly(entries::by_id(db, user, id)?))
}
