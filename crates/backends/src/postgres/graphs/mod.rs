//! Graphs in versions.

pub(super) mod change;
pub(super) mod row;
pub(super) mod visibility;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{GraphCreated, GraphDeleted, Graphs};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use self::row::{graph_columns, meta_columns};
use self::visibility::{is_default_version, is_visible};
use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::turns::advisory_locks;

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

    async fn add_version(&self, user: &UserId, graph: &Graph) -> PortResult<Option<StoredGraph>> {
        self.write(change::add_version(self.clone(), user.clone(), graph.clone())).await
    }

    async fn get(
        &self,
        user: &UserId,
        id: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<StoredGraph>> {
        self.read(|db| async move {
            let version = version.map(|version| version as i32);
            let ids = (TextParam(user.as_str()), TextParam(id.as_str()));
            let row = db.query_opt(GET, &[&ids.0, &ids.1, &version]).await?;
            row.as_ref().map(row::graph).transpose()
        })
        .await
    }

    async fn list(&self, user: &UserId, limit: u32, offset: u64) -> PortResult<Vec<GraphMeta>> {
        self.read(|db| async move {
            let (limit, offset) = (i64::from(limit), offset as i64);
            let found = db.query(LIST, &[&TextParam(user.as_str()), &limit, &offset]).await?;
            found.iter().map(row::meta).collect()
        })
        .await
    }

    async fn versions(&self, user: &UserId, id: &GraphId) -> PortResult<Vec<GraphMeta>> {
        self.read(|db| async move {
            let ids = (TextParam(user.as_str()), TextParam(id.as_str()));
            let found = db.query(VERSIONS, &[&ids.0, &ids.1]).await?;
            found.iter().map(row::meta).collect()
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

const GET: &str = concat!(
    "SELECT ",
    graph_columns!(),
    " FROM graph AS g
     WHERE g.id = $2 AND CASE WHEN $3::integer IS NULL THEN ",
    is_default_version!(),
    " ELSE g.version = $3 END
       AND ",
    is_visible!()
);
const LIST: &str = concat!(
    "SELECT ",
    meta_columns!(),
    " FROM graph AS g WHERE g.user_id = $1 AND g.is_active
     ORDER BY g.created_at DESC, g.number DESC LIMIT $2 OFFSET $3"
);
const VERSIONS: &str = concat!(
    "SELECT ",
    meta_columns!(),
    " FROM graph AS g WHERE g.user_id = $1 AND g.id = $2 ORDER BY g.version DESC"
);

/// Advisory lock for changes to the versions of a graph, held until the end of the transaction.
pub(super) async fn lock(db: &PooledConnection, id: &GraphId) -> Result<(), PostgresError> {
    advisory_locks::lock(db, &format!("graph:{id}")).await
}
