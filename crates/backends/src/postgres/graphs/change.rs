//! Changes of graphs: each is one transaction, under the lock of its graph.

use futures::future::try_join;
use ports::store::{GraphCreated, GraphDeleted};
use protocol::graph::{Graph, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::text::Text;
use super::super::{Postgres, library, rows};
use super::{lock, row};

pub(super) async fn create(
    store: Postgres,
    user: UserId,
    graph: Graph,
    entry: LibraryAgent,
) -> Result<GraphCreated, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let created = add(&db, &user, graph, entry, store.wall_us()).await?;
    db.commit().await?;
    Ok(created)
}

async fn add(
    db: &Connection,
    user: &UserId,
    graph: Graph,
    entry: LibraryAgent,
    wall_us: i64,
) -> Result<GraphCreated, Fault> {
    library::lock(db, user).await?;
    lock(db, &graph.id).await?;
    if owner(db, &graph.id).await?.is_some() {
        return Ok(GraphCreated::Taken);
    }
    if !library::has_room(db, user).await? {
        return Ok(GraphCreated::TooMany);
    }
    let graph = Graph { version: 1, is_active: true, ..graph };
    row::insert(db, user, &graph, wall_us).await?;
    let entry = LibraryAgent { graph_id: graph.id, graph_version: graph.version, ..entry };
    let entry = library::insert(db, user, &entry, wall_us).await?;
    Ok(GraphCreated::New(Box::new(entry)))
}

pub(super) async fn add_version(
    store: Postgres,
    user: UserId,
    graph: Graph,
) -> Result<Option<StoredGraph>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let stored = follow(&db, &user, &graph, store.wall_us()).await?;
    db.commit().await?;
    Ok(stored)
}

async fn follow(
    db: &Connection,
    user: &UserId,
    graph: &Graph,
    wall_us: i64,
) -> Result<Option<StoredGraph>, Fault> {
    lock(db, &graph.id).await?;
    let (id, owner) = (Text(graph.id.as_str()), Text(user.as_str()));
    let last = db
        .query_one(
            "SELECT max(version) AS version FROM graph WHERE id = $1 AND user_id = $2",
            &[&id, &owner],
        )
        .await?;
    let Some(last) = rows::get::<Option<i32>>(&last, "version")? else { return Ok(None) };
    rest_all(db, &graph.id).await?;
    let graph = Graph { version: last as u32 + 1, is_active: true, ..graph.clone() };
    let (name, description) = (Text(&graph.name), Text(&graph.description));
    let (stored, _) = try_join(
        row::insert(db, user, &graph, wall_us),
        db.query(
            "UPDATE library_agent SET name = $3, description = $4, updated_at = $5
             WHERE graph_id = $1 AND user_id = $2 AND use_graph_is_active_version",
            &[&id, &owner, &name, &description, &wall_us],
        ),
    )
    .await?;
    Ok(Some(stored))
}

pub(super) async fn activate(
    store: Postgres,
    user: UserId,
    id: GraphId,
    version: u32,
) -> Result<bool, Fault> {
    let db = Connection::begin(&store.pool).await?;
    lock(&db, &id).await?;
    let (graph, owner) = (Text(id.as_str()), Text(user.as_str()));
    let version = version as i32;
    let found = db
        .query_opt(
            "SELECT id FROM graph WHERE id = $1 AND user_id = $2 AND version = $3",
            &[&graph, &owner, &version],
        )
        .await?;
    if found.is_some() {
        // One after the other: at no moment may two of them be active.
        rest_all(&db, &id).await?;
        db.query(
            "UPDATE graph SET is_active = true WHERE id = $1 AND version = $2",
            &[&graph, &version],
        )
        .await?;
    }
    db.commit().await?;
    Ok(found.is_some())
}

pub(super) async fn delete(
    store: Postgres,
    user: UserId,
    id: GraphId,
) -> Result<GraphDeleted, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let deleted = remove(&db, &user, &id).await?;
    db.commit().await?;
    Ok(deleted)
}

async fn remove(db: &Connection, user: &UserId, id: &GraphId) -> Result<GraphDeleted, Fault> {
    library::lock(db, user).await?;
    lock(db, id).await?;
    if owner(db, id).await?.as_ref() != Some(user) {
        return Ok(GraphDeleted::Missing);
    }
    let graph = Text(id.as_str());
    let listed = db
        .query_opt("SELECT 1 FROM listing_version WHERE graph_id = $1 LIMIT 1", &[&graph])
        .await?;
    if listed.is_some() {
        return Ok(GraphDeleted::Listed);
    }
    let (versions, _) = try_join(
        db.query("DELETE FROM graph WHERE id = $1 RETURNING version", &[&graph]),
        db.query(
            "DELETE FROM library_agent WHERE graph_id = $1 AND user_id = $2",
            &[&graph, &Text(user.as_str())],
        ),
    )
    .await?;
    Ok(GraphDeleted::Deleted(versions.len() as u32))
}

/// Makes no version active, for whoever makes another one so.
pub(in super::super) async fn rest_all(db: &Connection, id: &GraphId) -> Result<(), Fault> {
    let graph = Text(id.as_str());
    db.query("UPDATE graph SET is_active = false WHERE id = $1 AND is_active", &[&graph]).await?;
    Ok(())
}

/// Whose graph it is; `None`: there is none.
pub(in super::super) async fn owner(
    db: &Connection,
    id: &GraphId,
) -> Result<Option<UserId>, Fault> {
    let row = db
        .query_opt("SELECT user_id FROM graph WHERE id = $1 LIMIT 1", &[&Text(id.as_str())])
        .await?;
    row.map(|row| rows::id(&row, "user_id")).transpose()
}
