//! Rows of graphs, read and written.

use protocol::UserId;
use protocol::graph::{Graph, GraphMeta, StoredGraph};
use tokio_postgres::Row;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::json::written;
use super::super::rows;
use super::super::text::Text;

/// Columns of a `StoredGraph`, of the table `graph` under the name `g`.
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

pub(super) fn graph(row: &Row) -> Result<StoredGraph, Fault> {
    let mut graph: Graph = rows::json(row, "body")?;
    // Which one is active changes after it was written.
    graph.version = rows::small(row, "version")?;
    graph.is_active = rows::get(row, "is_active")?;
    let (user_id, created_at) = (rows::id(row, "user_id")?, rows::time(row, "created_at")?);
    Ok(StoredGraph { graph, user_id, created_at })
}

pub(super) fn meta(row: &Row) -> Result<GraphMeta, Fault> {
    Ok(GraphMeta {
        id: rows::id(row, "id")?,
        version: rows::small(row, "version")?,
        is_active: rows::get(row, "is_active")?,
        name: rows::get(row, "name")?,
        description: rows::get(row, "description")?,
        created_at: rows::time(row, "created_at")?,
    })
}

/// Stores `graph` as it is. Whoever stores an active one has made every other version inactive.
pub(in super::super) async fn insert(
    db: &Connection,
    user: &UserId,
    graph: &Graph,
    wall_us: i64,
) -> Result<StoredGraph, Fault> {
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
                &Text(graph.id.as_str()),
                &(graph.version as i32),
                &Text(user.as_str()),
                &graph.is_active,
                &Text(&graph.name),
                &Text(&graph.description),
                &Text(&body),
                &wall_us,
            ],
        )
        .await?;
    self::graph(&row)
}
