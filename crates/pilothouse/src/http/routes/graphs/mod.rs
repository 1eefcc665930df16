//! Agents as graphs: read, created, updated, exported, deleted. An update creates a new version.

mod body;
mod edits;
mod problems;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{GraphChanged, GraphSaved, SavePolicy};
use ports::store::{AgentChange, GraphDeleted};
use protocol::execution::SafeMode;
use protocol::graph::{Graph, GraphMeta};
use protocol::problem::ProblemCode;
use protocol::{GraphId, UserId, limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa_axum::routes;

use self::body::{GraphAnswer, GraphDetails, GraphRequest, names_another};
pub(crate) use self::problems::{InvalidGraphBody, invalid_graph};
use crate::http::AppState;
use crate::http::extract::{JsonBody, PathId, PathIds, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{LibraryFull, NotAGraph, NotFound, StaleVersion};
use crate::http::routes::ApiRoutes;
use crate::http::routes::sessions::{OK, StatusOk};

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(activate))
        .routes(routes!(list, create))
        .routes(routes!(read, update, delete))
        .routes(routes!(read_version))
        .routes(routes!(set_settings))
        .routes(routes!(versions))
        .routes(routes!(edits::edit))
        .routes(routes!(edits::restore))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ReadQuery {
    /// Default: the active version.
    version: Option<u32>,
    /// Only the graph, with the agents that it runs, for import into another installation.
    #[serde(default)]
    for_export: bool,
}

/// How an agent is saved.
#[derive(Default, Deserialize, utoipa::IntoParams)]
pub(crate) struct SaveQuery {
    /// Also save an agent that cannot run yet. It does not become the active version.
    #[serde(default)]
    draft: bool,
    /// The version that was edited. If there is a newer one, nothing is saved.
    base_version: Option<u32>,
}

impl SaveQuery {
    fn policy(&self) -> SavePolicy {
        if self.draft { SavePolicy::AllowDraft } else { SavePolicy::Valid }
    }
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActiveVersion {
    active_graph_version: u32,
}

/// Absent fields stay unchanged.
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

/// List your agents: the active version of each, newest first.
#[utoipa::path(get, path = "/graphs", operation_id = "list_graphs", tag = "graphs", responses((status = 200, description = "The graphs", body = Vec<GraphMeta>)))]
async fn list(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
) -> ApiResult<Json<Vec<GraphMeta>>> {
    Ok(Json(app.ports.graphs.list(&user, limits::LIBRARY_AGENTS, 0).await?))
}

/// Read an agent that you can see.
#[utoipa::path(
    get, path = "/graphs/{graph_id}", operation_id = "read_graph", tag = "graphs",
    params(("graph_id" = String, Path), ReadQuery),
    responses((status = 200, description = "The graph, for display or for export", body = GraphAnswer), NotFound)
)]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
    Query(query): Query<ReadQuery>,
) -> ApiResult<Json<GraphAnswer>> {
    if query.for_export {
        let exported = app.engine.export_graph(&user, &graph, query.version).await?;
        return Ok(Json(GraphAnswer::Export(Box::new(exported.ok_or_else(no_graph)?))));
    }
    let details = details(&app, &user, &graph, query.version).await?;
    Ok(Json(GraphAnswer::Details(Box::new(details))))
}

/// List all versions of one of your agents, newest first.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/versions", operation_id = "list_graph_versions", tag = "graphs",
    params(("graph_id" = String, Path)),
    responses((status = 200, description = "The versions", body = Vec<GraphMeta>), NotFound)
)]
async fn versions(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
) -> ApiResult<Json<Vec<GraphMeta>>> {
    let versions = app.ports.graphs.versions(&user, &graph).await?;
    if versions.is_empty() { Err(no_graph()) } else { Ok(Json(versions)) }
}

/// Read one version of an agent that you can see.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/versions/{version}", operation_id = "read_graph_version", tag = "graphs",
    params(("graph_id" = String, Path), ("version" = u32, Path)),
    responses((status = 200, description = "The graph", body = GraphDetails), NotFound)
)]
async fn read_version(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(graph, version): PathIds<GraphId, String>,
) -> ApiResult<Json<GraphDetails>> {
    Ok(Json(details(&app, &user, &graph, Some(version_number(&version)?)).await?))
}

/// Create an agent. An id that is taken is replaced by a new one.
#[utoipa::path(
    post, path = "/graphs", operation_id = "create_graph", tag = "graphs",
    params(SaveQuery),
    request_body = GraphRequest,
    responses((status = 200, description = "The graph", body = GraphDetails), (status = 400, description = "The graph is invalid", body = InvalidGraphBody), LibraryFull, NotAGraph)
)]
async fn create(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<SaveQuery>,
    JsonBody(body): JsonBody<Value>,
) -> ApiResult<Json<GraphDetails>> {
    let graph = GraphRequest::read(body)?.into_graph(&app, &user, None).await?;
    match app.engine.create_graph(&user, graph, query.policy()).await? {
        GraphSaved::Saved(stored, _) => answer_saved(&app, &user, &stored.graph).await,
        GraphSaved::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphSaved::TooMany => Err(library_full()),
    }
}

