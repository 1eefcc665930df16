//! Rows of the marketplace.

use protocol::library::Listing;

use super::StoreRow;

/// Columns of a `Listing`; the table `listing` has the alias `l`.
macro_rules! listing_columns {
    () => {
        "l.version_id, l.username, l.slug, l.name, l.sub_heading, l.description, l.categories, \
         l.is_featured, l.graph_id, l.graph_version, l.owner, l.updated_at, \
         (SELECT count(*) FROM execution AS e WHERE e.graph_id = l.graph_id) AS runs"
    };
}

pub(crate) use listing_columns;

pub(crate) fn listing<R: StoreRow>(row: &R) -> Result<Listing, R::Error> {
    Ok(Listing {
        version_id: row.id("version_id")?,
        username: row.text("username")?,
        slug: row.text("slug")?,
        name: row.text("name")?,
        sub_heading: row.text("sub_heading")?,
        description: row.text("description")?,
        categories: row.json("categories")?,
        is_featured: row.flag("is_featured")?,
        graph_id: row.id("graph_id")?,
        graph_version: row.small("graph_version")?,
        owner: row.id("owner")?,
        runs: row.number("runs")?,
        updated_at: row.time("updated_at")?,
    })
}
