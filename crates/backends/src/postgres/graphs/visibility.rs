//! Visibility of graph versions to users, and the default version of a graph.

use protocol::graph::StoredGraph;
use protocol::{GraphId, UserId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::graphs::{graph_columns, stored_graph};

/// Whether the user `$1` may see the version `g`: all versions of an own graph; for another user's graph the versions
/// listed in the marketplace and the one held by the library. The active version is not visible to others: an edit is
/// active at once, but stays private until it is listed.
macro_rules! is_visible {
    () => {
        "(g.user_id = $1
          OR EXISTS (SELECT 1 FROM library_agent AS held
                     WHERE held.user_id = $1 AND held.graph_id = g.id
                       AND held.graph_version = g.version)
          OR EXISTS (SELECT 1 FROM listing_version AS listed
                     WHERE listed.graph_id = g.id AND listed.graph_version = g.version))"
    };
}

/// Whether the version `g` is the default for the user `$1`: the active one of an own graph; for another user's graph
/// the one held by the library, or else the one listed last.
macro_rules! is_default_version {
    () => {
        "CASE WHEN g.user_id = $1 THEN g.is_active ELSE g.version = coalesce(
             (SELECT held.graph_version FROM library_agent AS held
              WHERE held.user_id = $1 AND held.graph_id = g.id
                AND NOT held.use_graph_is_active_version),
             (SELECT listed.graph_version FROM listing_version AS listed
              WHERE listed.graph_id = g.id
              ORDER BY listed.created_at DESC, listed.graph_version DESC LIMIT 1)) END"
    };
}

pub(crate) use is_visible;

const FIND: &str = concat!(
    "SELECT ",
    graph_columns!(),
    " FROM graph AS g
     WHERE g.id = $2 AND CASE WHEN $3::integer IS NULL THEN ",
    is_default_version!(),
    " ELSE g.version = $3 END
       AND ",
    is_visible!()
);

/// Without a version: the default version.
pub(crate) async fn find(
    db: &PooledConnection,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> Result<Option<StoredGraph>, PostgresError> {
    let version = version.map(|version| version as i32);
    let (user, id) = (TextParam(user.as_str()), TextParam(id.as_str()));
    let row = db.query_opt(FIND, &[&user, &id, &version]).await?;
    row.as_ref().map(stored_graph).transpose()
}

pub(crate) async fn check_visible(
    db: &PooledConnection,
    user: &UserId,
    graph: &GraphId,
    version: u32,
) -> Result<bool, PostgresError> {
    let row = db
        .query_opt(
            concat!(
                "SELECT g.id FROM graph AS g WHERE g.id = $2 AND g.version = $3 AND ",
                is_visible!()
            ),
            &[&TextParam(user.as_str()), &TextParam(graph.as_str()), &(version as i32)],
        )
        .await?;
    Ok(row.is_some())
}
