//! Graphs in versions: a row for each version, one of which is active.

mod change;
pub(crate) mod insert;
mod visibility;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{GraphCreated, GraphDeleted, Graphs, VersionAdded, VersionTerms};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::error::SqliteError;
use super::write_job::WritePriority;
use crate::rows::StoreRow;
use crate::rows::graphs::{graph_columns, graph_meta, graph_meta_columns, stored_graph};
use crate::rules::page;

use self::insert::NewGraphVersion;
pub(crate) use self::visibility::is_visible;

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
            .run(WritePriority::Ordinary, move |db| change::create(db, now, &version, &entry))
            .await
    }

    async fn add_version(
        &self,
        user: &UserId,
        graph: &Graph,
        terms: VersionTerms,
    ) -> PortResult<VersionAdded> {
        let (version, now) = (NewGraphVersion::of(user, graph)?, self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| change::add_version(db, now, &version, terms))
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
                    .prepare_cached(concat!(
                        "SELECT ",
                        graph_meta_columns!(),
                        " FROM graph AS g WHERE g.user_id = ?1 AND g.is_active = 1
                         ORDER BY g.number DESC LIMIT ?2 OFFSET ?3"
                    ))?
                    .query_map(params![user.as_str(), limit, page::offset(offset)], |row| {
                        graph_meta(row)
                    })?
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
                    .prepare_cached(concat!(
                        "SELECT ",
                        graph_meta_columns!(),
                        " FROM graph AS g WHERE g.id = ?1 AND g.user_id = ?2
                         ORDER BY g.version DESC"
                    ))?
                    .query_map([id.as_str(), user.as_str()], |row| graph_meta(row))?
                    .collect::<Result<_, _>>()?;
                Ok(versions)
            })
            .await
    }

    async fn mentioning(
        &self,
        user: &UserId,
        id: &GraphId,
        limit: u32,
    ) -> PortResult<Vec<StoredGraph>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers
            .run(move |db| {
                let found = db
                    .prepare_cached(concat!(
                        "SELECT ",
                        graph_columns!(),
                        " FROM graph AS g WHERE g.user_id = ?1 AND g.is_active = 1
                            AND g.id <> ?2 AND instr(g.body, ?2) > 0
                         ORDER BY g.number DESC LIMIT ?3"
                    ))?
                    .query_map(params![user.as_str(), id.as_str(), limit], |row| stored_graph(row))?
                    .collect::<Result<_, _>>()?;
                Ok(found)
            })
            .await
    }

    async fn activate(&self, user: &UserId, id: &GraphId, version: u32) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer
            .run(WritePriority::Ordinary, move |db| change::activate(db, &user, &id, version))
            .await
    }

    async fn delete(&self, user: &UserId, id: &GraphId) -> PortResult<GraphDeleted> {
        let (user, id) = (user.clone(), id.clone());
        // Essential, because it frees space.
        self.writer.run(WritePriority::Essential, move |db| change::delete(db, &user, &id)).await
    }
}

/// Owner of the graph, if the graph exists.
pub(crate) fn owner(db: &Connection, id: &GraphId) -> Result<Option<UserId>, SqliteError> {
    let owner = db
        .prepare_cached("SELECT user_id FROM graph WHERE id = ?1 LIMIT 1")?
        .query_row([id.as_str()], |row| row.id("user_id"))
        .optional()?;
    Ok(owner)
}
