//! Changes of graphs: each is one transaction, under the lock of its graph.

use futures::future::try_join;
use ports::store::{GraphCreated, GraphDeleted, VersionAdded, VersionTerms};
use protocol::graph::Graph;
use protocol::library::LibraryAgent;
use protocol::{GraphId, UserId};

use super::insert::{deactivate_all, insert};
use super::{lock, owner};
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::postgres::{PostgresStore, library};
use crate::rows::StoreRow;

pub(crate) async fn create(
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
    insert(db, user, &graph, wall_us).await?;
    let entry = LibraryAgent { graph_id: graph.id, graph_version: graph.version, ..entry };
    let entry = library::insert(db, user, &entry, wall_us).await?;
    Ok(GraphCreated::New(Box::new(entry)))
}

pub(crate) async fn add_version(
    store: PostgresStore,
    user: UserId,
    graph: Graph,
    terms: VersionTerms,
) -> Result<VersionAdded, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let added = follow(&db, &user, &graph, terms, store.wall_us()).await?;
    db.commit().await?;
    Ok(added)
}

async fn follow(
    db: &PooledConnection,
    user: &UserId,
    graph: &Graph,
    terms: VersionTerms,
    wall_us: i64,
) -> Result<VersionAdded, PostgresError> {
    lock(db, &graph.id).await?;
    let (id, owner) = (TextParam(graph.id.as_str()), TextParam(user.as_str()));
    let last = db
        .query_one(
            "SELECT max(version) AS version FROM graph WHERE id = $1 AND user_id = $2",
            &[&id, &owner],
        )
        .await?;
    let Some(newest) = last.optional_small("version")? else { return Ok(VersionAdded::Missing) };
    if terms.base.is_some_and(|base| base != newest) {
        return Ok(VersionAdded::Stale { newest });
    }
    let graph = Graph { version: newest + 1, is_active: terms.activate, ..graph.clone() };
    if !terms.activate {
        let stored = insert(db, user, &graph, wall_us).await?;
        return Ok(VersionAdded::Added(Box::new(stored)));
    }
    deactivate_all(db, &graph.id).await?;
    let (name, description) = (TextParam(&graph.name), TextParam(&graph.description));
    let (stored, _) = try_join(
        insert(db, user, &graph, wall_us),
        db.query(
            "UPDATE library_agent SET name = $3, description = $4, updated_at = $5
             WHERE graph_id = $1 AND user_id = $2 AND use_graph_is_active_version",
            &[&id, &owner, &name, &description, &wall_us],
        ),
    )
    .await?;
    Ok(VersionAdded::Added(Box::new(stored)))
}

pub(crate) async fn activate(
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

pub(crate) async fn delete(
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
