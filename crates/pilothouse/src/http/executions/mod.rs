//! Runs of agents: started, listed, read, waited for, stopped, deleted.

mod body;
mod feed;
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

pub(crate) use self::body::{ExecutionDetails, ExecutionList, ExecutionMeta};
pub(super) use self::feed::by_pin;
pub(super) use self::start::no_funds;
use super::App;
use super::auth::Person;
use super::graphs::no_graph;
use super::json::Query;
use super::paging::Page;
use super::path::{Id, Ids};
use super::problem::{Answer, Problem, ProblemBody};

/// Node runs that one answer shows, and unless asked.
const NODE_LIMIT: u32 = 500;
const USUAL_NODES: u32 = 100;
/// Seconds that a request may wait for the end of a run, and unless asked.
const LONGEST_WAIT: u64 = 300;
const USUAL_WAIT: u64 = 60;
const USUAL_PAGE: u32 = 25;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ListQuery {
    /// From 1.
    page: Option<u32>,
    /// 1 to 100; 25 when not given.
    page_size: Option<u32>,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct NodesQuery {
    /// How many node runs to leave out at the beginning.
    node_offset: Option<u32>,
    /// 0 to 500; 100 when not given.
    node_limit: Option<u32>,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct WaitQuery {
    /// Seconds, 0 to 300; 60 when not given.
    timeout: Option<u64>,
}

/// Your runs, the newest first.
#[utoipa::path(
    get, path = "/executions", operation_id = "list_executions", tag = "executions",
    params(ListQuery),
    responses((status = 200, description = "Done", body = Vec<ExecutionMeta>), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Query(query): Query<ListQuery>,
) -> Answer<Json<Vec<ExecutionMeta>>> {
    let page = Page::asked(query.page, query.page_size, USUAL_PAGE)?;
    let (executions, _) = app.ports.executions.list(&user, &wanted(page, None)).await?;
    Ok(Json(executions.into_iter().map(ExecutionMeta::from).collect()))
}

/// Your runs of one agent, the newest first.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions", operation_id = "list_graph_executions", tag = "executions",
    params(("graph_id" = String, Path), ListQuery),
    responses((status = 200, description = "Done", body = ExecutionList), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn list_of_graph(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
    Query(query): Query<ListQuery>,
) -> Answer<Json<ExecutionList>> {
    let page = Page::asked(query.page, query.page_size, USUAL_PAGE)?;
    let wanted = wanted(page, Some(graph.clone()));
    let (executions, total) = app.ports.executions.list(&user, &wanted).await?;
    // Runs are kept when their agent is gone, so only a list without any asks for the agent.
    if total == 0 && app.ports.graphs.get(&user, &graph, None).await?.is_none() {
        return Err(no_graph());
    }
    let executions = executions.into_iter().map(ExecutionMeta::from).collect();
    Ok(Json(ExecutionList { executions, pagination: page.among(total) }))
}

/// One run of an agent, with what its nodes did.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions/{execution_id}", operation_id = "read_graph_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path), NodesQuery),
    responses((status = 200, description = "Done", body = ExecutionDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn read_of_graph(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Ids(graph, id): Ids<GraphId, ExecutionId>,
    Query(query): Query<NodesQuery>,
) -> Answer<Json<ExecutionDetails>> {
    let view = view(&app, &user, &id, query.nodes()?).await?;
    if view.execution.graph_id != graph {
        return Err(no_execution());
    }
    Ok(Json(view.into()))
}

/// One run, with what its nodes did.
#[utoipa::path(
    get, path = "/executions/{execution_id}", operation_id = "read_execution", tag = "executions",
    params(("execution_id" = String, Path), NodesQuery),
    responses((status = 200, description = "Done", body = ExecutionDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<ExecutionId>,
    Query(query): Query<NodesQuery>,
) -> Answer<Json<ExecutionDetails>> {
    Ok(Json(view(&app, &user, &id, query.nodes()?).await?.into()))
}

/// Wait until a run has ended or needs a person. After the time it is given as it is then.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions/{execution_id}/wait", operation_id = "wait_for_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path), WaitQuery),
    responses((status = 200, description = "Done", body = ExecutionDetails), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn wait(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Ids(graph, id): Ids<GraphId, ExecutionId>,
    Query(query): Query<WaitQuery>,
) -> Answer<Json<ExecutionDetails>> {
    let timeout = query.timeout.unwrap_or(USUAL_WAIT);
    if timeout > LONGEST_WAIT {
        return Err(Problem::invalid(format!("timeout must be from 0 to {LONGEST_WAIT}.")));
    }
    find(&app, &user, &graph, &id).await?;
    let waiting = app.engine.wait_for_execution(&user, &id, Duration::from_secs(timeout));
    tokio::select! {
        waited = waiting => { waited?.ok_or_else(no_execution)?; }
        () = app.streams_end.cancelled() => return Err(Problem::shutting_down()),
    }
    Ok(Json(view(&app, &user, &id, NodeRange::None).await?.into()))
}

/// Stop a run and the runs that it has started, and wait up to fifteen seconds for its end.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/executions/{execution_id}/stop", operation_id = "stop_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path)),
    responses((status = 200, description = "Done, or asked for", body = ExecutionMeta), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn stop(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Ids(graph, id): Ids<GraphId, ExecutionId>,
) -> Answer<Json<ExecutionMeta>> {
    find(&app, &user, &graph, &id).await?;
    let stopped = app.engine.stop_execution(&user, &id).await?;
    Ok(Json(stopped.ok_or_else(no_execution)?.into()))
}

/// Delete a run that has ended, with all that belongs to it.
#[utoipa::path(
    delete, path = "/executions/{execution_id}", operation_id = "delete_execution", tag = "executions",
    params(("execution_id" = String, Path)),
    responses((status = 204, description = "Done"), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "It has not ended", body = ProblemBody))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<ExecutionId>,
) -> Answer<StatusCode> {
    match app.ports.executions.delete(&user, &id).await? {
        ExecutionDeleted::Deleted => Ok(StatusCode::NO_CONTENT),
        ExecutionDeleted::Missing => Err(no_execution()),
        ExecutionDeleted::Open => Err(Problem::new(
            ProblemCode::ExecutionOpen,
            "The run has not ended. Stop it first, or wait for its end.",
        )),
    }
}

impl NodesQuery {
    fn nodes(&self) -> Answer<NodeRange> {
        match self.node_limit.unwrap_or(USUAL_NODES) {
            0 => Ok(NodeRange::None),
            limit if limit <= NODE_LIMIT => Ok(NodeRange::From {
                first: self.node_offset.map_or(0, u64::from),
                limit: limit as usize,
            }),
            _ => Err(Problem::invalid(format!("node_limit must be from 0 to {NODE_LIMIT}."))),
        }
    }
}

fn wanted(page: Page, graph: Option<GraphId>) -> ListExecutions {
    ListExecutions { graph, limit: page.size(), offset: page.offset(), ..ListExecutions::default() }
}

async fn view(
    app: &App,
    user: &UserId,
    id: &ExecutionId,
    nodes: NodeRange,
) -> Answer<ExecutionView> {
    app.engine.execution_view(user, id, nodes).await?.ok_or_else(no_execution)
}

/// The run, if it is one of this agent.
async fn find(app: &App, user: &UserId, graph: &GraphId, id: &ExecutionId) -> Answer<Execution> {
    let found = app.ports.executions.get(user, id).await?;
    found.filter(|execution| execution.graph_id == *graph).ok_or_else(no_execution)
}

pub(super) fn no_execution() -> Problem {
    Problem::new(ProblemCode::ExecutionNotFound, "There is no such run.")
}