/// Update one of your agents. This creates a new version and makes it the active one.
#[utoipa::path(
    put, path = "/graphs/{graph_id}", operation_id = "update_graph", tag = "graphs",
    params(("graph_id" = String, Path), SaveQuery),
    request_body = GraphRequest,
    responses((status = 200, description = "The graph", body = GraphDetails), (status = 400, description = "The graph is invalid, or its id differs from the path", body = InvalidGraphBody), NotFound, StaleVersion, NotAGraph)
)]
async fn update(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<GraphId>,
    Query(query): Query<SaveQuery>,
    JsonBody(body): JsonBody<Value>,
) -> ApiResult<Json<GraphDetails>> {
    let other = names_another(&body, &id);
    let request = GraphRequest::read(body)?;
    // Before the graph is validated: an agent of another user is not found, whatever the body is.
    if app.ports.graphs.versions(&user, &id).await?.is_empty() {
        return Err(no_graph());
    }
    let graph = Graph { id: id.clone(), ..request.into_graph(&app, &user, Some(&id)).await? };
    if other {
        return Err(ApiProblem::new(
            ProblemCode::BadRequest,
            "The id of the graph in the body differs from the one in the URL.",
        ));
    }
    match app.engine.update_graph(&user, graph, query.base_version, query.policy()).await? {
        GraphChanged::Changed(stored) => answer_saved(&app, &user, &stored.graph).await,
        GraphChanged::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphChanged::Stale { newest } => Err(stale_version(newest)),
        GraphChanged::Missing => Err(no_graph()),
    }
}

/// Make a version of one of your agents the active one.
#[utoipa::path(
    put, path = "/graphs/{graph_id}/versions/active", operation_id = "activate_graph_version", tag = "graphs",
    params(("graph_id" = String, Path)),
    request_body = ActiveVersion,
    responses((status = 200, description = "The version is active", body = StatusOk), NotFound)
)]
async fn activate(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
    JsonBody(body): JsonBody<ActiveVersion>,
) -> ApiResult<Json<StatusOk>> {
    match app.ports.graphs.activate(&user, &graph, body.active_graph_version).await? {
        true => Ok(OK),
        false => Err(no_graph()),
    }
}

/// Set when an agent of your library must ask for approval.
#[utoipa::path(
    patch, path = "/graphs/{graph_id}/settings", operation_id = "set_graph_settings", tag = "graphs",
    params(("graph_id" = String, Path)),
    request_body = SettingsChange,
    responses((status = 200, description = "The settings that now apply", body = SafeMode), NotFound)
)]
async fn set_settings(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
    JsonBody(change): JsonBody<SettingsChange>,
) -> ApiResult<Json<SafeMode>> {
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

/// Delete one of your agents, with all its versions and its entry in your library.
#[utoipa::path(
    delete, path = "/graphs/{graph_id}", operation_id = "delete_graph", tag = "graphs",
    params(("graph_id" = String, Path)),
    responses((status = 200, description = "The number of versions deleted", body = DeletedGraph), NotFound, (status = 409, description = "The agent is in the marketplace and cannot be deleted", body = ProblemBody))
)]
async fn delete(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
) -> ApiResult<Json<DeletedGraph>> {
    match app.ports.graphs.delete(&user, &graph).await? {
        GraphDeleted::Deleted(version_counts) => Ok(Json(DeletedGraph { version_counts })),
        GraphDeleted::Missing => Err(no_graph()),
        GraphDeleted::Listed => Err(ApiProblem::new(
            ProblemCode::GraphListed,
            "This agent is in the marketplace, where others use it.",
        )),
    }
}

pub(crate) async fn answer_saved(
    app: &AppState,
    user: &UserId,
    graph: &Graph,
) -> ApiResult<Json<GraphDetails>> {
    Ok(Json(details(app, user, &graph.id, Some(graph.version)).await?))
}

pub(crate) async fn details(
    app: &AppState,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> ApiResult<GraphDetails> {
    let stored = app.ports.graphs.get(user, id, version).await?.ok_or_else(no_graph)?;
    let version = Some(stored.graph.version);
    let described = app.engine.describe_agent(user, id, version).await?.ok_or_else(no_graph)?;
    Ok(GraphDetails::new(stored, described))
}

/// A version in a path. Text that is not a number is a version that does not exist.
pub(crate) fn version_number(text: &str) -> ApiResult<u32> {
    text.parse().map_err(|_| no_graph())
}

pub(crate) fn stale_version(newest: u32) -> ApiProblem {
    let detail = format!("This agent was changed meanwhile; its newest version is {newest}.");
    ApiProblem::new(ProblemCode::StaleVersion, detail).with("newest_version", newest)
}

pub(crate) fn no_graph() -> ApiProblem {
    ApiProblem::new(ProblemCode::GraphNotFound, "Agent or version not found.")
}

pub(crate) fn library_full() -> ApiProblem {
    let detail = format!("A library can have at most {} agents.", limits::LIBRARY_AGENTS);
    ApiProblem::new(ProblemCode::LibraryFull, detail)
}
