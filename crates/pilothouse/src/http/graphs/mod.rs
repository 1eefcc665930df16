//! Agents as graphs: read, made, changed, exported, deleted. Editing makes a new version.

mod body;
mod problems;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{GraphChanged, GraphSaved};
use ports::store::{AgentChange, GraphDeleted};
use protocol::execution::SafeMode;
use protocol::graph::{Graph, GraphMeta};
use protocol::problem::ProblemCode;
use protocol::{GraphId, UserId, limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::body::{GraphAnswer, GraphDetails, GraphRequest, names_another};
pub(crate) use self::problems::{InvalidGraphBody, invalid_graph};
use super::App;
use super::auth::Person;
use super::json::{Body, Query};
use super::path::{Id, Ids};
use super::problem::{Answer, Problem, ProblemBody};
use super::sessions::{OK, Ok200};

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ReadQuery {
    /// The active one when not given.
    version: Option<u32>,
    /// The graph alone, with the agents that it runs, as a file for another installation.
    #[serde(default)]
    for_export: bool,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActiveVersion {
    active_graph_version: u32,
}

/// What is absent stays as it is.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsChange {
    human_in_the_loop_safe_mode: Option<bool>,
    sensitive_action_safe_mode: Option<bool>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct DeletedGraph {
    version_counts: u32,
}

/// Your agents: the active version of each, the newest first.
#[utoipa::path(get, path = "/graphs", operation_id = "list_graphs", tag = "graphs", responses((status = 200, description = "Done", body = Vec<GraphMeta>)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Person(user): Person,
) -> Answer<Json<Vec<GraphMeta>>> {
    Ok(Json(app.ports.graphs.list(&user, limits::LIBRARY_AGENTS, 0).await?))
}

/// One agent that you can see.
#[utoipa::path(
    get, path = "/graphs/{graph_id}", operation_id = "read_graph", tag = "graphs",
    params(("graph_id" = String, Path), ReadQuery),
    responses((status = 200, description = "Done", body = GraphAnswer), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
    Query(query): Query<ReadQuery>,
) -> Answer<Json<GraphAnswer>> {
    if query.for_export {
        let exported = app.engine.export_graph(&user, &graph, query.version).await?;
        return Ok(Json(GraphAnswer::Export(Box::new(exported.ok_or_else(no_graph)?))));
    }
    let details = details(&app, &user, &graph, query.version).await?;
    Ok(Json(GraphAnswer::Details(Box::new(details))))
}

/// Every version of an agent of yours, the newest first.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/versions", operation_id = "list_graph_versions", tag = "graphs",
    params(("graph_id" = String, Path)),
    responses((status = 200, description = "Done", body = Vec<GraphMeta>), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn versions(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
) -> Answer<Json<Vec<GraphMeta>>> {
    let versions = app.ports.graphs.versions(&user, &graph).await?;
    if versions.is_empty() { Err(no_graph()) } else { Ok(Json(versions)) }
}

/// One version of an agent that you can see.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/versions/{version}", operation_id = "read_graph_version", tag = "graphs",
    params(("graph_id" = String, Path), ("version" = u32, Path)),
    responses((status = 200, description = "Done", body = GraphDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn read_version(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Ids(graph, version): Ids<GraphId, String>,
) -> Answer<Json<GraphDetails>> {
    Ok(Json(details(&app, &user, &graph, Some(version_number(&version)?)).await?))
}

/// Make an agent. An id that is taken is replaced by a fresh one.
#[utoipa::path(
    post, path = "/graphs", operation_id = "create_graph", tag = "graphs",
    request_body = GraphRequest,
    responses((status = 200, description = "Done", body = GraphDetails), (status = 400, description = "The graph cannot run", body = InvalidGraphBody), (status = 409, description = "Your library is full", body = ProblemBody), (status = 422, description = "Not a graph", body = ProblemBody))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(body): Body<Value>,
) -> Answer<Json<GraphDetails>> {
    match app.engine.create_graph(&user, GraphRequest::read(body)?.into_graph()).await? {
        GraphSaved::Saved(stored, _) => answer_saved(&app, &user, &stored.graph).await,
        GraphSaved::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphSaved::TooMany => Err(library_full()),
    }
}

/// Change an agent of yours: a new version, which becomes the active one.
#[utoipa::path(
    put, path = "/graphs/{graph_id}", operation_id = "update_graph", tag = "graphs",
    params(("graph_id" = String, Path)),
    request_body = GraphRequest,
    responses((status = 200, description = "Done", body = GraphDetails), (status = 400, description = "The graph cannot run, or has another id", body = InvalidGraphBody), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not a graph", body = ProblemBody))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<GraphId>,
    Body(body): Body<Value>,
) -> Answer<Json<GraphDetails>> {
    let other = names_another(&body, &id);
    let graph = Graph { id, ..GraphRequest::read(body)?.into_graph() };
    // Before the graph is looked at: one of somebody else looks missing whatever is sent for it.
    if app.ports.graphs.versions(&user, &graph.id).await?.is_empty() {
        return Err(no_graph());
    }
    if other {
        return Err(Problem::new(
            ProblemCode::BadRequest,
            "The graph in the body has another id than the one in the address.",
        ));
    }
    match app.engine.update_graph(&user, graph).await? {
        GraphChanged::Changed(stored) => answer_saved(&app, &user, &stored.graph).await,
        GraphChanged::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphChanged::Missing => Err(no_graph()),
    }
}

/// Make a version of an agent of yours the active one.
#[utoipa::path(
    put, path = "/graphs/{graph_id}/versions/active", operation_id = "activate_graph_version", tag = "graphs",
    params(("graph_id" = String, Path)),
    request_body = ActiveVersion,
    responses((status = 200, description = "Done", body = Ok200), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn activate(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
    Body(body): Body<ActiveVersion>,
) -> Answer<Json<Ok200>> {
    match app.ports.graphs.activate(&user, &graph, body.active_graph_version).await? {
        true => Ok(OK),
        false => Err(no_graph()),
    }
}

/// Say where you want to be asked when this agent of your library runs.
#[utoipa::path(
    patch, path = "/graphs/{graph_id}/settings", operation_id = "set_graph_settings", tag = "graphs",
    params(("graph_id" = String, Path)),
    request_body = SettingsChange,
    responses((status = 200, description = "Done", body = SafeMode), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn set_settings(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
    Body(change): Body<SettingsChange>,
) -> Answer<Json<SafeMode>> {
    let entry = app.ports.library.by_graph(&user, &graph).await?.ok_or_else(no_graph)?;
    let settings = SafeMode {
        human_in_the_loop: change
            .human_in_the_loop_safe_mode
            .unwrap_or(entry.settings.human_in_the_loop),
        sensitive_action: change
            .sensitive_action_safe_mode
            .unwrap_or(entry.settings.sensitive_action),
    };
    let change = AgentChange { settings: Some(settings), ..AgentChange::default() };
    let entry = app.ports.library.update(&user, &entry.id, change).await?;
    Ok(Json(entry.ok_or_else(no_graph)?.settings))
}

/// Delete an agent of yours, with all its versions and its entry in your library.
#[utoipa::path(
    delete, path = "/graphs/{graph_id}", operation_id = "delete_graph", tag = "graphs",
    params(("graph_id" = String, Path)),
    responses((status = 200, description = "Done", body = DeletedGraph), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "It is in the marketplace", body = ProblemBody))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
) -> Answer<Json<DeletedGraph>> {
    match app.ports.graphs.delete(&user, &graph).await? {
        GraphDeleted::Deleted(version_counts) => Ok(Json(DeletedGraph { version_counts })),
        GraphDeleted::Missing => Err(no_graph()),
        GraphDeleted::Listed => Err(Problem::new(
            ProblemCode::GraphListed,
            "This agent is in the marketplace, where others rely on it.",
        )),
    }
}

async fn answer_saved(app: &App, user: &UserId, graph: &Graph) -> Answer<Json<GraphDetails>> {
    Ok(Json(details(app, user, &graph.id, Some(graph.version)).await?))
}

async fn details(
    app: &App,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> Answer<GraphDetails> {
    let stored = app.ports.graphs.get(user, id, version).await?.ok_or_else(no_graph)?;
    let version = Some(stored.graph.version);
    let described = app.engine.describe_agent(user, id, version).await?.ok_or_else(no_graph)?;
    Ok(GraphDetails::new(stored, described))
}

/// A version in a path. What is no number is a version that does not exist.
pub(super) fn version_number(text: &str) -> Answer<u32> {
    text.parse().map_err(|_| no_graph())
}

pub(super) fn no_graph() -> Problem {
    Problem::new(ProblemCode::GraphNotFound, "There is no such agent, or no such version of it.")
}

pub(super) fn library_full() -> Problem {
    let detail = format!("A library holds at most {} agents.", limits::LIBRARY_AGENTS);
    Problem::new(ProblemCode::LibraryFull, detail)
}
