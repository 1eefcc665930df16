//! Rows of the library: agent entries and folders.

use protocol::library::{Folder, LibraryAgent};

use super::StoreRow;

/// Columns of a `LibraryAgent`; the table `library_agent` has the alias `l`. The argument is the version that an entry
/// shows when it follows the active version: the active one of its user's own graph, or the one of another user's graph
/// that was listed last.
macro_rules! agent_columns {
    ($followed_version:literal) => {
        concat!(
            "l.id, l.graph_id, l.name, l.description, l.creator, l.folder_id, l.is_favorite, \
             l.is_created_by_user, l.is_hidden, l.use_graph_is_active_version, l.settings, \
             l.created_at, l.updated_at, l.last_run_at, CASE WHEN l.use_graph_is_active_version \
             THEN coalesce(",
            $followed_version,
            ", l.graph_version) ELSE l.graph_version END AS shown_version"
        )
    };
}

/// Columns of a `Folder`; the table `library_folder` has the alias `f`.
macro_rules! folder_columns {
    () => {
        "f.id, f.name, f.icon, f.color, f.parent_id, f.created_at, f.updated_at"
    };
}

pub(crate) use {agent_columns, folder_columns};

pub(crate) fn agent<R: StoreRow>(row: &R) -> Result<LibraryAgent, R::Error> {
    Ok(LibraryAgent {
        id: row.id("id")?,
        graph_id: row.id("graph_id")?,
        graph_version: row.small("shown_version")?,
        name: row.text("name")?,
        description: row.text("description")?,
        creator: row.optional_text("creator")?,
        folder_id: row.optional_id("folder_id")?,
        is_favorite: row.flag("is_favorite")?,
        is_created_by_user: row.flag("is_created_by_user")?,
        is_hidden: row.flag("is_hidden")?,
        use_graph_is_active_version: row.flag("use_graph_is_active_version")?,
        settings: row.json("settings")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        last_run_at: row.optional_time("last_run_at")?,
    })
}

pub(crate) fn folder<R: StoreRow>(row: &R) -> Result<Folder, R::Error> {
    Ok(Folder {
        id: row.id("id")?,
        name: row.text("name")?,
        icon: row.optional_text("icon")?,
        color: row.optional_text("color")?,
        parent_id: row.optional_id("parent_id")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}
