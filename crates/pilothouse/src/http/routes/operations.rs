//! Completes operations on behalf of the services that carry them out.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ports::store::{OperationCompleted, OperationKey};
use protocol::operation::OperationCompletion;
use protocol::problem::ProblemCode;
use protocol::{OperationId, TaskId};
use serde::Serialize;

use crate::http::AppState;
use crate::http::extract::{InternalCaller, JsonBody, PathId};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InternalKeyUnset, InternalKeyWrong, InvalidField};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OperationStored {
    /// Always `ok`.
    status: &'static str,
    task_id: TaskId,
}

/// Report the result of an operation.
///
/// For services, with the internal key. The result replaces the pending one in the history, and the chat continues.
/// A second report, or one after a cancel, changes nothing.
#[utoipa::path(
    post, path = "/chat/operations/{operation_id}/complete", operation_id = "complete_operation", tag = "operations",
    params(("operation_id" = String, Path), ("x-api-key" = String, Header, description = "The value of CHAT_INTERNAL_API_KEY")),
    request_body = OperationCompletion, security(()),
    responses(
        (status = 200, description = "The completion is stored, by this request or an earlier one", body = OperationStored),
        InternalKeyWrong, (status = 404, description = "Operation not found", body = ProblemBody), InvalidField, InternalKeyUnset,
    )
)]
pub(crate) async fn complete(
    State(app): State<Arc<AppState>>,
    _: InternalCaller,
    PathId(operation): PathId<OperationId>,
    JsonBody(completion): JsonBody<OperationCompletion>,
) -> ApiResult<Json<OperationStored>> {
    let which = OperationKey::Operation(operation);
    match app.engine.complete_operation(&which, completion).await? {
        OperationCompleted::Done { task_id, .. } | OperationCompleted::Before { task_id } => {
            Ok(Json(OperationStored { status: "ok", task_id }))
        }
        OperationCompleted::Unknown => {
            Err(ApiProblem::new(ProblemCode::OperationNotFound, "Operation not found."))
        }
    }
}
