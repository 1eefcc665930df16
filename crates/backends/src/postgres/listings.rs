//! The marketplace: listings in their newest version, and the ids of all published versions.

use async_trait::async_trait;
use futures::future::try_join;
use ports::PortResult;
use ports::store::{ListingPublished, Listings};
use protocol::graph::Graph;
use protocol::library::Listing;
use protocol::{ListingVersionId, limits};

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::turns::advisory_locks;
use super::{PostgresStore, graphs};
use crate::rows::StoreRow;
use crate::rows::listings::{listing, listing_columns};
use crate::rules::json::to_json;

#[async_trait]
impl Listings for PostgresStore {
    async fn publish(&self, listing: &Listing, graph: &Graph) -> PortResult<ListingPublished> {
        let (store, listing, graph) = (self.clone(), listing.clone(), graph.clone());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
            let published = publish(&db, &listing, &graph, store.wall_us()).await?;
            db.commit().await?;
            Ok(published)
        })
        .await
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        self.read(|db| async move {
            let found = db.query(LIST, &[]).await?;
            found.iter().map(listing).collect()
        })
        .await
    }

    async fn by_name(&self, username: &str, slug: &str) -> PortResult<Option<Listing>> {
        self.read(|db| async move {
            let row = db.query_opt(BY_NAME, &[&TextParam(username), &TextParam(slug)]).await?;
            row.as_ref().map(listing).transpose()
        })
        .await
    }

    async fn by_version(&self, version: &ListingVersionId) -> PortResult<Option<Listing>> {
        self.read(|db| async move {
            let row = db.query_opt(BY_VERSION, &[&TextParam(version.as_str())]).await?;
            row.as_ref().map(listing).transpose()
        })
        .await
    }
}

const LIST: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM listing AS l ORDER BY l.is_featured DESC, l.name COLLATE \"C\", l.username COLLATE \"C\",
         l.slug COLLATE \"C\""
);
const BY_NAME: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM listing AS l WHERE l.username = $1 AND l.slug = $2"
);
const BY_VERSION: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM listing AS l JOIN listing_version AS v ON v.username = l.username AND v.slug = l.slug
     WHERE v.version_id = $1"
);
const UPSERT: &str = "\
    INSERT INTO listing (username, slug, version_id, name, sub_heading, description, categories,
        is_featured, graph_id, graph_version, owner, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (username, slug) DO UPDATE SET version_id = excluded.version_id,
        name = excluded.name, sub_heading = excluded.sub_heading,
        description = excluded.description, categories = excluded.categories,
        is_featured = excluded.is_featured, graph_id = excluded.graph_id,
        graph_version = excluded.graph_version, updated_at = excluded.updated_at";

async fn publish(
    db: &PooledConnection,
    given: &Listing,
    graph: &Graph,
    wall_us: i64,
) -> Result<ListingPublished, PostgresError> {
    graphs::lock(db, &given.graph_id).await?;
    advisory_locks::lock(db, "marketplace").await?;
    if let Some(answer) = conflict(db, given).await? {
        return Ok(answer);
    }
    let (username, slug) = (TextParam(&given.username), TextParam(&given.slug));
    let before = db.query_opt(BY_NAME, &[&username, &slug]).await?;
    if before.is_none() && !has_room(db).await? {
        return Ok(ListingPublished::TooMany);
    }
    store_graph(db, given, graph, wall_us).await?;
    let categories = to_json(&given.categories)?;
    let version = (TextParam(given.version_id.as_str()), given.graph_version as i32);
    let graph_id = TextParam(given.graph_id.as_str());
    try_join(
        db.query(
            UPSERT,
            &[
                &username,
                &slug,
                &version.0,
                &TextParam(&given.name),
                &TextParam(&given.sub_heading),
                &TextParam(&given.description),
                &TextParam(&categories),
                &given.is_featured,
                &graph_id,
                &version.1,
                &TextParam(given.owner.as_str()),
                &wall_us,
            ],
        ),
        db.query(
            "INSERT INTO listing_version
                 (version_id, username, slug, graph_id, graph_version, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            &[&version.0, &username, &slug, &graph_id, &version.1, &wall_us],
        ),
    )
    .await?;
    Ok(if before.is_some() { ListingPublished::NewVersion } else { ListingPublished::New })
}

/// Why it cannot be published: it exists already, or another user has its names.
async fn conflict(
    db: &PooledConnection,
    given: &Listing,
) -> Result<Option<ListingPublished>, PostgresError> {
    let (username, owner) = (TextParam(&given.username), TextParam(given.owner.as_str()));
    let other_owner = db
        .query_opt(
            "SELECT slug FROM listing WHERE username = $1 AND owner <> $2 LIMIT 1",
            &[&username, &owner],
        )
        .await?;
    if other_owner.is_some() {
        return Ok(Some(ListingPublished::NameTaken));
    }
    let published = db.query_opt(BY_VERSION, &[&TextParam(given.version_id.as_str())]).await?;
    let Some(published) = published else { return Ok(None) };
    let published = listing(&published)?;
    if (&published.username, &published.slug) == (&given.username, &given.slug) {
        return Ok(Some(ListingPublished::Before));
    }
    Err(PostgresError::broken("the id of a published version belongs to another listing"))
}

async fn has_room(db: &PooledConnection) -> Result<bool, PostgresError> {
    let row = db.query_one("SELECT count(*) AS listings FROM listing", &[]).await?;
    Ok(row.number("listings")? < u64::from(limits::LISTINGS))
}

/// Stores the published version if it is missing. It becomes active unless there is a newer one.
async fn store_graph(
    db: &PooledConnection,
    given: &Listing,
    graph: &Graph,
    wall_us: i64,
) -> Result<(), PostgresError> {
    let (id, version) = (&given.graph_id, given.graph_version);
    let found = db
        .query(
            "SELECT user_id, version FROM graph WHERE id = $1 ORDER BY version",
            &[&TextParam(id.as_str())],
        )
        .await?;
    let mut newest = 0;
    for row in &found {
        if row.optional_str("user_id")? != Some(given.owner.as_str()) {
            return Err(PostgresError::broken("the graph of a listing belongs to another user"));
        }
        newest = row.small("version")?;
        if newest == version {
            return Ok(());
        }
    }
    let is_active = version > newest;
    if is_active {
        graphs::insert::deactivate_all(db, id).await?;
    }
    let graph = Graph { id: id.clone(), version, is_active, ..graph.clone() };
    graphs::insert::insert(db, &given.owner, &graph, wall_us).await?;
    Ok(())
}
