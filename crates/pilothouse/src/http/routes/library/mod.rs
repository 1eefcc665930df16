//! The library: the agents of a user.

mod arrange;
mod body;
mod folder_tree;
pub(crate) mod folders;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{GraphSaved, SavePolicy};
use http::StatusCode;
use ports::store::{AgentAdded, AgentChange};
use protocol::graph::Graph;
use protocol::library::LibraryAgent;
use protocol::problem::ProblemCode;
use protocol::{GraphId, LibraryAgentId, ListingVersionId, UserId};
use utoipa_axum::routes;

use self::arrange::{LibraryFilter, arrange};
use self::body::{AgentList, ChangeBody, LibraryAgentDetails, LibraryListQuery, NewAgent};
use crate::http::AppState;
use crate::http::extract::{JsonBody, PageRequest, PathId, Query, SignedInUser, search_term};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InvalidField, LibraryFull, NotFound};
use crate::http::routes::ApiRoutes;
use crate::http::routes::graphs::{invalid_graph, library_full, no_graph};
use crate::http::routes::marketplace::no_listing;

/// Default page size.
const DEFAULT_PAGE: u32 = 15;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(by_graph))
        .routes(routes!(by_listing))
        .routes(routes!(favorites))
        .merge(folders::routes())
        .routes(routes!(fork))
        .routes(routes!(list, add))
        .routes(routes!(read, update, remove))
}

/// List your agents. A search returns the best match first.
#[utoipa::path(
    get, path = "/library/agents", operation_id = "list_library_agents", tag = "library",
    params(LibraryListQuery),
    responses((status = 200, description = "A page of library agents", body = AgentList), InvalidField)
)]
async fn list(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<LibraryListQuery>,
) -> ApiResult<Json<AgentList>> {
    page(&app, &user, query, |_| true).await
}

/// List your favorite agents.
#[utoipa::path(
    get, path = "/library/agents/favorites", operation_id = "list_favorite_agents", tag = "library",
    params(LibraryListQuery),
    responses((status = 200, description = "A page of library agents", body = AgentList), InvalidField)
)]
async fn favorites(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<LibraryListQuery>,
) -> ApiResult<Json<AgentList>> {
    page(&app, &user, query, |agent| agent.is_favorite).await
}

/// Read a library agent with its input and output schemas.
#[utoipa::path(
    get, path = "/library/agents/{library_agent_id}", operation_id = "read_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    responses((status = 200, description = "The library agent", body = LibraryAgentDetails), NotFound)
)]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<LibraryAgentId>,
) -> ApiResult<Json<LibraryAgentDetails>> {
    let agent = app.ports.library.get(&user, &id).await?.ok_or_else(no_agent)?;
    details(&app, &user, agent).await
}

/// Read your library agent of a graph.
#[utoipa::path(
    get, path = "/library/agents/by-graph/{graph_id}", operation_id = "read_library_agent_of_graph", tag = "library",
    params(("graph_id" = String, Path)),
    responses((status = 200, description = "The library agent", body = LibraryAgentDetails), NotFound)
)]
async fn by_graph(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
) -> ApiResult<Json<LibraryAgentDetails>> {
    let agent = app.ports.library.by_graph(&user, &graph).await?.ok_or_else(no_agent)?;
    details(&app, &user, agent).await
}

/// Read your library agent of a marketplace agent.
#[utoipa::path(
    get, path = "/library/agents/marketplace/{store_listing_version_id}", operation_id = "read_library_agent_of_listing", tag = "library",
    params(("store_listing_version_id" = String, Path)),
    responses((status = 200, description = "The library agent", body = LibraryAgentDetails), NotFound)
)]
async fn by_listing(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(version): PathId<ListingVersionId>,
) -> ApiResult<Json<LibraryAgentDetails>> {
    let listing = app.ports.listings.by_version(&version).await?.ok_or_else(no_agent)?;
    let agent = app.ports.library.by_graph(&user, &listing.graph_id).await?.ok_or_else(no_agent)?;
    details(&app, &user, agent).await
}

