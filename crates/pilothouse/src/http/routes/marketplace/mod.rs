//! The marketplace: agents published for all users.

mod arrange;
mod body;
pub(crate) mod submission;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::problem::ProblemCode;
use utoipa_axum::routes;

use self::arrange::{arrange, found};
use self::body::{
    MarketplaceListQuery, SearchQuery, SearchResults, StoreAgent, StoreAgentDetails, StoreAgents,
};
use crate::http::AppState;
use crate::http::extract::{PageRequest, PathIds, Query, SignedInUser, search_term};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::InvalidField;
use crate::http::routes::ApiRoutes;

/// Default page size.
const DEFAULT_PAGE: u32 = 20;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(list))
        .routes(routes!(read))
        .routes(routes!(search))
        .routes(routes!(submission::publish))
}

/// List marketplace agents.
#[utoipa::path(
    get, path = "/store/agents", operation_id = "list_store_agents", tag = "marketplace",
    params(MarketplaceListQuery),
    responses((status = 200, description = "A page of marketplace agents", body = StoreAgents), InvalidField)
)]
async fn list(
    State(app): State<Arc<AppState>>,
    _: SignedInUser,
    Query(mut query): Query<MarketplaceListQuery>,
) -> ApiResult<Json<StoreAgents>> {
    let page = PageRequest::requested(query.page, query.page_size, DEFAULT_PAGE)?;
    query.search_query = search_term("search_query", query.search_query)?;
    let (listings, pagination) = page.of(arrange(app.ports.listings.list().await?, &query));
    let agents = listings.into_iter().map(StoreAgent::from).collect();
    Ok(Json(StoreAgents { agents, pagination }))
}

/// Read a marketplace agent with its input and output schemas.
#[utoipa::path(
    get, path = "/store/agents/{username}/{slug}", operation_id = "read_store_agent", tag = "marketplace",
    params(("username" = String, Path), ("slug" = String, Path)),
    responses((status = 200, description = "The marketplace agent", body = StoreAgentDetails), (status = 404, description = "Agent not found", body = ProblemBody))
)]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(username, slug): PathIds<String, String>,
) -> ApiResult<Json<StoreAgentDetails>> {
    // Names are stored in lower case; URLs may use any case.
    let (username, slug) = (username.to_lowercase(), slug.to_lowercase());
    let listing = app.ports.listings.by_name(&username, &slug).await?.ok_or_else(no_listing)?;
    let version = Some(listing.graph_version);
    let described = app.engine.describe_agent(&user, &listing.graph_id, version).await?;
    Ok(Json(StoreAgentDetails::new(listing, described.ok_or_else(no_listing)?)))
}

/// Search the marketplace, best match first.
#[utoipa::path(
    get, path = "/store/search", operation_id = "search_store", tag = "marketplace",
    params(SearchQuery),
    responses((status = 200, description = "A page of search results", body = SearchResults), InvalidField)
)]
async fn search(
    State(app): State<Arc<AppState>>,
    _: SignedInUser,
    Query(query): Query<SearchQuery>,
) -> ApiResult<Json<SearchResults>> {
    let page = PageRequest::requested(query.page, query.page_size, DEFAULT_PAGE)?;
    let words = search_term("query", Some(query.query))?.unwrap_or_default();
    let listings = app.ports.listings.list().await?;
    let (results, pagination) = page.of(found(&words, listings));
    Ok(Json(SearchResults { results: results.into_iter().map(Into::into).collect(), pagination }))
}

pub(crate) fn no_listing() -> ApiProblem {
    ApiProblem::new(ProblemCode::ListingNotFound, "Agent not found in the marketplace.")
}
