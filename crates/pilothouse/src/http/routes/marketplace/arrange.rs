//! Filters and sorts marketplace agents.

use std::cmp::Reverse;

use protocol::library::Listing;
use serde::Deserialize;
use toolbox::search;

use super::body::MarketplaceListQuery;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortedBy {
    /// `rating` means the same: agents without ratings are ranked by runs.
    #[serde(alias = "rating")]
    Runs,
    Name,
    UpdatedAt,
}

/// The agents that match the query: best match first in a search, otherwise in the requested order.
pub(crate) fn arrange(mut listings: Vec<Listing>, query: &MarketplaceListQuery) -> Vec<Listing> {
    listings.retain(|listing| matches(query, listing));
    match query.sorted_by {
        // The store returns featured agents first, then by name.
        None => {}
        Some(SortedBy::Runs) => listings.sort_by_key(|listing| Reverse(listing.runs)),
        Some(SortedBy::Name) => listings.sort_by_key(|listing| listing.name.to_lowercase()),
        Some(SortedBy::UpdatedAt) => listings.sort_by_key(|listing| Reverse(listing.updated_at)),
    }
    match &query.search_query {
        Some(words) => found(words, listings).into_iter().map(|(_, listing)| listing).collect(),
        None => listings,
    }
}

/// The best match first, each with its score.
pub(crate) fn found(words: &str, listings: Vec<Listing>) -> Vec<(f64, Listing)> {
    search::rank(words, listings, |listing: &Listing| {
        let categories = listing.categories.iter().map(String::as_str);
        [&listing.name, &listing.sub_heading, &listing.description, &listing.username]
            .map(String::as_str)
            .into_iter()
            .chain(categories)
            .collect()
    })
}

fn matches(query: &MarketplaceListQuery, listing: &Listing) -> bool {
    let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    let of_creator = query.creator.as_ref().is_none_or(|name| same(name, &listing.username));
    let has = |category: &String| listing.categories.iter().any(|one| same(one, category));
    let in_category = query.category.as_ref().is_none_or(has);
    of_creator && in_category && (listing.is_featured || !query.featured)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn listing(name: &str, runs: u64, category: &str) -> Listing {
        Listing {
            version_id: name.into(),
            username: "anna".to_owned(),
            slug: name.to_lowercase(),
            name: name.to_owned(),
            sub_heading: String::new(),
            description: String::new(),
            categories: vec![category.to_owned()],
            is_featured: runs == 2,
            graph_id: name.into(),
            graph_version: 1,
            owner: "u".into(),
            runs,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn listings_are_filtered_and_sorted_as_requested() {
        let all =
            vec![listing("Mail", 2, "Text"), listing("Feed", 9, "Web"), listing("Csv", 5, "text")];
        let shown = |query: MarketplaceListQuery| {
            let names = arrange(all.clone(), &query).into_iter().map(|listing| listing.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(
            shown(MarketplaceListQuery::default()),
            ["Mail", "Feed", "Csv"],
            "in the order of the store"
        );
        let by = |sorted_by| {
            shown(MarketplaceListQuery { sorted_by, ..MarketplaceListQuery::default() })
        };
        assert_eq!(by(Some(SortedBy::Runs)), ["Feed", "Csv", "Mail"]);
        assert_eq!(by(Some(SortedBy::Name)), ["Csv", "Feed", "Mail"]);
        assert_eq!(
            shown(MarketplaceListQuery { featured: true, ..MarketplaceListQuery::default() }),
            ["Mail"]
        );
        let category = Some("TEXT".to_owned());
        assert_eq!(
            shown(MarketplaceListQuery { category, ..MarketplaceListQuery::default() }),
            ["Mail", "Csv"]
        );
        let creator = Some("bert".to_owned());
        assert!(
            shown(MarketplaceListQuery { creator, ..MarketplaceListQuery::default() }).is_empty()
        );
        let search_query = Some("fed".to_owned());
        assert!(
            shown(MarketplaceListQuery { search_query, ..MarketplaceListQuery::default() }).len()
                < 3
        );
    }
}
