//! Creates, changes and deletes graphs.

use ports::store::{GraphCreated, GraphDeleted};
use protocol::graph::StoredGraph;
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, params};

use super::super::StoreTime;
use super::super::error::SqliteError;
use super::super::library::entries;
use super::super::write_job::WriteOutput;
use super::{owner, visibility};

/// A version to store, without its number.
pub(in super::super) struct NewGraphVersion {
    pub(in super::super) id: GraphId,
    pub(in super::super) user: UserId,
    pub(in super::super) name: String,
    pub(in super::super) description: String,
    pub(in super::super) body: String,
}

pub(super) fn create(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
    entry: &LibraryAgent,
) -> Result<WriteOutput<GraphCreated>, SqliteError> {
    if owner(db, &version.id)?.is_some() {
        return Ok(WriteOutput::silent(GraphCreated::Taken));
    }
    if entries::is_full(db, &version.user)? {
        return Ok(WriteOutput::silent(GraphCreated::TooMany));
    }
    insert_version(db, now, version, 1)?;
    let entry = LibraryAgent { graph_id: version.id.clone(), graph_version: 1, ..entry.clone() };
    let entry = entries::insert(db, now, &version.user, &entry)?;
    Ok(WriteOutput::silent(GraphCreated::New(Box::new(entry))))
}

pub(super) fn add_version(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
) -> Result<WriteOutput<Option<StoredGraph>>, SqliteError> {
    if owner(db, &version.id)?.as_ref() != Some(&version.user) {
        return Ok(WriteOutput::silent(None));
    }
    let newest: u32 = db
        .prepare_cached("SELECT max(version) FROM graph WHERE id = ?1")?
        .query_row([version.id.as_str()], |row| row.get(0))?;
    let number = newest + 1;
    insert_version(db, now, version, number)?;
    entries::follow(db, now, version)?;
    Ok(WriteOutput::silent(visibility::find(db, &version.user, &version.id, Some(number))?))
}

/// Stores the version under this number. It becomes active unless there is a newer one.
pub(in super::super) fn insert_version(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
    number: u32,
) -> Result<(), SqliteError> {
    let newest = !db
        .prepare_cached("SELECT 1 FROM graph WHERE id = ?1 AND version > ?2")?
        .exists(params![version.id.as_str(), number])?;
    if newest {
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
        newest,
        version.name,
        version.description,
        version.body,
        now.wall_us,
    ])?;
    Ok(())
}

/// Called before another version is activated: two are never active at once.
fn deactivate(db: &Connection, id: &GraphId) -> Result<(), SqliteError> {
    db.prepare_cached("UPDATE graph SET is_active = 0 WHERE id = ?1 AND is_active = 1")?
        .execute([id.as_str()])?;
    Ok(())
}

pub(super) fn activate(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
    version: u32,
) -> Result<WriteOutput<bool>, SqliteError> {
    let there = db
        .prepare_cached("SELECT 1 FROM graph WHERE id = ?1 AND version = ?2 AND user_id = ?3")?
        .exists(params![id.as_str(), version, user.as_str()])?;
    if there {
        deactivate(db, id)?;
        db.prepare_cached("UPDATE graph SET is_active = 1 WHERE id = ?1 AND version = ?2")?
            .execute(params![id.as_str(), version])?;
    }
    Ok(WriteOutput::silent(there))
}

pub(super) fn delete(
    db: &Connection,
    user: &UserId,
    id: &GraphId,
) -> Result<WriteOutput<GraphDeleted>, SqliteError> {
    if owner(db, id)?.as_ref() != Some(user) {
        return Ok(WriteOutput::silent(GraphDeleted::Missing));
    }
    let listed = db
        .prepare_cached("SELECT 1 FROM listing_version WHERE graph_id = ?1")?
        .exists([id.as_str()])?;
    if listed {
        return Ok(WriteOutput::silent(GraphDeleted::Listed));
    }
    let versions = db.prepare_cached("DELETE FROM graph WHERE id = ?1")?.execute([id.as_str()])?;
    db.prepare_cached("DELETE FROM library_agent WHERE user_id = ?1 AND graph_id = ?2")?
        .execute([user.as_str(), id.as_str()])?;
    Ok(WriteOutput::silent(GraphDeleted::Deleted(versions as u32)))
}