/// Add a marketplace agent to your library. One that is already there stays unchanged.
#[utoipa::path(
    post, path = "/library/agents", operation_id = "add_library_agent", tag = "library",
    request_body = NewAgent,
    responses((status = 201, description = "The new library agent", body = LibraryAgent), (status = 404, description = "Not found in the marketplace", body = ProblemBody), LibraryFull)
)]
async fn add(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(new): JsonBody<NewAgent>,
) -> ApiResult<(StatusCode, Json<LibraryAgent>)> {
    let listing = app.ports.listings.by_version(&new.store_listing_version_id).await?;
    let entry = LibraryAgent::of_listing(listing.ok_or_else(no_listing)?, app.ports.clock.now());
    match app.ports.library.add(&user, &entry).await? {
        AgentAdded::New(agent) | AgentAdded::Exists(agent) => {
            Ok((StatusCode::CREATED, Json(*agent)))
        }
        AgentAdded::NoGraph => Err(no_listing()),
        AgentAdded::TooMany => Err(library_full()),
    }
}

/// Update a library agent. Absent fields stay unchanged.
#[utoipa::path(
    patch, path = "/library/agents/{library_agent_id}", operation_id = "update_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    request_body = ChangeBody,
    responses((status = 200, description = "The library agent", body = LibraryAgent), NotFound, InvalidField)
)]
async fn update(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<LibraryAgentId>,
    JsonBody(body): JsonBody<ChangeBody>,
) -> ApiResult<Json<LibraryAgent>> {
    let change = AgentChange::try_from(body)?;
    let agent = app.ports.library.update(&user, &id, change).await?;
    Ok(Json(agent.ok_or_else(no_agent)?))
}

/// Remove an agent from your library. The agent itself is kept.
#[utoipa::path(
    delete, path = "/library/agents/{library_agent_id}", operation_id = "remove_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    responses((status = 204, description = "Removed"), NotFound)
)]
async fn remove(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<LibraryAgentId>,
) -> ApiResult<StatusCode> {
    match app.ports.library.remove(&user, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_agent()),
    }
}

/// Copy an agent, so that you can edit the copy.
#[utoipa::path(
    post, path = "/library/agents/{library_agent_id}/fork", operation_id = "fork_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    responses((status = 200, description = "The library agent of the copy", body = LibraryAgent), NotFound, LibraryFull)
)]
async fn fork(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<LibraryAgentId>,
) -> ApiResult<Json<LibraryAgent>> {
    let agent = app.ports.library.get(&user, &id).await?.ok_or_else(no_agent)?;
    let version = Some(agent.graph_version);
    let original = app.ports.graphs.get(&user, &agent.graph_id, version).await?;
    let original = original.ok_or_else(no_graph)?.graph;
    let copy = Graph {
        id: GraphId::fresh(),
        version: 1,
        is_active: true,
        forked_from_id: Some(original.id.clone()),
        forked_from_version: Some(original.version),
        ..original
    };
    match app.engine.create_graph(&user, copy, SavePolicy::Valid).await? {
        GraphSaved::Saved(_, agent) => Ok(Json(*agent)),
        GraphSaved::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphSaved::TooMany => Err(library_full()),
    }
}

async fn page(
    app: &AppState,
    user: &UserId,
    mut query: LibraryListQuery,
    keep: impl Fn(&LibraryAgent) -> bool,
) -> ApiResult<Json<AgentList>> {
    let page = PageRequest::requested(query.page, query.page_size, DEFAULT_PAGE)?;
    query.search_term = search_term("search_term", query.search_term)?;
    let mut agents = app.ports.library.list(user).await?;
    agents.retain(keep);
    let (agents, pagination) = page.of(arrange(agents, &LibraryFilter::from(query)));
    Ok(Json(AgentList { agents, pagination }))
}

async fn details(
    app: &AppState,
    user: &UserId,
    agent: LibraryAgent,
) -> ApiResult<Json<LibraryAgentDetails>> {
    let version = Some(agent.graph_version);
    let described = app.engine.describe_agent(user, &agent.graph_id, version).await?;
    Ok(Json(LibraryAgentDetails::new(agent, described.ok_or_else(no_graph)?)))
}

fn no_agent() -> ApiProblem {
    ApiProblem::new(ProblemCode::AgentNotFound, "Agent not found in your library.")
}
