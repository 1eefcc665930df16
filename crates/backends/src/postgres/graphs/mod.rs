//! Graphs in versions.

mod change;
pub(crate) mod insert;
pub(crate) mod visibility;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{GraphCreated, GraphDeleted, Graphs, VersionAdded, VersionTerms};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::turns::advisory_locks;
use crate::rows::StoreRow;
use crate::rows::graphs::{graph_columns, graph_meta, graph_meta_columns, stored_graph};
use crate::rules::page;

#[async_trait]
impl Graphs for PostgresStore {
    async fn create(
        &self,
        user: &UserId,
        graph: &Graph,
        entry: &LibraryAgent,
    ) -> PortResult<GraphCreated> {
        self.write(change::create(self.clone(), user.clone(), graph.clone(), entry.clone())).await
    }

    async fn add_version(
        &self,
        user: &UserId,
        graph: &Graph,
        terms: VersionTerms,
    ) -> PortResult<VersionAdded> {
        self.write(change::add_version(self.clone(), user.clone(), graph.clone(), terms)).await
    }

    async fn get(
        &self,
        user: &UserId,
        id: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<StoredGraph>> {
        self.read(|db| async move { visibility::find(&db, user, id, version).await }).await
    }

    async fn list(&self, user: &UserId, limit: u32, offset: u64) -> PortResult<Vec<GraphMeta>> {
        self.read(|db| async move {
            let (limit, offset) = (i64::from(limit), page::offset(offset));
            let found = db.query(LIST, &[&TextParam(user.as_str()), &limit, &offset]).await?;
            found.iter().map(graph_meta).collect()
        })
        .await
    }

    async fn versions(&self, user: &UserId, id: &GraphId) -> PortResult<Vec<GraphMeta>> {
        self.read(|db| async move {
            let ids = (TextParam(user.as_str()), TextParam(id.as_str()));
            let found = db.query(VERSIONS, &[&ids.0, &ids.1]).await?;
            found.iter().map(graph_meta).collect()
        })
        .await
    }

    async fn mentioning(
        &self,
        user: &UserId,
        id: &GraphId,
        limit: u32,
    ) -> PortResult<Vec<StoredGraph>> {
        self.read(|db| async move {
            let ids = (TextParam(user.as_str()), TextParam(id.as_str()));
            let found = db.query(MENTIONING, &[&ids.0, &ids.1, &i64::from(limit)]).await?;
            found.iter().map(stored_graph).collect()
        })
        .await
    }

    async fn activate(&self, user: &UserId, id: &GraphId, version: u32) -> PortResult<bool> {
        self.write(change::activate(self.clone(), user.clone(), id.clone(), version)).await
    }

    async fn delete(&self, user: &UserId, id: &GraphId) -> PortResult<GraphDeleted> {
        self.write(change::delete(self.clone(), user.clone(), id.clone())).await
    }
}

const LIST: &str = concat!(
    "SELECT ",
    graph_meta_columns!(),
    " FROM graph AS g WHERE g.user_id = $1 AND g.is_active
     ORDER BY g.created_at DESC, g.number DESC LIMIT $2 OFFSET $3"
);
const MENTIONING: &str = concat!(
    "SELECT ",
    graph_columns!(),
    " FROM graph AS g WHERE g.user_id = $1 AND g.is_active AND g.id <> $2
       AND position($2 in g.body) > 0
     ORDER BY g.created_at DESC, g.number DESC LIMIT $3"
);
const VERSIONS: &str = concat!(
    "SELECT ",
    graph_meta_columns!(),
    " FROM graph AS g WHERE g.user_id = $1 AND g.id = $2 ORDER BY g.version DESC"
);

/// Advisory lock for changes to the versions of a graph, held until the end of the transaction.
pub(crate) async fn lock(db: &PooledConnection, id: &GraphId) -> Result<(), PostgresError> {
    advisory_locks::lock(db, &format!("graph:{id}")).await
}

/// Owner of the graph; `None` when it does not exist.
pub(crate) async fn owner(
    db: &PooledConnection,
    id: &GraphId,
) -> Result<Option<UserId>, PostgresError> {
    let row = db
        .query_opt("SELECT user_id FROM graph WHERE id = $1 LIMIT 1", &[&TextParam(id.as_str())])
        .await?;
    row.map(|row| row.id("user_id")).transpose()
}
