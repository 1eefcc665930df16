//! Graphs in versions: a row for each version, one of which is active.

mod visibility;
mod write;

use async_trait::async_trait;
use ports::store::{GraphCreated, GraphDeleted, Graphs};
use ports::{PortError, PortResult};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::SqliteError;
use super::write_job::WritePriority;
use super::{SqliteStore, rows};

pub(super) use self::visibility::is_visible;
pub(super) use self::write::{NewGraphVersion, insert_version};

#[async_trait]
impl Graphs for SqliteStore {
    async fn create(
        &self,
        user: &UserId,
        graph: &Graph,
        entry: &LibraryAgent,
    ) -> PortResult<GraphCreated> {
        let (version, entry, now) =
            (NewGraphVersion::of(user, graph)?, entry.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| write::create(db, now, &version, &entry))
            .await
    }

    async fn add_version(&self, user: &UserId, graph: &Graph) -> PortResult<Option<StoredGraph>> {
        let (version, now) = (NewGraphVersion::of(user, graph)?, self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| write::add_version(db, now, &version))
            .await
    }

    async fn get(
        &self,
        user: &UserId,
        id: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<StoredGraph>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| visibility::find(db, &user, &id, version)).await
    }

    async fn list(&self, user: &UserId, limit: u32, offset: u64) -> PortResult<Vec<GraphMeta>> {
        let user = user.clone();
        self.readers
            .run(move |db| {
                let active = db
                    .prepare_cached(&format!(
                        "SELECT {META} FROM graph WHERE user_id = ?1 AND is_active = 1
                         ORDER BY number DESC LIMIT ?2 OFFSET ?3"
                    ))?
                    .query_map(params![user.as_str(), limit, rows::offset(offset)], meta)?
                    .collect::<Result<_, _>>()?;
                Ok(active)
            })
            .await
    }

    async fn versions(&self, user: &UserId, id: &GraphId) -> PortResult<Vec<GraphMeta>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers
            .run(move |db| {
                let versions = db
                    .prepare_cached(&format!(
                        "SELECT {META} FROM graph WHERE id = ?1 AND user_id = ?2
                         ORDER BY version DESC"
                    ))?
                    .query_map([id.as_str(), user.as_str()], meta)?
                    .collect::<Result<_, _>>()?;
                Ok(versions)
            })
            .await
    }

    async fn activate(&self, user: &UserId, id: &GraphId, version: u32) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer
            .run(WritePriority::Ordinary, move |db| write::activate(db, &user, &id, version))
            .await
    }

    async fn delete(&self, user: &UserId, id: &GraphId) -> PortResult<GraphDeleted> {
        let (user, id) = (user.clone(), id.clone());
        // Essential, because it frees space.
        self.writer.run(WritePriority::Essential, move |db| write::delete(db, &user, &id)).await
    }
}

impl NewGraphVersion {
    pub(super) fn of(user: &UserId, graph: &Graph) -> PortResult<Self> {
        let body =
            serde_json::to_string(graph).map_err(|error| PortError::Broken(error.to_string()))?;
        Ok(Self {
            id: graph.id.clone(),
            user: user.clone(),
            name: graph.name.clone(),
            description: graph.description.clone(),
            body,
        })
    }
}

const META: &str = "id, version, is_active, name, description, created_at";

fn meta(row: &Row<'_>) -> rusqlite::Result<GraphMeta> {
    Ok(GraphMeta {
        id: rows::id(row, "id")?,
        version: row.get("version")?,
        is_active: row.get("is_active")?,
        name: row.get("name")?,
        description: row.get("description")?,
        created_at: rows::time(row, "created_at")?,
    })
}

/// Columns of a `StoredGraph`; the table `graph` has the alias `g`.
const STORED: &str = "g.version, g.is_active, g.user_id, g.body, g.created_at";

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredGraph> {
    let body: Graph = rows::json(row, "body")?;
    Ok(StoredGraph {
        // The stored body is unchanged since it was saved; the columns have the version number and the active flag.
        graph: Graph { version: row.get("version")?, is_active: row.get("is_active")?, ..body },
        user_id: rows::id(row, "user_id")?,
        created_at: rows::time(row, "created_at")?,
    })
}

/// Owner of the graph, if the graph exists.
pub(super) fn owner(db: &Connection, id: &GraphId) -> Result<Option<UserId>, SqliteError> {
    let owner = db
        .prepare_cached("SELECT user_id FROM graph WHERE id = ?1 LIMIT 1")?
        .query_row([id.as_str()], |row| rows::id(row, "user_id"))
        .optional()?;
    Ok(owner)
}
