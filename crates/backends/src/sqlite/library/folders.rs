//! Library folders: a tree, with unique names among siblings.

use ports::store::FolderWritten;
use protocol::library::Folder;
use protocol::limits::LIBRARY_FOLDERS;
use protocol::{FolderId, LibraryAgentId, UserId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::error::SqliteError;
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, rows};
use crate::folders::{refusal, with_all_inside};

const FOLDER: &str = "id, name, icon, color, parent_id, created_at, updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Folder> {
    Ok(Folder {
        id: rows::id(row, "id")?,
        name: row.get("name")?,
        icon: row.get("icon")?,
        color: row.get("color")?,
        parent_id: rows::optional_id(row, "parent_id")?,
        created_at: rows::time(row, "created_at")?,
        updated_at: rows::time(row, "updated_at")?,
    })
}

pub(super) fn all(db: &Connection, user: &UserId) -> Result<Vec<Folder>, SqliteError> {
    let all = db
        .prepare_cached(&format!(
            "SELECT {FOLDER} FROM library_folder WHERE user_id = ?1 ORDER BY number"
        ))?
        .query_map([user.as_str()], read)?
        .collect::<Result<_, _>>()?;
    Ok(all)
}

fn find(db: &Connection, user: &UserId, id: &FolderId) -> Result<Option<Folder>, SqliteError> {
    let found = db
        .prepare_cached(&format!(
            "SELECT {FOLDER} FROM library_folder WHERE user_id = ?1 AND id = ?2"
        ))?
        .query_row([user.as_str(), id.as_str()], read)
        .optional()?;
    Ok(found)
}

pub(super) fn add(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    folder: &Folder,
) -> Result<WriteOutput<FolderWritten>, SqliteError> {
    let present = all(db, user)?;
    if let Some(refused) = refusal(&present, folder) {
        return Ok(WriteOutput::silent(refused));
    }
    if present.len() >= LIBRARY_FOLDERS as usize {
        return Ok(WriteOutput::silent(FolderWritten::TooMany));
    }
    db.prepare_cached(
        "INSERT INTO library_folder
             (id, user_id, name, icon, color, parent_id, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
    )?
    .execute(params![
        folder.id.as_str(),
        user.as_str(),
        folder.name,
        folder.icon,
        folder.color,
        folder.parent_id.as_ref().map(FolderId::as_str),
        now.wall_us,
    ])?;
    written(db, user, folder)
}

pub(super) fn update(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    folder: &Folder,
) -> Result<WriteOutput<FolderWritten>, SqliteError> {
    let present = all(db, user)?;
    if present.iter().all(|existing| existing.id != folder.id) {
        return Ok(WriteOutput::silent(FolderWritten::Missing));
    }
    if let Some(refused) = refusal(&present, folder) {
        return Ok(WriteOutput::silent(refused));
    }
    db.prepare_cached(
        "UPDATE library_folder SET name = ?2, icon = ?3, color = ?4, parent_id = ?5,
             updated_at = ?6
         WHERE id = ?1",
    )?
    .execute(params![
        folder.id.as_str(),
        folder.name,
        folder.icon,
        folder.color,
        folder.parent_id.as_ref().map(FolderId::as_str),
        now.wall_us,
    ])?;
    written(db, user, folder)
}

fn written(
    db: &Connection,
    user: &UserId,
    folder: &Folder,
) -> Result<WriteOutput<FolderWritten>, SqliteError> {
    let stored = find(db, user, &folder.id)?
        .ok_or_else(|| SqliteError::broken("a written folder cannot be found"))?;
    Ok(WriteOutput::silent(FolderWritten::Done(Box::new(stored))))
}

/// Removes the folder with all folders below it; their agents move to the root.
pub(super) fn remove(
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

pub(super) fn move_agents(
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
