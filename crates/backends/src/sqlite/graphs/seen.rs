//! Who sees which version of a graph.

use protocol::graph::StoredGraph;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::{STORED, stored};

/// Whether the user `?1` sees the row `g`: the owner sees every version; everybody sees those that were listed, and who
/// has the graph in the library the one that is held. Whoever sees one of them sees the active one, too.
const SEEN: &str = "(g.user_id = ?1
    OR EXISTS (SELECT 1 FROM listing_version AS l
        WHERE l.graph_id = g.id AND (g.is_active = 1 OR l.graph_version = g.version))
    OR EXISTS (SELECT 1 FROM library_agent AS a
        WHERE a.user_id = ?1 AND a.graph_id = g.id
          AND (g.is_active = 1 OR a.graph_version = g.version)))";

/// Without a version: the active one.
pub(super) fn find(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> Result<Option<StoredGraph>, Fault> {
    let which = match version {
        Some(_) => "g.version = ?3",
        None => "g.is_active = 1 AND ?3 IS NULL",
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
