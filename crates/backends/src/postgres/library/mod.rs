//! A user's library: agent entries and folders. Changes to their number, or to the nesting of folders, happen under
//! the lock of the library.

mod agents;
mod folders;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{AgentAdded, AgentChange, FolderWritten, Library};
use protocol::library::{Folder, LibraryAgent};
use protocol::{FolderId, GraphId, LibraryAgentId, UserId};

pub(crate) use self::agents::{has_room, insert};
use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::turns::advisory_locks;

#[async_trait]
impl Library for PostgresStore {
    async fn add(&self, user: &UserId, entry: &LibraryAgent) -> PortResult<AgentAdded> {
        self.write(agents::add(self.clone(), user.clone(), entry.clone())).await
    }

    async fn get(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<Option<LibraryAgent>> {
        self.read(|db| async move { agents::by_id(&db, user, id).await }).await
    }

    async fn by_graph(&self, user: &UserId, graph: &GraphId) -> PortResult<Option<LibraryAgent>> {
        self.read(|db| async move { agents::by_graph(&db, user, graph).await }).await
    }

    async fn list(&self, user: &UserId) -> PortResult<Vec<LibraryAgent>> {
        self.read(|db| async move { agents::all(&db, user).await }).await
    }

    async fn update(
        &self,
        user: &UserId,
        id: &LibraryAgentId,
        change: AgentChange,
    ) -> PortResult<Option<LibraryAgent>> {
        self.write(agents::update(self.clone(), user.clone(), id.clone(), change)).await
    }

    async fn remove(&self, user: &UserId, id: &LibraryAgentId) -> PortResult<bool> {
        let (pool, user, id) = (self.pool.clone(), user.clone(), id.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let removed = db
                .query_opt(
                    "DELETE FROM library_agent WHERE user_id = $1 AND id = $2 RETURNING id",
                    &[&TextParam(user.as_str()), &TextParam(id.as_str())],
                )
                .await?;
            Ok(removed.is_some())
        })
        .await
    }

    async fn folders(&self, user: &UserId) -> PortResult<Vec<Folder>> {
        self.read(|db| async move { folders::all(&db, user).await }).await
    }

    async fn add_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten> {
        self.write(folders::add(self.clone(), user.clone(), folder.clone())).await
    }

    async fn update_folder(&self, user: &UserId, folder: &Folder) -> PortResult<FolderWritten> {
        self.write(folders::update(self.clone(), user.clone(), folder.clone())).await
    }

    async fn remove_folder(&self, user: &UserId, id: &FolderId) -> PortResult<bool> {
        self.write(folders::remove(self.clone(), user.clone(), id.clone())).await
    }

    async fn move_agents(
        &self,
        user: &UserId,
        agents: &[LibraryAgentId],
        folder: Option<&FolderId>,
    ) -> PortResult<Option<u32>> {
        let (agents, folder) = (agents.to_vec(), folder.cloned());
        self.write(folders::move_agents(self.clone(), user.clone(), agents, folder)).await
    }
}

pub(crate) async fn lock(db: &PooledConnection, user: &UserId) -> Result<(), PostgresError> {
    advisory_locks::lock(db, &format!("library:{user}")).await
}
