//! Graphs, in versions.

pub(super) mod change;
pub(super) mod row;
pub(super) mod sight;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{GraphCreated, GraphDeleted, Graphs};
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use self::row::{graph_columns, meta_columns};
use self::sight::{means, sees};
use super::Postgres;
use super::connection::Connection;
use super::fault::Fault;
use super::text::Text;
use super::turns::slots;

#[async_trait]
impl Graphs for Postgres {
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
            let ids = (Text(user.as_str()), Text(id.as_str()));
            let row = db.query_opt(GET, &[&ids.0, &ids.1, &version]).await?;
            row.as_ref().map(row::graph).transpose()
        })
        .await
    }

    async fn list(&self, user: &UserId, limit: u32, offset: u64) -> PortResult<Vec<GraphMeta>> {
        self.read(|db| async move {
            let (limit, offset) = (i64::from(limit), offset as i64);
            let found = db.query(LIST, &[&Text(user.as_str()), &limit, &offset]).await?;
            found.iter().map(row::meta).collect()
        })
        .await
    }

    async fn versions(&self, user: &UserId, id: &GraphId) -> PortResult<Vec<GraphMeta>> {
        self.read(|db| async move {
            let ids = (Text(user.as_str()), Text(id.as_str()));
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
    means!(),
    " ELSE g.version = $3 END
       AND ",
    sees!()
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

/// Held by whoever changes the versions of a graph, until the end of the transaction.
pub(super) async fn lock(db: &Connection, id: &GraphId) -> Result<(), Fault> {
    slots::lock(db, &format!("graph:{id}")).await
}
