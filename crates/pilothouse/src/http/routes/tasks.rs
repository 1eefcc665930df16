//! The state of a task. A turn is a task under its own id.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use protocol::turn::{Turn, TurnStatus};
use protocol::{OperationId, SessionId, TaskId};
use serde::Serialize;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::{CallerIdentity, PathId};
use crate::http::problem::ApiResult;
use crate::http::routes::ApiRoutes;
use crate::http::routes::stream::no_task;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(read))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct TaskView {
    task_id: TaskId,
    session_id: SessionId,
    /// An operation is `running` until it has ended, also while another service carries it out.
    status: TurnStatus,
    /// The tool of an operation; null for a turn.
    tool_name: Option<String>,
    operation_id: Option<OperationId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// Read the state of a task.
#[utoipa::path(
    get, path = "/chat/tasks/{task_id}", operation_id = "read_task", tag = "chat",
    params(("task_id" = String, Path)),
    responses((status = 200, description = "The task", body = TaskView), (status = 404, description = "TASK_NOT_FOUND"))
)]
async fn read(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(task_id): PathId<TaskId>,
) -> ApiResult<Json<TaskView>> {
    let turn = app.ports.turns.get(&identity.owner, &task_id.0.as_str().into()).await;
    let turn = turn?.ok_or_else(|| no_task().nested())?;
    Ok(Json(TaskView {
        task_id,
        status: status(&turn),
        session_id: turn.session_id,
        tool_name: turn.operation.as_ref().map(|operation| operation.tool_name.clone()),
        operation_id: turn.operation.map(|operation| operation.id),
        created_at: turn.created_at,
    }))
}

fn status(turn: &Turn) -> TurnStatus {
    match turn.status {
        TurnStatus::Queued if turn.operation.is_some() => TurnStatus::Running,
        status => status,
    }
}
