//! Executions of agents: started, listed, read, awaited, stopped, deleted.

mod body;
mod execution_stream;
pub(crate) mod start;
pub(crate) mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use ports::store::{ExecutionDeleted, ListExecutions};
use protocol::execution::{Execution, ExecutionView, NodeRange};
use protocol::problem::ProblemCode;
use protocol::{ExecutionId, GraphId, UserId};
use serde::Deserialize;
use utoipa_axum::routes;

pub(crate) use self::body::{ExecutionDetails, ExecutionList, ExecutionMeta};
pub(crate) use self::execution_stream::by_pin;
pub(crate) use self::start::{no_funds, start_refused};
use crate::http::AppState;
use crate::http::extract::{PageRequest, PathId, PathIds, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;
use crate::http::routes::graphs::no_graph;

/// Maximum and default number of node executions in a response.
const NODE_LIMIT: u32 = 500;
const DEFAULT_NODES: u32 = 100;
/// Maximum and default seconds that a request waits for the end of an execution.
const MAX_WAIT: u64 = 300;
const DEFAULT_WAIT: u64 = 60;
const DEFAULT_PAGE: u32 = 25;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(list))
        .routes(routes!(list_of_graph))
        .routes(routes!(read, delete))
        .routes(routes!(read_of_graph))
        .routes(routes!(start::active))
        .routes(routes!(start::version))
        .routes(routes!(stop))
        .routes(routes!(stream::follow))
        .routes(routes!(wait))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ExecutionListQuery {
    /// From 1.
    page: Option<u32>,
    /// 1 to 100; default 25.
    page_size: Option<u32>,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct NodesQuery {
    /// How many node executions to skip.
    node_offset: Option<u32>,
    /// 0 to 500; default 100.
    node_limit: Option<u32>,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct WaitQuery {
    /// Seconds, 0 to 300; default 60.
    timeout: Option<u64>,
}

/// List your executions, newest first.
#[utoipa::path(
    get, path = "/executions", operation_id = "list_executions", tag = "executions",
    params(ExecutionListQuery),
    responses((status = 200, description = "The executions", body = Vec<ExecutionMeta>), InvalidField)
)]
async fn list(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<ExecutionListQuery>,
) -> ApiResult<Json<Vec<ExecutionMeta>>> {
    let page = PageRequest::requested(query.page, query.page_size, DEFAULT_PAGE)?;
    let (executions, _) = app.ports.executions.list(&user, &list_request(page, None)).await?;
    Ok(Json(executions.into_iter().map(ExecutionMeta::from).collect()))
}

/// List your executions of one agent, newest first.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions", operation_id = "list_graph_executions", tag = "executions",
    params(("graph_id" = String, Path), ExecutionListQuery),
    responses((status = 200, description = "A page of executions", body = ExecutionList), NotFound)
)]
async fn list_of_graph(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
    Query(query): Query<ExecutionListQuery>,
) -> ApiResult<Json<ExecutionList>> {
    let page = PageRequest::requested(query.page, query.page_size, DEFAULT_PAGE)?;
    let request = list_request(page, Some(graph.clone()));
    let (executions, total) = app.ports.executions.list(&user, &request).await?;
    // Executions outlive their agent, so the agent is only looked up when there are none.
    if total == 0 && app.ports.graphs.get(&user, &graph, None).await?.is_none() {
        return Err(no_graph());
    }
    let executions = executions.into_iter().map(ExecutionMeta::from).collect();
    Ok(Json(ExecutionList { executions, pagination: page.among(total) }))
}

/// Read an execution of an agent with its node executions.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions/{execution_id}", operation_id = "read_graph_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path), NodesQuery),
    responses((status = 200, description = "The execution", body = ExecutionDetails), NotFound)
)]
async fn read_of_graph(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(graph, id): PathIds<GraphId, ExecutionId>,
    Query(query): Query<NodesQuery>,
) -> ApiResult<Json<ExecutionDetails>> {
    let view = view(&app, &user, &id, query.nodes()?).await?;
    if view.execution.graph_id != graph {
        return Err(no_execution());
    }
    Ok(Json(view.into()))
}

