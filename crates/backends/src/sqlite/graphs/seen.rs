//! Who sees which version of a graph.

use protocol::graph::StoredGraph;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::{STORED, stored};

/// Whether the user `?1` sees the row `g`: the owner sees every version, everybody those that were listed, and whoever
/// has the graph in the library the one that is held. Being active shows a version to nobody else: an edit is active at
/// once, and is its author's own until it is listed.
const SEEN: &str = "(g.user_id = ?1
    OR EXISTS (SELECT 1 FROM listing_version AS l
        WHERE l.graph_id = g.id AND l.graph_version = g.version)
    OR EXISTS (SELECT 1 FROM library_agent AS a
        WHERE a.user_id = ?1 AND a.graph_id = g.id AND a.graph_version = g.version))";

/// Whether the row `g` is what the user `?1` means by the graph: the active version of one's own; of another's the one
/// that the library holds, or else the one that was listed last.
const MEANT: &str = "CASE WHEN g.user_id = ?1 THEN g.is_active = 1 ELSE g.version = ifnull(
    (SELECT a.graph_version FROM library_agent AS a WHERE a.user_id = ?1 AND a.graph_id = g.id
        AND a.use_graph_is_active_version = 0),
    (SELECT l.graph_version FROM listing_version AS l WHERE l.graph_id = g.id
        ORDER BY l.created_at DESC, l.graph_version DESC LIMIT 1)) END";

/// Without a version: the one that is meant.
pub(super) fn find(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> Result<Option<StoredGraph>, Fault> {
    let which = match version {
        Some(_) => "g.version = ?3",
        None => &format!("{MEANT} AND ?3 IS NULL"),
    };
    let found = db
        .prepare_cached(&format!(
            "SELECT {STORED} FROM graph AS g WHERE g.id = ?2 AND {which} AND {SEEN}"
        ))?
        .query_row(params![user.as_str(), id.as_str(), version], stored)
        .optional()?;
    Ok(found)
}

pub(in super::super) fn is_seen(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
    version: u32,
) -> Result<bool, Fault> {
    let seen = db
        .prepare_cached(&format!(
            "SELECT 1 FROM graph AS g WHERE g.id = ?2 AND g.version = ?3 AND {SEEN}"
        ))?
        .exists(params![user.as_str(), id.as_str(), version])?;
    Ok(seen)
}
