//! The agents that a user keeps.

mod arrange;
mod body;
mod folder_tree;
pub(crate) mod folders;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::GraphSaved;
use http::StatusCode;
use ports::store::{AgentAdded, AgentChange};
use protocol::graph::Graph;
use protocol::library::LibraryAgent;
use protocol::problem::ProblemCode;
use protocol::{GraphId, LibraryAgentId, ListingVersionId, UserId};

use self::arrange::{Wanted, arrange};
use self::body::{AgentDetails, AgentList, ChangeBody, ListQuery, NewAgent, entry_of};
use super::App;
use super::auth::Person;
use super::graphs::{invalid_graph, library_full, no_graph};
use super::json::{Body, Query};
use super::paging::Page;
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};
use super::store::no_listing;

/// Agents on a page unless asked.
const USUAL_PAGE: u32 = 15;

/// Your agents. A search gives the best match first.
#[utoipa::path(
    get, path = "/library/agents", operation_id = "list_library_agents", tag = "library",
    params(ListQuery),
    responses((status = 200, description = "Done", body = AgentList), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Query(query): Query<ListQuery>,
) -> Answer<Json<AgentList>> {
    page(&app, &user, query, |_| true).await
}

/// Your favourites among your agents.
#[utoipa::path(
    get, path = "/library/agents/favorites", operation_id = "list_favorite_agents", tag = "library",
    params(ListQuery),
    responses((status = 200, description = "Done", body = AgentList), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn favorites(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Query(query): Query<ListQuery>,
) -> Answer<Json<AgentList>> {
    page(&app, &user, query, |agent| agent.is_favorite).await
}

/// One of your agents, with what it takes and gives.
#[utoipa::path(
    get, path = "/library/agents/{library_agent_id}", operation_id = "read_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    responses((status = 200, description = "Done", body = AgentDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<LibraryAgentId>,
) -> Answer<Json<AgentDetails>> {
    let agent = app.ports.library.get(&user, &id).await?.ok_or_else(no_agent)?;
    details(&app, &user, agent).await
}

/// Your entry for an agent.
#[utoipa::path(
    get, path = "/library/agents/by-graph/{graph_id}", operation_id = "read_library_agent_of_graph", tag = "library",
    params(("graph_id" = String, Path)),
    responses((status = 200, description = "Done", body = AgentDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn by_graph(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
) -> Answer<Json<AgentDetails>> {
    let agent = app.ports.library.by_graph(&user, &graph).await?.ok_or_else(no_agent)?;
    details(&app, &user, agent).await
}

/// Your entry for an agent of the marketplace.
#[utoipa::path(
    get, path = "/library/agents/marketplace/{store_listing_version_id}", operation_id = "read_library_agent_of_listing", tag = "library",
    params(("store_listing_version_id" = String, Path)),
    responses((status = 200, description = "Done", body = AgentDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn by_listing(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(version): Id<ListingVersionId>,
) -> Answer<Json<AgentDetails>> {
    let listing = app.ports.listings.by_version(&version).await?.ok_or_else(no_agent)?;
    let agent = app.ports.library.by_graph(&user, &listing.graph_id).await?.ok_or_else(no_agent)?;
    details(&app, &user, agent).await
}

/// Add an agent of the marketplace. One that you have already stays as it is.
#[utoipa::path(
    post, path = "/library/agents", operation_id = "add_library_agent", tag = "library",
    request_body = NewAgent,
    responses((status = 201, description = "It is in your library", body = LibraryAgent), (status = 404, description = "It is not in the marketplace", body = ProblemBody), (status = 409, description = "Your library is full", body = ProblemBody))
)]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(new): Body<NewAgent>,
) -> Answer<(StatusCode, Json<LibraryAgent>)> {
    let listing = app.ports.listings.by_version(&new.store_listing_version_id).await?;
    let entry = entry_of(listing.ok_or_else(no_listing)?, app.ports.clock.now());
    match app.ports.library.add(&user, &entry).await? {
        AgentAdded::New(agent) | AgentAdded::Exists(agent) => {
            Ok((StatusCode::CREATED, Json(*agent)))
        }
        AgentAdded::NoGraph => Err(no_listing()),
        AgentAdded::TooMany => Err(library_full()),
    }
}

/// Change an entry of your library. What is absent stays as it is.
#[utoipa::path(
    patch, path = "/library/agents/{library_agent_id}", operation_id = "update_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    request_body = ChangeBody,
    responses((status = 200, description = "Done", body = LibraryAgent), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<LibraryAgentId>,
    Body(body): Body<ChangeBody>,
) -> Answer<Json<LibraryAgent>> {
    let change = AgentChange::try_from(body)?;
    let agent = app.ports.library.update(&user, &id, change).await?;
    Ok(Json(agent.ok_or_else(no_agent)?))
}

/// Remove an entry from your library. The agent itself stays.
#[utoipa::path(
    delete, path = "/library/agents/{library_agent_id}", operation_id = "remove_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    responses((status = 204, description = "Done"), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<LibraryAgentId>,
) -> Answer<StatusCode> {
    match app.ports.library.remove(&user, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_agent()),
    }
}

/// Make a copy of an agent that is your own, so that you can change it.
#[utoipa::path(
    post, path = "/library/agents/{library_agent_id}/fork", operation_id = "fork_library_agent", tag = "library",
    params(("library_agent_id" = String, Path)),
    responses((status = 200, description = "Your entry for the copy", body = LibraryAgent), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "Your library is full", body = ProblemBody))
)]
pub(crate) async fn fork(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<LibraryAgentId>,
) -> Answer<Json<LibraryAgent>> {
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
    match app.engine.create_graph(&user, copy).await? {
        GraphSaved::Saved(_, agent) => Ok(Json(*agent)),
        GraphSaved::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphSaved::TooMany => Err(library_full()),
    }
}

async fn page(
    app: &App,
    user: &UserId,
    query: ListQuery,
    keep: impl Fn(&LibraryAgent) -> bool,
) -> Answer<Json<AgentList>> {
    let page = Page::asked(query.page, query.page_size, USUAL_PAGE)?;
    let mut agents = app.ports.library.list(user).await?;
    agents.retain(keep);
    let (agents, pagination) = page.of(arrange(agents, &Wanted::from(query)));
    Ok(Json(AgentList { agents, pagination }))
}

async fn details(app: &App, user: &UserId, agent: LibraryAgent) -> Answer<Json<AgentDetails>> {
    let version = Some(agent.graph_version);
    let described = app.engine.describe_agent(user, &agent.graph_id, version).await?;
    Ok(Json(AgentDetails::new(agent, described.ok_or_else(no_graph)?)))
}

fn no_agent() -> Problem {
    Problem::new(ProblemCode::AgentNotFound, "There is no such agent in your library.")
}
