//! Inserts versions of graphs.

use ports::PortResult;
use protocol::graph::Graph;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, params};

use crate::rules::json::to_json;
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;

/// A version to store, without its number.
pub(crate) struct NewGraphVersion {
    pub(crate) id: GraphId,
    pub(crate) user: UserId,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) body: String,
}

impl NewGraphVersion {
    pub(crate) fn of(user: &UserId, graph: &Graph) -> PortResult<Self> {
        let body = to_json(graph)?;
        Ok(Self {
            id: graph.id.clone(),
            user: user.clone(),
            name: graph.name.clone(),
            description: graph.description.clone(),
            body,
        })
    }
}

/// Stores the version under this number. If it may, it becomes active, unless there is a newer one.
pub(crate) fn insert_version(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
    number: u32,
    activate: bool,
) -> Result<(), SqliteError> {
    let newest = !db
        .prepare_cached("SELECT 1 FROM graph WHERE id = ?1 AND version > ?2")?
        .exists(params![version.id.as_str(), number])?;
    let active = activate && newest;
    if active {
        deactivate(db, &version.id)?;
    }
    db.prepare_cached(
        "INSERT INTO graph (id, version, user_id, is_active, name, description, body, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        version.id.as_str(),
        number,
        version.user.as_str(),
        active,
        version.name,
        version.description,
        version.body,
        now.wall_us,
    ])?;
    Ok(())
}

/// Called before another version is activated: two are never active at once.
pub(crate) fn deactivate(db: &Connection, id: &GraphId) -> Result<(), SqliteError> {
    db.prepare_cached("UPDATE graph SET is_active = 0 WHERE id = ?1 AND is_active = 1")?
        .execute([id.as_str()])?;
    Ok(())
}
