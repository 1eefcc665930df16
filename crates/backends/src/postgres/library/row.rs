//! Converts rows of the library to protocol types.

use protocol::library::{Folder, LibraryAgent};
use tokio_postgres::Row;

use super::super::error::PostgresError;
use super::super::rows;

/// Columns of a `LibraryAgent`; the table `library_agent` has the alias `l`. An entry that follows the active version
/// shows the currently active one.
macro_rules! agent_columns {
    () => {
        "l.id, l.graph_id, CASE WHEN l.use_graph_is_active_version THEN coalesce( \
            (SELECT a.version FROM graph AS a \
             WHERE a.id = l.graph_id AND a.is_active AND a.user_id = l.user_id), \
            (SELECT v.graph_version FROM listing_version AS v WHERE v.graph_id = l.graph_id \
             ORDER BY v.created_at DESC, v.graph_version DESC LIMIT 1), \
            l.graph_version) ELSE l.graph_version END AS graph_version, \
         l.name, l.description, l.creator, l.folder_id, l.is_favorite, l.is_created_by_user, \
         l.is_hidden, l.use_graph_is_active_version, l.settings, l.created_at, l.updated_at, \
         l.last_run_at"
    };
}

/// Columns of a `Folder`; the table `library_folder` has the alias `f`.
macro_rules! folder_columns {
    () => {
        "f.id, f.name, f.icon, f.color, f.parent_id, f.created_at, f.updated_at"
    };
}

pub(super) use {agent_columns, folder_columns};

pub(super) fn agent(row: &Row) -> Result<LibraryAgent, PostgresError> {
    Ok(LibraryAgent {
        id: rows::id(row, "id")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: rows::small(row, "graph_version")?,
        name: rows::get(row, "name")?,
        description: rows::get(row, "description")?,
        creator: rows::get(row, "creator")?,
        folder_id: rows::optional_id(row, "folder_id")?,
        is_favorite: rows::get(row, "is_favorite")?,
        is_created_by_user: rows::get(row, "is_created_by_user")?,
        is_hidden: rows::get(row, "is_hidden")?,
        use_graph_is_active_version: rows::get(row, "use_graph_is_active_version")?,
        settings: rows::json(row, "settings")?,
        created_at: rows::time(row, "created_at")?,
        updated_at: rows::time(row, "updated_at")?,
        last_run_at: rows::optional_time(row, "last_run_at")?,
    })
}

pub(super) fn folder(row: &Row) -> Result<Folder, PostgresError> {
    Ok(Folder {
        id: rows::id(row, "id")?,
        name: rows::get(row, "name")?,
        icon: rows::get(row, "icon")?,
        color: rows::get(row, "color")?,
        parent_id: rows::optional_id(row, "parent_id")?,
        created_at: rows::time(row, "created_at")?,
        updated_at: rows::time(row, "updated_at")?,
    })
}
