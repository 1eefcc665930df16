//! Rows of library entries.

use ports::store::AgentChange;
use protocol::execution::SafeMode;
use protocol::library::LibraryAgent;
use protocol::limits::LIBRARY_AGENTS;
use protocol::{FolderId, GraphId, LibraryAgentId, UserId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::super::error::SqliteError;
use super::super::graphs::NewGraphVersion;
use super::super::{StoreTime, rows};

/// Columns of a `LibraryAgent`; the table `library_agent` has the alias `a`. An entry that follows the active version
/// shows that of its user's own graph, and for another user's graph the version listed last.
const ENTRY: &str = "a.id, a.graph_id, a.name, a.description, a.creator, a.folder_id, \
    a.is_favorite, a.is_created_by_user, a.is_hidden, a.use_graph_is_active_version, a.settings, \
    a.created_at, a.updated_at, a.last_run_at, \
    CASE a.use_graph_is_active_version WHEN 1 THEN coalesce( \
        (SELECT g.version FROM graph AS g \
            WHERE g.id = a.graph_id AND g.is_active = 1 AND g.user_id = a.user_id), \
        (SELECT l.graph_version FROM listing_version AS l WHERE l.graph_id = a.graph_id \
            ORDER BY l.created_at DESC, l.graph_version DESC LIMIT 1), \
        a.graph_version) ELSE a.graph_version END AS shown_version";

fn read(row: &Row<'_>) -> rusqlite::Result<LibraryAgent> {
    Ok(LibraryAgent {
        id: rows::id(row, "id")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: row.get("shown_version")?,
        name: row.get("name")?,
        description: row.get("description")?,
        creator: row.get("creator")?,
        folder_id: rows::optional_id(row, "folder_id")?,
        is_favorite: row.get("is_favorite")?,
        is_created_by_user: row.get("is_created_by_user")?,
        is_hidden: row.get("is_hidden")?,
        use_graph_is_active_version: row.get("use_graph_is_active_version")?,
        settings: rows::json(row, "settings")?,
        created_at: rows::time(row, "created_at")?,
        updated_at: rows::time(row, "updated_at")?,
        last_run_at: rows::optional_time(row, "last_run_at")?,
    })
}

pub(super) fn by_id(
    db: &Connection,
    user: &UserId,
    id: &LibraryAgentId,
) -> Result<Option<LibraryAgent>, SqliteError> {
    one(db, "a.user_id = ?1 AND a.id = ?2", [user.as_str(), id.as_str()])
}

pub(super) fn by_graph(
    db: &Connection,
    user: &UserId,
    graph: &GraphId,
) -> Result<Option<LibraryAgent>, SqliteError> {
    one(db, "a.user_id = ?1 AND a.graph_id = ?2", [user.as_str(), graph.as_str()])
}

fn one(
    db: &Connection,
    which: &str,
    params: impl Params,
) -> Result<Option<LibraryAgent>, SqliteError> {
    let found = db
        .prepare_cached(&format!("SELECT {ENTRY} FROM library_agent AS a WHERE {which}"))?
        .query_row(params, read)
        .optional()?;
    Ok(found)
}

pub(super) fn all(db: &Connection, user: &UserId) -> Result<Vec<LibraryAgent>, SqliteError> {
    let all = db
        .prepare_cached(&format!(
            "SELECT {ENTRY} FROM library_agent AS a WHERE a.user_id = ?1
             ORDER BY a.updated_at DESC, a.number DESC"
        ))?
        .query_map([user.as_str()], read)?
        .collect::<Result<_, _>>()?;
    Ok(all)
}

/// Whether the user has reached the limit of library entries.
pub(in super::super) fn is_full(db: &Connection, user: &UserId) -> Result<bool, SqliteError> {
    let full = db
        .prepare_cached("SELECT 1 FROM library_agent WHERE user_id = ?1 LIMIT 1 OFFSET ?2")?
        .exists(params![user.as_str(), LIBRARY_AGENTS - 1])?;
    Ok(full)
}

pub(in super::super) fn insert(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    entry: &LibraryAgent,
) -> Result<LibraryAgent, SqliteError> {
    db.prepare_cached(
        "INSERT INTO library_agent
             (id, user_id, graph_id, graph_version, name, description, creator, folder_id,
              is_favorite, is_created_by_user, is_hidden, use_graph_is_active_version, settings,
              created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
             (SELECT f.id FROM library_folder AS f WHERE f.id = ?8 AND f.user_id = ?2),
             ?9, ?10, ?11, ?12, ?13, ?14, ?14)",
    )?
    .execute(params![
        entry.id.as_str(),
        user.as_str(),
        entry.graph_id.as_str(),
        entry.graph_version,
        entry.name,
        entry.description,
        entry.creator,
        entry.folder_id.as_ref().map(FolderId::as_str),
        entry.is_favorite,
        entry.is_created_by_user,
        entry.is_hidden,
        entry.use_graph_is_active_version,
        settings(entry.settings)?,
        now.wall_us,
    ])?;
    by_id(db, user, &entry.id)?.ok_or_else(|| SqliteError::broken("a new entry cannot be found"))
}

/// Absent fields stay unchanged.
pub(super) fn change(
    db: &Connection,
    now: StoreTime,
    id: &LibraryAgentId,
    change: &AgentChange,
) -> Result<(), SqliteError> {
    db.prepare_cached(
        "UPDATE library_agent SET name = ifnull(?2, name),
             description = ifnull(?3, description), is_favorite = ifnull(?4, is_favorite),
             is_hidden = ifnull(?5, is_hidden), graph_version = ifnull(?6, graph_version),
             use_graph_is_active_version = ifnull(?7, use_graph_is_active_version),
             settings = ifnull(?8, settings), updated_at = ?9
         WHERE id = ?1",
    )?
    .execute(params![
        id.as_str(),
        change.name,
        change.description,
        change.is_favorite,
        change.is_hidden,
        change.graph_version,
        change.use_graph_is_active_version,
        change.settings.map(settings).transpose()?,
        now.wall_us,
    ])?;
    Ok(())
}

/// Copies name and description of a new version to the owner's entry, if the entry follows the active version.
pub(in super::super) fn follow(
    db: &Connection,
    now: StoreTime,
    version: &NewGraphVersion,
) -> Result<(), SqliteError> {
    db.prepare_cached(
        "UPDATE library_agent SET name = ?3, description = ?4, updated_at = ?5
         WHERE user_id = ?1 AND graph_id = ?2 AND use_graph_is_active_version = 1",
    )?
    .execute(params![
        version.user.as_str(),
        version.id.as_str(),
        version.name,
        version.description,
        now.wall_us,
    ])?;
    Ok(())
}

fn settings(settings: SafeMode) -> Result<String, SqliteError> {
    serde_json::to_string(&settings).map_err(|error| SqliteError::broken(error.to_string()))
}
