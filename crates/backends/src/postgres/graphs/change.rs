//! Changes of graphs: each is one transaction, under the lock of its graph.

use futures::future::try_join;
use ports::store::{GraphCreated, GraphDeleted};
use protocol::graph::{Graph, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::text_param::TextParam;
use super::super::{PostgresStore, library, rows};
use super::{lock, row};

pub(super) async fn create(
    store: PostgresStore,
    user: UserId,
    graph: Graph,
    entry: LibraryAgent,
) -> Result<GraphCreated, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let created = add(&db, &user, graph, entry, store.wall_us()).await?;
    db.commit().await?;
    Ok(created)
}

async fn add(
    db: &PooledConnection,
    user: &UserId,
    graph: Graph,
    entry: LibraryAgent,
    wall_us: i64,
) -> Result<GraphCreated, PostgresError> {
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
    store: PostgresStore,
    user: UserId,
    graph: Graph,
) -> Result<Option<StoredGraph>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let stored = follow(&db, &user, &graph, store.wall_us()).await?;
    db.commit().await?;
    Ok(stored)
}

async fn follow(
    db: &PooledConnection,
    user: &UserId,
    graph: &Graph,
    wall_us: i64,
) -> Result<Option<StoredGraph>, PostgresError> {
    lock(db, &graph.id).await?;
    let (id, owner) = (TextParam(graph.id.as_str()), TextParam(user.as_str()));
    let last = db
        .query_one(
            "SELECT max(version) AS version FROM graph WHERE id = $1 AND user_id = $2",
            &[&id, &owner],
        )
        .await?;
    let Some(last) = rows::get::<Option<i32>>(&last, "version")? else { return Ok(None) };
    deactivate_all(db, &graph.id).await?;
    let graph = Graph { version: last as u32 + 1, is_active: true, ..graph.clone() };
    let (name, description) = (TextParam(&graph.name), TextParam(&graph.description));
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
    store: PostgresStore,
    user: UserId,
    id: GraphId,
    version: u32,
) -> Result<bool, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    lock(&db, &id).await?;
    let (graph, owner) = (TextParam(id.as_str()), TextParam(user.as_str()));
    let version = version as i32;
    let found = db
        .query_opt(
            "SELECT id FROM graph WHERE id = $1 AND user_id = $2 AND version = $3",
            &[&graph, &owner, &version],
        )
        .await?;
    if found.is_some() {
        // One after the other: two versions must never be active at once.
        deactivate_all(&db, &id).await?;
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
    store: PostgresStore,
    user: UserId,
    id: GraphId,
) -> Result<GraphDeleted, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let deleted = remove(&db, &user, &id).await?;
    db.commit().await?;
    Ok(deleted)
}

async fn remove(
    db: &PooledConnection,
    user: &UserId,
    id: &GraphId,
) -> Result<GraphDeleted, PostgresError> {
    library::lock(db, user).await?;
    lock(db, id).await?;
    if owner(db, id).await?.as_ref() != Some(user) {
        return Ok(GraphDeleted::Missing);
    }
    let graph = TextParam(id.as_str());
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
            &[&graph, &TextParam(user.as_str())],
        ),
    )
    .await?;
    Ok(GraphDeleted::Deleted(versions.len() as u32))
}

/// Deactivates all versions, before another one is activated.
pub(in super::super) async fn deactivate_all(
    db: &PooledConnection,
    id: &GraphId,
) -> Result<(), PostgresError> {
    let graph = TextParam(id.as_str());
    db.query("UPDATE graph SET is_active = false WHERE id = $1 AND is_active", &[&graph]).await?;
    Ok(())
}

/// Owner of the graph; `None` when it does not exist.
pub(in super::super) async fn owner(
    db: &PooledConnection,
    id: &GraphId,
) -> Result<Option<UserId>, PostgresError> {
    let row = db
        .query_opt("SELECT user_id FROM graph WHERE id = $1 LIMIT 1", &[&TextParam(id.as_str())])
        .await?;
    row.map(|row| rows::id(&row, "user_id")).transpose()
}
