//! Reads and writes rows of graphs.

use protocol::UserId;
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use tokio_postgres::Row;

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::json::written;
use super::super::rows;
use super::super::text_param::TextParam;

/// Columns of a `StoredGraph`; the table `graph` has the alias `g`.
macro_rules! graph_columns {
    () => {
        "g.version, g.is_active, g.user_id, g.body, g.created_at"
    };
}

/// Columns of a `GraphMeta`.
macro_rules! meta_columns {
    () => {
        "g.id, g.version, g.is_active, g.name, g.description, g.created_at"
    };
}

pub(super) use {graph_columns, meta_columns};

pub(super) fn graph(row: &Row) -> Result<StoredGraph, PostgresError> {
    let mut graph: Graph = rows::json(row, "body")?;
    // The active flag may have changed since the body was written.
    graph.version = rows::small(row, "version")?;
    graph.is_active = rows::get(row, "is_active")?;
    let (user_id, created_at) = (rows::id(row, "user_id")?, rows::time(row, "created_at")?);
    Ok(StoredGraph { graph, user_id, created_at })
}

pub(super) fn meta(row: &Row) -> Result<GraphMeta, PostgresError> {
    Ok(GraphMeta {
        id: rows::id(row, "id")?,
        version: rows::small(row, "version")?,
        is_active: rows::get(row, "is_active")?,
        name: rows::get(row, "name")?,
        description: rows::get(row, "description")?,
        created_at: rows::time(row, "created_at")?,
    })
}

/// Stores `graph` as it is. Before storing an active version, the caller deactivates all others.
pub(in super::super) async fn insert(
    db: &PooledConnection,
    user: &UserId,
    graph: &Graph,
    wall_us: i64,
) -> Result<StoredGraph, PostgresError> {
    let body = written(graph)?;
    let row = db
        .query_one(
            concat!(
                "INSERT INTO graph AS g
                     (id, version, user_id, is_active, name, description, body, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ",
                graph_columns!()
            ),
            &[
                &TextParam(graph.id.as_str()),
                &(graph.version as i32),
                &TextParam(user.as_str()),
                &graph.is_active,
                &TextParam(&graph.name),
                &TextParam(&graph.description),
                &TextParam(&body),
                &wall_us,
            ],
        )
        .await?;
    self::graph(&row)
}
