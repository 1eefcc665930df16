//! The marketplace: agents that everybody can find.

mod arrange;
mod body;
pub(crate) mod submission;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::problem::ProblemCode;

use self::arrange::{arrange, found};
use self::body::{
    ListQuery, SearchQuery, SearchResults, StoreAgent, StoreAgentDetails, StoreAgents,
};
use super::App;
use super::auth::Person;
use super::json::Query;
use super::paging::Page;
use super::path::Ids;
use super::problem::{Answer, Problem, ProblemBody};

/// Agents on a page unless asked.
const USUAL_PAGE: u32 = 20;

/// Agents of the marketplace.
#[utoipa::path(
    get, path = "/store/agents", operation_id = "list_store_agents", tag = "store",
    params(ListQuery),
    responses((status = 200, description = "Done", body = StoreAgents), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Person,
    Query(query): Query<ListQuery>,
) -> Answer<Json<StoreAgents>> {
    let page = Page::asked(query.page, query.page_size, USUAL_PAGE)?;
    let (listings, pagination) = page.of(arrange(app.ports.listings.list().await?, &query));
    let agents = listings.into_iter().map(StoreAgent::from).collect();
    Ok(Json(StoreAgents { agents, pagination }))
}

/// One agent of the marketplace, with what it takes and gives.
#[utoipa::path(
    get, path = "/store/agents/{username}/{slug}", operation_id = "read_store_agent", tag = "store",
    params(("username" = String, Path), ("slug" = String, Path)),
    responses((status = 200, description = "Done", body = StoreAgentDetails), (status = 404, description = "There is no such agent", body = ProblemBody))
)]
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Ids(username, slug): Ids<String, String>,
) -> Answer<Json<StoreAgentDetails>> {
    // Names are written in small letters, and people write addresses as they like.
    let (username, slug) = (username.to_lowercase(), slug.to_lowercase());
    let listing = app.ports.listings.by_name(&username, &slug).await?.ok_or_else(no_listing)?;
    let version = Some(listing.graph_version);
    let described = app.engine.describe_agent(&user, &listing.graph_id, version).await?;
    Ok(Json(StoreAgentDetails::new(listing, described.ok_or_else(no_listing)?)))
}

/// Find agents of the marketplace by a few words, the best match first.
#[utoipa::path(
    get, path = "/store/search", operation_id = "search_store", tag = "store",
    params(SearchQuery),
    responses((status = 200, description = "Done", body = SearchResults), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn search(
    State(app): State<Arc<App>>,
    _: Person,
    Query(query): Query<SearchQuery>,
) -> Answer<Json<SearchResults>> {
    let page = Page::asked(query.page, query.page_size, USUAL_PAGE)?;
    let listings = app.ports.listings.list().await?;
    let (results, pagination) = page.of(found(&query.query, listings));
    Ok(Json(SearchResults { results: results.into_iter().map(Into::into).collect(), pagination }))
}

pub(super) fn no_listing() -> Problem {
    Problem::new(ProblemCode::ListingNotFound, "There is no such agent in the marketplace.")
}
