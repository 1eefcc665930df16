//! Inserts versions of graphs.

use protocol::graph::{Graph, StoredGraph};
use protocol::{GraphId, UserId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::graphs::{graph_columns, stored_graph};
use crate::rules::json::to_json;

/// Stores `graph` as it is. Before storing an active version, the caller deactivates all others.
pub(crate) async fn insert(
    db: &PooledConnection,
    user: &UserId,
    graph: &Graph,
    wall_us: i64,
) -> Result<StoredGraph, PostgresError> {
    let body = to_json(graph)?;
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
    stored_graph(&row)
}

/// Deactivates all versions, before another one is activated.
pub(crate) async fn deactivate_all(
    db: &PooledConnection,
    id: &GraphId,
) -> Result<(), PostgresError> {
    let graph = TextParam(id.as_str());
    db.query("UPDATE graph SET is_active = false WHERE id = $1 AND is_active", &[&graph]).await?;
    Ok(())
}
