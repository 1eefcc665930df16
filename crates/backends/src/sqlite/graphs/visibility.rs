//! Visibility of graph versions to users.

use protocol::graph::StoredGraph;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::rows::graphs::{graph_columns, stored_graph};
use crate::sqlite::error::SqliteError;

/// Whether the user `?1` may see the row `g`. The owner sees every version; every user sees listed versions; a user
/// with the graph in the library sees the version held there. The active version is not visible to others: an edit is
/// active at once, but stays private until it is listed.
const VISIBLE: &str = "(g.user_id = ?1
    OR EXISTS (SELECT 1 FROM listing_version AS l
        WHERE l.graph_id = g.id AND l.graph_version = g.version)
    OR EXISTS (SELECT 1 FROM library_agent AS a
        WHERE a.user_id = ?1 AND a.graph_id = g.id AND a.graph_version = g.version))";

/// Whether the row `g` is the default version for the user `?1`: the active version of an own graph; for another
/// user's graph the version held by the library, or else the one listed last.
const DEFAULT_VERSION: &str =
    "CASE WHEN g.user_id = ?1 THEN g.is_active = 1 ELSE g.version = ifnull(
    (SELECT a.graph_version FROM library_agent AS a WHERE a.user_id = ?1 AND a.graph_id = g.id
        AND a.use_graph_is_active_version = 0),
    (SELECT l.graph_version FROM listing_version AS l WHERE l.graph_id = g.id
        ORDER BY l.created_at DESC, l.graph_version DESC LIMIT 1)) END";

/// Without a version: the default version.
pub(crate) fn find(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> Result<Option<StoredGraph>, SqliteError> {
    let which = match version {
        Some(_) => "g.version = ?3",
        None => &format!("{DEFAULT_VERSION} AND ?3 IS NULL"),
    };
    let found = db
        .prepare_cached(&format!(
            "SELECT {} FROM graph AS g WHERE g.id = ?2 AND {which} AND {VISIBLE}",
            graph_columns!()
        ))?
        .query_row(params![user.as_str(), id.as_str(), version], |row| stored_graph(row))
        .optional()?;
    Ok(found)
}

pub(crate) fn is_visible(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
    version: u32,
) -> Result<bool, SqliteError> {
    let seen = db
        .prepare_cached(&format!(
            "SELECT 1 FROM graph AS g WHERE g.id = ?2 AND g.version = ?3 AND {VISIBLE}"
        ))?
        .exists(params![user.as_str(), id.as_str(), version])?;
    Ok(seen)
}
