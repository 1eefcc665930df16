//! Library folders: a tree, with unique names among siblings.

use ports::store::FolderWritten;
use protocol::library::Folder;
use protocol::{FolderId, LibraryAgentId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::rows::library::{folder, folder_columns};
use crate::rules::folder_tree::{refusal_of_change, refusal_of_new, with_all_inside};
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn all(db: &Connection, user: &UserId) -> Result<Vec<Folder>, SqliteError> {
    let all = db
        .prepare_cached(concat!(
            "SELECT ",
            folder_columns!(),
            " FROM library_folder AS f WHERE f.user_id = ?1 ORDER BY f.number"
        ))?
        .query_map([user.as_str()], |row| folder(row))?
        .collect::<Result<_, _>>()?;
    Ok(all)
}

fn find(db: &Connection, user: &UserId, id: &FolderId) -> Result<Option<Folder>, SqliteError> {
    let found = db
        .prepare_cached(concat!(
            "SELECT ",
            folder_columns!(),
            " FROM library_folder AS f WHERE f.user_id = ?1 AND f.id = ?2"
        ))?
        .query_row([user.as_str(), id.as_str()], |row| folder(row))
        .optional()?;
    Ok(found)
}

const INSERT: &str = "\
    INSERT INTO library_folder (user_id, id, name, icon, color, parent_id, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
const UPDATE: &str = "\
    UPDATE library_folder SET name = ?3, icon = ?4, color = ?5, parent_id = ?6, updated_at = ?7
    WHERE user_id = ?1 AND id = ?2";

pub(crate) fn add(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    folder: &Folder,
) -> Result<WriteOutput<FolderWritten>, SqliteError> {
    match refusal_of_new(&all(db, user)?, folder) {
        Some(refused) => Ok(WriteOutput::silent(refused)),
        None => write(db, INSERT, now, user, folder),
    }
}

pub(crate) fn update(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    folder: &Folder,
) -> Result<WriteOutput<FolderWritten>, SqliteError> {
    match refusal_of_change(&all(db, user)?, folder) {
        Some(refused) => Ok(WriteOutput::silent(refused)),
        None => write(db, UPDATE, now, user, folder),
    }
}

fn write(
    db: &Connection,
    statement: &str,
    now: StoreTime,
    user: &UserId,
    folder: &Folder,
) -> Result<WriteOutput<FolderWritten>, SqliteError> {
    db.prepare_cached(statement)?.execute(params![
        user.as_str(),
        folder.id.as_str(),
        folder.name,
        folder.icon,
        folder.color,
        folder.parent_id.as_ref().map(FolderId::as_str),
        now.wall_us,
    ])?;
    let stored = find(db, user, &folder.id)?
        .ok_or_else(|| SqliteError::broken("a written folder cannot be found"))?;
    Ok(WriteOutput::silent(FolderWritten::Done(Box::new(stored))))
}

/// Removes the folder with all folders below it; their agents move to the root.
pub(crate) fn remove(
    db: &Connection,
    user: &UserId,
    id: &FolderId,
) -> Result<WriteOutput<bool>, SqliteError> {
    let present = all(db, user)?;
    let removed = with_all_inside(&present, id);
    for folder in &removed {
        for statement in [
            "UPDATE library_agent SET folder_id = NULL WHERE user_id = ?1 AND folder_id = ?2",
            "DELETE FROM library_folder WHERE user_id = ?1 AND id = ?2",
        ] {
            db.prepare_cached(statement)?.execute([user.as_str(), folder.as_str()])?;
        }
    }
    Ok(WriteOutput::silent(!removed.is_empty()))
}

pub(crate) fn move_agents(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    agents: &[LibraryAgentId],
    folder: Option<&FolderId>,
) -> Result<WriteOutput<Option<u32>>, SqliteError> {
    if let Some(folder) = folder
        && find(db, user, folder)?.is_none()
    {
        return Ok(WriteOutput::silent(None));
    }
    let mut update = db.prepare_cached(
        "UPDATE library_agent SET folder_id = ?3, updated_at = ?4 WHERE user_id = ?1 AND id = ?2",
    )?;
    let mut moved = 0;
    for agent in agents {
        let to = folder.map(FolderId::as_str);
        moved += update.execute(params![user.as_str(), agent.as_str(), to, now.wall_us])?;
    }
    Ok(WriteOutput::silent(Some(moved as u32)))
}
