//! What an operation came to, said by the service that carried it out.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ports::store::{OperationCompleted, OperationKey};
use protocol::operation::OperationCompletion;
use protocol::problem::ProblemCode;
use protocol::{OperationId, TaskId};
use serde::Serialize;

use super::App;
use super::internal_key::InternalCaller;
use super::json::Body;
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Completed {
    /// Always `ok`.
    status: &'static str,
    task_id: TaskId,
}

/// Say what an operation came to.
///
/// For services, with the key of this server. The result takes the place of the pending one in the history, and the
/// conversation goes on. Said again, or after a cancel, it changes nothing.
#[utoipa::path(
    post, path = "/chat/operations/{operation_id}/complete", operation_id = "complete_operation", tag = "operations",
    params(("operation_id" = String, Path), ("x-api-key" = String, Header, description = "The value of CHAT_INTERNAL_API_KEY")),
    request_body = OperationCompletion, security(()),
    responses(
        (status = 200, description = "Stored, now or before", body = Completed),
        (status = 401, description = "The key is wrong or missing", body = ProblemBody), (status = 404, description = "There is no such operation", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody), (status = 503, description = "This server was given no key", body = ProblemBody),
    )
)]
pub(crate) async fn complete(
    State(app): State<Arc<App>>,
    _: InternalCaller,
    Id(operation): Id<OperationId>,
    Body(completion): Body<OperationCompletion>,
) -> Answer<Json<Completed>> {
    let which = OperationKey::Operation(operation);
    match app.engine.complete_operation(&which, completion).await? {
        OperationCompleted::Done { task_id, .. } | OperationCompleted::Before { task_id } => {
            Ok(Json(Completed { status: "ok", task_id }))
        }
        OperationCompleted::Unknown => {
            Err(Problem::new(ProblemCode::OperationNotFound, "There is no such operation."))
        }
    }
}