/// Read an execution with its node executions.
#[utoipa::path(
    get, path = "/executions/{execution_id}", operation_id = "read_execution", tag = "executions",
    params(("execution_id" = String, Path), NodesQuery),
    responses((status = 200, description = "The execution", body = ExecutionDetails), NotFound)
)]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<ExecutionId>,
    Query(query): Query<NodesQuery>,
) -> ApiResult<Json<ExecutionDetails>> {
    Ok(Json(view(&app, &user, &id, query.nodes()?).await?.into()))
}

/// Wait until an execution has ended or needs approval. After the timeout its current state is returned.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions/{execution_id}/wait", operation_id = "wait_for_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path), WaitQuery),
    responses((status = 200, description = "The execution", body = ExecutionDetails), NotFound, InvalidField)
)]
async fn wait(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(graph, id): PathIds<GraphId, ExecutionId>,
    Query(query): Query<WaitQuery>,
) -> ApiResult<Json<ExecutionDetails>> {
    let timeout = query.timeout.unwrap_or(DEFAULT_WAIT);
    if timeout > MAX_WAIT {
        return Err(ApiProblem::invalid(format!("timeout must be from 0 to {MAX_WAIT}.")));
    }
    find(&app, &user, &graph, &id).await?;
    let waiting = app.engine.wait_for_execution(&user, &id, Duration::from_secs(timeout));
    tokio::select! {
        waited = waiting => { waited?.ok_or_else(no_execution)?; }
        () = app.streams_end.cancelled() => return Err(ApiProblem::shutting_down()),
    }
    Ok(Json(view(&app, &user, &id, NodeRange::None).await?.into()))
}

/// Stop an execution and those it started, and wait up to fifteen seconds for its end.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/executions/{execution_id}/stop", operation_id = "stop_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path)),
    responses((status = 200, description = "The execution; a running one stops shortly afterward", body = ExecutionMeta), NotFound)
)]
async fn stop(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(graph, id): PathIds<GraphId, ExecutionId>,
) -> ApiResult<Json<ExecutionMeta>> {
    find(&app, &user, &graph, &id).await?;
    let stopped = app.engine.stop_execution(&user, &id).await?;
    Ok(Json(stopped.ok_or_else(no_execution)?.into()))
}

/// Delete an ended execution with all its data.
#[utoipa::path(
    delete, path = "/executions/{execution_id}", operation_id = "delete_execution", tag = "executions",
    params(("execution_id" = String, Path)),
    responses((status = 204, description = "Deleted"), NotFound, (status = 409, description = "The execution is still active", body = ProblemBody))
)]
async fn delete(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<ExecutionId>,
) -> ApiResult<StatusCode> {
    match app.ports.executions.delete(&user, &id).await? {
        ExecutionDeleted::Deleted => Ok(StatusCode::NO_CONTENT),
        ExecutionDeleted::Missing => Err(no_execution()),
        ExecutionDeleted::Open => Err(ApiProblem::new(
            ProblemCode::ExecutionOpen,
            "This run has not ended. Stop it first, or wait for it to finish.",
        )),
    }
}

impl NodesQuery {
    fn nodes(&self) -> ApiResult<NodeRange> {
        match self.node_limit.unwrap_or(DEFAULT_NODES) {
            0 => Ok(NodeRange::None),
            limit if limit <= NODE_LIMIT => Ok(NodeRange::From {
                first: self.node_offset.map_or(0, u64::from),
                limit: limit as usize,
            }),
            _ => Err(ApiProblem::invalid(format!("node_limit must be from 0 to {NODE_LIMIT}."))),
        }
    }
}

fn list_request(page: PageRequest, graph: Option<GraphId>) -> ListExecutions {
    ListExecutions { graph, limit: page.size(), offset: page.offset(), ..ListExecutions::default() }
}

async fn view(
    app: &AppState,
    user: &UserId,
    id: &ExecutionId,
    nodes: NodeRange,
) -> ApiResult<ExecutionView> {
    app.engine.execution_view(user, id, nodes).await?.ok_or_else(no_execution)
}

/// The execution, if it belongs to this agent.
async fn find(
    app: &AppState,
    user: &UserId,
    graph: &GraphId,
    id: &ExecutionId,
) -> ApiResult<Execution> {
    let found = app.ports.executions.get(user, id).await?;
    found.filter(|execution| execution.graph_id == *graph).ok_or_else(no_execution)
}

pub(crate) fn no_execution() -> ApiProblem {
    ApiProblem::new(ProblemCode::ExecutionNotFound, "Run not found.")
}
