//! The marketplace: listings in their newest version, and the ids of all that were published.

use async_trait::async_trait;
use ports::store::{ListingPublished, Listings};
use ports::{PortError, PortResult};
use protocol::ListingVersionId;
use protocol::graph::Graph;
use protocol::library::Listing;
use protocol::limits::LISTINGS;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use super::graphs::{self, Version};
use super::job::{Done, Need};
use super::{Moment, Sqlite, rows};

#[async_trait]
impl Listings for Sqlite {
    async fn publish(&self, listing: &Listing, graph: &Graph) -> PortResult<ListingPublished> {
        let version = Version::of(&listing.owner, graph)?;
        let categories = serde_json::to_string(&listing.categories)
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let (listing, now) = (listing.clone(), self.moment());
        self.writer
            .run(Need::Ordinary, move |db| publish(db, now, &listing, &categories, &version))
            .await
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        self.readers
            .run(move |db| {
                let all = db
                    .prepare_cached(&format!(
                        "SELECT {LISTING} FROM listing AS l
                         ORDER BY l.is_featured DESC, l.name, l.username, l.slug LIMIT ?1"
                    ))?
                    .query_map([LISTINGS], read)?
                    .collect::<Result<_, _>>()?;
                Ok(all)
            })
            .await
    }

    async fn by_name(&self, username: &str, slug: &str) -> PortResult<Option<Listing>> {
        let (username, slug) = (username.to_owned(), slug.to_owned());
        self.readers
            .run(move |db| {
                let found = db
                    .prepare_cached(&format!(
                        "SELECT {LISTING} FROM listing AS l WHERE l.username = ?1 AND l.slug = ?2"
                    ))?
                    .query_row([username, slug], read)
                    .optional()?;
                Ok(found)
            })
            .await
    }

    async fn by_version(&self, version: &ListingVersionId) -> PortResult<Option<Listing>> {
        let version = version.clone();
        self.readers
            .run(move |db| {
                let found = db
                    .prepare_cached(&format!(
                        "SELECT {LISTING} FROM listing_version AS v
                         JOIN listing AS l ON l.username = v.username AND l.slug = v.slug
                         WHERE v.version_id = ?1"
                    ))?
                    .query_row([version.as_str()], read)
                    .optional()?;
                Ok(found)
            })
            .await
    }
}

/// Columns of a `Listing`, of the table `listing` under the name `l`.
const LISTING: &str = "l.version_id, l.username, l.slug, l.name, l.sub_heading, l.description, \
    l.categories, l.is_featured, l.graph_id, l.graph_version, l.owner, l.updated_at, \
    (SELECT count(*) FROM execution AS e WHERE e.graph_id = l.graph_id) AS runs";

fn read(row: &Row<'_>) -> rusqlite::Result<Listing> {
    Ok(Listing {
        version_id: rows::id(row, "version_id")?,
        username: row.get("username")?,
        slug: row.get("slug")?,
        name: row.get("name")?,
        sub_heading: row.get("sub_heading")?,
        description: row.get("description")?,
        categories: rows::json(row, "categories")?,
        is_featured: row.get("is_featured")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: row.get("graph_version")?,
        owner: rows::id(row, "owner")?,
        runs: rows::number(row, "runs")?,
        updated_at: rows::time(row, "updated_at")?,
    })
}

fn publish(
    db: &Connection,
    now: Moment,
    listing: &Listing,
    categories: &str,
    version: &Version,
) -> Result<Done<ListingPublished>, Fault> {
    let known = match known(db, listing)? {
        Known::Refused(refused) => return Ok(Done::quietly(refused)),
        Known::Nothing => ListingPublished::New,
        Known::Older => ListingPublished::NewVersion,
    };
    store_graph(db, now, listing, version)?;
    db.prepare_cached(
        "INSERT INTO listing_version
             (version_id, username, slug, graph_id, graph_version, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        listing.version_id.as_str(),
        listing.username,
        listing.slug,
        listing.graph_id.as_str(),
        listing.graph_version,
        now.wall_us,
    ])?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO listing
             (username, slug, version_id, name, sub_heading, description, categories, is_featured,
              graph_id, graph_version, owner, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        listing.username,
        listing.slug,
        listing.version_id.as_str(),
        listing.name,
        listing.sub_heading,
        listing.description,
        categories,
        listing.is_featured,
        listing.graph_id.as_str(),
        listing.graph_version,
        listing.owner.as_str(),
        now.wall_us,
    ])?;
    Ok(Done::quietly(known))
}

/// What the marketplace has under the name of a listing.
enum Known {
    Nothing,
    Older,
    Refused(ListingPublished),
}

fn known(db: &Connection, listing: &Listing) -> Result<Known, Fault> {
    // A user name belongs to one user, whatever it is that is published under it.
    let of_another = db
        .prepare_cached("SELECT 1 FROM listing WHERE username = ?1 AND owner <> ?2")?
        .exists([&listing.username, &listing.owner.0])?;
    if of_another {
        return Ok(Known::Refused(ListingPublished::NameTaken));
    }
    let published: Option<bool> = db
        .prepare_cached(
            "SELECT username = ?2 AND slug = ?3 FROM listing_version WHERE version_id = ?1",
        )?
        .query_row([listing.version_id.as_str(), &listing.username, &listing.slug], |row| {
            row.get(0)
        })
        .optional()?;
    match published {
        Some(true) => return Ok(Known::Refused(ListingPublished::Before)),
        Some(false) => return Err(Fault::broken("the version was published under another name")),
        None => {}
    }
    let older = db
        .prepare_cached("SELECT 1 FROM listing WHERE username = ?1 AND slug = ?2")?
        .exists([&listing.username, &listing.slug])?;
    if older {
        return Ok(Known::Older);
    }
    let count: u32 =
        db.prepare_cached("SELECT count(*) FROM listing")?.query_row([], |row| row.get(0))?;
    Ok(if count >= LISTINGS { Known::Refused(ListingPublished::TooMany) } else { Known::Nothing })
}

/// Stores the graph for the listing's owner if it is not there.
fn store_graph(
    db: &Connection,
    now: Moment,
    listing: &Listing,
    version: &Version,
) -> Result<(), Fault> {
    if graphs::owner(db, &version.id)?.is_some_and(|owner| owner != listing.owner) {
        return Err(Fault::broken("the graph is that of somebody else"));
    }
    let there = db
        .prepare_cached("SELECT 1 FROM graph WHERE id = ?1 AND version = ?2")?
        .exists(params![version.id.as_str(), listing.graph_version])?;
    if !there {
        graphs::insert_version(db, now, version, listing.graph_version)?;
    }
    Ok(())
}
