//! Creates, changes and deletes graphs.

use ports::store::{GraphCreated, GraphDeleted, VersionAdded, VersionTerms};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};
use rusqlite::{Connection, params};

use super::insert::{NewGraphVersion, deactivate, insert_version};
use super::{owner, visibility};
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::library::agents;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn create(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
    entry: &LibraryAgent,
) -> Result<WriteOutput<GraphCreated>, SqliteError> {
    if owner(db, &version.id)?.is_some() {
        return Ok(WriteOutput::silent(GraphCreated::Taken));
    }
    if agents::is_full(db, &version.user)? {
        return Ok(WriteOutput::silent(GraphCreated::TooMany));
    }
    insert_version(db, now, version, 1, true)?;
    let entry = LibraryAgent { graph_id: version.id.clone(), graph_version: 1, ..entry.clone() };
    let entry = agents::insert(db, now, &version.user, &entry)?;
    Ok(WriteOutput::silent(GraphCreated::New(Box::new(entry))))
}

pub(crate) fn add_version(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
    terms: VersionTerms,
) -> Result<WriteOutput<VersionAdded>, SqliteError> {
    if owner(db, &version.id)?.as_ref() != Some(&version.user) {
        return Ok(WriteOutput::silent(VersionAdded::Missing));
    }
    let newest: u32 = db
        .prepare_cached("SELECT max(version) FROM graph WHERE id = ?1")?
        .query_row([version.id.as_str()], |row| row.get(0))?;
    if terms.base.is_some_and(|base| base != newest) {
        return Ok(WriteOutput::silent(VersionAdded::Stale { newest }));
    }
    let number = newest + 1;
    insert_version(db, now, version, number, terms.activate)?;
    if terms.activate {
        agents::follow(db, now, version)?;
    }
    let stored = visibility::find(db, &version.user, &version.id, Some(number))?;
    Ok(WriteOutput::silent(
        stored.map_or(VersionAdded::Missing, |stored| VersionAdded::Added(Box::new(stored))),
    ))
}

pub(crate) fn activate(
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

pub(crate) fn delete(
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
