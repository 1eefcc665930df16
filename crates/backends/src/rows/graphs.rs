//! Rows of graphs.

use protocol::graph::{Graph, GraphMeta, StoredGraph};

use super::StoreRow;

/// Columns of a `StoredGraph`; the table `graph` has the alias `g`.
macro_rules! graph_columns {
    () => {
        "g.version, g.is_active, g.user_id, g.body, g.created_at"
    };
}

/// Columns of a `GraphMeta`; the table `graph` has the alias `g`.
macro_rules! graph_meta_columns {
    () => {
        "g.id, g.version, g.is_active, g.name, g.description, g.created_at"
    };
}

pub(crate) use {graph_columns, graph_meta_columns};

pub(crate) fn stored_graph<R: StoreRow>(row: &R) -> Result<StoredGraph, R::Error> {
    let body: Graph = row.json("body")?;
    Ok(StoredGraph {
        // The body is unchanged since it was saved; the columns have the version number and the active flag.
        graph: Graph { version: row.small("version")?, is_active: row.flag("is_active")?, ..body },
        user_id: row.id("user_id")?,
        created_at: row.time("created_at")?,
    })
}

pub(crate) fn graph_meta<R: StoreRow>(row: &R) -> Result<GraphMeta, R::Error> {
    Ok(GraphMeta {
        id: row.id("id")?,
        version: row.small("version")?,
        is_active: row.flag("is_active")?,
        name: row.text("name")?,
        description: row.text("description")?,
        created_at: row.time("created_at")?,
    })
}
