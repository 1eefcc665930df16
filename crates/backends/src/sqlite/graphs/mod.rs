//! Graphs, in versions: a row for each, of which one is active.

mod seen;
mod write;

use async_trait::async_trait;
use ports::store::{GraphCreated, GraphDeleted, Graphs};
use ports::{PortError, PortResult};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use super::job::Need;
use super::{Sqlite, rows};

pub(super) use self::seen::is_seen;
pub(super) use self::write::{Version, insert_version};

#[async_trait]
impl Graphs for Sqlite {
    async fn create(
        &self,
        user: &UserId,
        graph: &Graph,
        entry: &LibraryAgent,
    ) -> PortResult<GraphCreated> {
        let (version, entry, now) = (Version::of(user, graph)?, entry.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| write::create(db, now, &version, &entry)).await
    }

    async fn add_version(&self, user: &UserId, graph: &Graph) -> PortResult<Option<StoredGraph>> {
        let (version, now) = (Version::of(user, graph)?, self.moment());
        self.writer.run(Need::Ordinary, move |db| write::add_version(db, now, &version)).await
    }

    async fn get(
        &self,
        user: &UserId,
        id: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<StoredGraph>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| seen::find(db, &user, &id, version)).await
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
        self.writer.run(Need::Ordinary, move |db| write::activate(db, &user, &id, version)).await
    }

    async fn delete(&self, user: &UserId, id: &GraphId) -> PortResult<GraphDeleted> {
        let (user, id) = (user.clone(), id.clone());
        // Essential, because it makes room.
        self.writer.run(Need::Essential, move |db| write::delete(db, &user, &id)).await
    }
}

impl Version {
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

/// Columns of a `StoredGraph`, of the table `graph` under the name `g`.
const STORED: &str = "g.version, g.is_active, g.user_id, g.body, g.created_at";

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredGraph> {
    let body: Graph = rows::json(row, "body")?;
    Ok(StoredGraph {
        // The text is as it came; which version it has become and whether it is active the row knows.
        graph: Graph { version: row.get("version")?, is_active: row.get("is_active")?, ..body },
        user_id: rows::id(row, "user_id")?,
        created_at: rows::time(row, "created_at")?,
    })
}

/// Whose graph it is, if there is one.
pub(super) fn owner(db: &Connection, id: &GraphId) -> Result<Option<UserId>, Fault> {
    let owner = db
        .prepare_cached("SELECT user_id FROM graph WHERE id = ?1 LIMIT 1")?
        .query_row([id.as_str()], |row| rows::id(row, "user_id"))
        .optional()?;
    Ok(owner)
}
