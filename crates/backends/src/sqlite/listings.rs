//! The marketplace: listings in their newest version, and the ids of all published versions.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{ListingPublished, Listings};
use protocol::ListingVersionId;
use protocol::graph::Graph;
use protocol::library::Listing;
use protocol::limits::LISTINGS;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::error::SqliteError;
use super::graphs::{self, insert};
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime};
use crate::rows::listings::{listing, listing_columns};
use crate::rules::json::to_json;

#[async_trait]
impl Listings for SqliteStore {
    async fn publish(&self, listing: &Listing, graph: &Graph) -> PortResult<ListingPublished> {
        let version = insert::NewGraphVersion::of(&listing.owner, graph)?;
        let categories = to_json(&listing.categories)?;
        let (listing, now) = (listing.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                publish(db, now, &listing, &categories, &version)
            })
            .await
    }

    async fn list(&self) -> PortResult<Vec<Listing>> {
        self.readers
            .run(move |db| {
                let all = db
                    .prepare_cached(concat!(
                        "SELECT ",
                        listing_columns!(),
                        " FROM listing AS l
                         ORDER BY l.is_featured DESC, l.name, l.username, l.slug LIMIT ?1"
                    ))?
                    .query_map([LISTINGS], |row| listing(row))?
                    .collect::<Result<_, _>>()?;
                Ok(all)
            })
            .await
    }

    async fn by_name(&self, username: &str, slug: &str) -> PortResult<Option<Listing>> {
        let names = [username.to_owned(), slug.to_owned()];
        self.readers.run(move |db| one(db, BY_NAME, names)).await
    }

    async fn by_version(&self, version: &ListingVersionId) -> PortResult<Option<Listing>> {
        let id = [version.0.clone()];
        self.readers.run(move |db| one(db, BY_VERSION, id)).await
    }
}

const BY_NAME: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM listing AS l WHERE l.username = ?1 AND l.slug = ?2"
);
const BY_VERSION: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM listing AS l JOIN listing_version AS v ON v.username = l.username AND v.slug = l.slug
     WHERE v.version_id = ?1"
);

fn one(
    db: &Connection,
    statement: &str,
    params: impl Params,
) -> Result<Option<Listing>, SqliteError> {
    let found = db.prepare_cached(statement)?.query_row(params, |row| listing(row)).optional()?;
    Ok(found)
}

fn publish(
    db: &Connection,
    now: StoreTime,
    listing: &Listing,
    categories: &str,
    version: &insert::NewGraphVersion,
) -> Result<WriteOutput<ListingPublished>, SqliteError> {
    let listing_state = match listing_state(db, listing)? {
        ListingState::Refused(refused) => return Ok(WriteOutput::silent(refused)),
        ListingState::Nothing => ListingPublished::New,
        ListingState::Older => ListingPublished::NewVersion,
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
    Ok(WriteOutput::silent(listing_state))
}

/// What the marketplace has under the name of a listing.
enum ListingState {
    Nothing,
    Older,
    Refused(ListingPublished),
}

fn listing_state(db: &Connection, listing: &Listing) -> Result<ListingState, SqliteError> {
    // A user name belongs to one user, whatever is published under it.
    let of_another = db
        .prepare_cached("SELECT 1 FROM listing WHERE username = ?1 AND owner <> ?2")?
        .exists([&listing.username, &listing.owner.0])?;
    if of_another {
        return Ok(ListingState::Refused(ListingPublished::NameTaken));
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
        Some(true) => return Ok(ListingState::Refused(ListingPublished::Before)),
        Some(false) => {
            return Err(SqliteError::broken("the version was published under another name"));
        }
        None => {}
    }
    let older = db
        .prepare_cached("SELECT 1 FROM listing WHERE username = ?1 AND slug = ?2")?
        .exists([&listing.username, &listing.slug])?;
    if older {
        return Ok(ListingState::Older);
    }
    let count: u32 =
        db.prepare_cached("SELECT count(*) FROM listing")?.query_row([], |row| row.get(0))?;
    Ok(if count >= LISTINGS {
        ListingState::Refused(ListingPublished::TooMany)
    } else {
        ListingState::Nothing
    })
}

/// Stores the graph for the listing's owner if it is missing.
fn store_graph(
    db: &Connection,
    now: StoreTime,
    listing: &Listing,
    version: &insert::NewGraphVersion,
) -> Result<(), SqliteError> {
    if graphs::owner(db, &version.id)?.is_some_and(|owner| owner != listing.owner) {
        return Err(SqliteError::broken("the graph belongs to another user"));
    }
    let there = db
        .prepare_cached("SELECT 1 FROM graph WHERE id = ?1 AND version = ?2")?
        .exists(params![version.id.as_str(), listing.graph_version])?;
    if !there {
        insert::insert_version(db, now, version, listing.graph_version, true)?;
    }
    Ok(())
}
