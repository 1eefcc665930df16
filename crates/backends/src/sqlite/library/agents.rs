//! Library entries: added once per graph, updated field by field.

use ports::store::AgentChange;
use protocol::library::LibraryAgent;
use protocol::limits::LIBRARY_AGENTS;
use protocol::{FolderId, GraphId, LibraryAgentId, UserId};
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::rows::library::{agent, agent_columns};
use crate::rules::json::to_json;
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::graphs::insert::NewGraphVersion;

macro_rules! select_agents {
    () => {
        concat!(
            "SELECT ",
            agent_columns!(
                "(SELECT g.version FROM graph AS g \
                  WHERE g.id = l.graph_id AND g.is_active = 1 AND g.user_id = l.user_id), \
                 (SELECT v.graph_version FROM listing_version AS v WHERE v.graph_id = l.graph_id \
                  ORDER BY v.created_at DESC, v.graph_version DESC LIMIT 1)"
            ),
            " FROM library_agent AS l "
        )
    };
}

pub(crate) fn by_id(
    db: &Connection,
    user: &UserId,
    id: &LibraryAgentId,
) -> Result<Option<LibraryAgent>, SqliteError> {
    one(db, "l.user_id = ?1 AND l.id = ?2", [user.as_str(), id.as_str()])
}

pub(crate) fn by_graph(
    db: &Connection,
    user: &UserId,
    graph: &GraphId,
) -> Result<Option<LibraryAgent>, SqliteError> {
    one(db, "l.user_id = ?1 AND l.graph_id = ?2", [user.as_str(), graph.as_str()])
}

fn one(
    db: &Connection,
    which: &str,
    params: impl Params,
) -> Result<Option<LibraryAgent>, SqliteError> {
    let found = db
        .prepare_cached(&format!("{} WHERE {which}", select_agents!()))?
        .query_row(params, |row| agent(row))
        .optional()?;
    Ok(found)
}

pub(crate) fn all(db: &Connection, user: &UserId) -> Result<Vec<LibraryAgent>, SqliteError> {
    let all = db
        .prepare_cached(concat!(
            select_agents!(),
            "WHERE l.user_id = ?1 ORDER BY l.updated_at DESC, l.number DESC"
        ))?
        .query_map([user.as_str()], |row| agent(row))?
        .collect::<Result<_, _>>()?;
    Ok(all)
}

/// Whether the user has reached the limit of library entries.
pub(crate) fn is_full(db: &Connection, user: &UserId) -> Result<bool, SqliteError> {
    let full = db
        .prepare_cached("SELECT 1 FROM library_agent WHERE user_id = ?1 LIMIT 1 OFFSET ?2")?
        .exists(params![user.as_str(), LIBRARY_AGENTS - 1])?;
    Ok(full)
}

pub(crate) fn insert(
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
        to_json(&entry.settings)?,
        now.wall_us,
    ])?;
    by_id(db, user, &entry.id)?.ok_or_else(|| SqliteError::broken("a new entry cannot be found"))
}

/// Absent fields stay unchanged.
pub(crate) fn change(
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
        change.settings.as_ref().map(to_json).transpose()?,
        now.wall_us,
    ])?;
    Ok(())
}

/// Copies name and description of a new version to the owner's entry, if the entry follows the active version.
pub(crate) fn follow(
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
