//! The blocks that agents consist of: listed, and run on their own.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{BlockRefused, BlockRequest};
use ports::call_services::{BlockCall, BlockCallEnd};
use ports::store::BlockOutcome;
use protocol::BlockId;
use protocol::block::BlockDescription;
use protocol::permissions::Permissions;
use protocol::problem::ProblemCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::http::AppState;
use crate::http::extract::{JsonBody, PathId, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::NoCredits;
use crate::http::routes::ApiRoutes;
use crate::http::routes::executions::{by_pin, no_funds};

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(execute)).routes(routes!(list))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct RunQuery {
    /// A block with side effects only reports what it would do.
    #[serde(default)]
    dry_run: bool,
}

/// List all blocks with their input and output schemas.
#[utoipa::path(get, path = "/blocks", operation_id = "list_blocks", tag = "blocks", responses((status = 200, description = "The blocks", body = Vec<BlockDescription>)))]
async fn list(State(app): State<Arc<AppState>>, _: SignedInUser) -> Json<Vec<BlockDescription>> {
    Json(app.engine.blocks().iter().map(|block| block.spec().describe()).collect())
}

/// Run a block on its own. The response contains every output pin with its values, in order.
///
/// The run is stopped when the client disconnects.
#[utoipa::path(
    post, path = "/blocks/{block_id}/execute", operation_id = "execute_block", tag = "blocks",
    params(("block_id" = String, Path), RunQuery),
    request_body = Object,
    responses(
        (status = 200, description = "The outputs by pin; a failure is reported in `error`", body = Object),
        NoCredits, (status = 403, description = "This block cannot be run on its own", body = ProblemBody), (status = 404, description = "Block not found", body = ProblemBody), (status = 409, description = "The run needs approval; `review_id` names the review", body = ProblemBody), (status = 422, description = "The inputs do not match the block's schema", body = ProblemBody), (status = 504, description = "The block ran into its time limit", body = ProblemBody),
    )
)]
async fn execute(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(block_id): PathId<BlockId>,
    Query(query): Query<RunQuery>,
    JsonBody(input): JsonBody<Map<String, Value>>,
) -> ApiResult<Json<Map<String, Value>>> {
    if app.engine.is_shutting_down() {
        return Err(ApiProblem::shutting_down());
    }
    let block = app.engine.blocks().get(&block_id).ok_or_else(no_block)?;
    if block.spec().kind.is_graph_only() {
        return Err(ApiProblem::new(
            ProblemCode::GraphOnlyBlock,
            "This block can only be used inside an agent.",
        ));
    }
    let request = BlockRequest {
        key: format!("http-{}", Uuid::now_v7()),
        session: None,
        permissions: Permissions::default(),
        call: BlockCall { block_id, input, dry_run: query.dry_run, decision: None, review: None },
    };
    let cancel = CancellationToken::new();
    // The handler is dropped when the client disconnects.
    let _stop = cancel.clone().drop_guard();
    match app.engine.run_block(&user, request, cancel).await? {
        Ok(end) => answer(end),
        Err(BlockRefused::Unknown) => Err(no_block()),
        Err(BlockRefused::NotAllowed) => {
            Err(ApiProblem::new(ProblemCode::BlockNotAllowed, "This block is not allowed."))
        }
        Err(BlockRefused::Input(why)) => Err(ApiProblem::invalid(why)),
    }
}

fn answer(end: BlockCallEnd) -> ApiResult<Json<Map<String, Value>>> {
    match end {
        BlockCallEnd::Done(outcome) => Ok(Json(outputs(outcome))),
        BlockCallEnd::Review(review) => {
            Err(ApiProblem::new(ProblemCode::ReviewRequired, "This run needs approval.")
                .with("review_id", json!(review.id)))
        }
        BlockCallEnd::NoFunds => Err(no_funds()),
        BlockCallEnd::TimedOut => {
            Err(ApiProblem::new(ProblemCode::BlockTimedOut, "The block reached its time limit."))
        }
        BlockCallEnd::Interrupted => Err(ApiProblem::new(
            ProblemCode::BlockInterrupted,
            "The server stopped while the block was running. The block is not run again.",
        )),
    }
}

/// A failed block reports its failure on the pin `error`, even if it did not emit it.
fn outputs(outcome: BlockOutcome) -> Map<String, Value> {
    let mut pins = by_pin(outcome.outputs);
    if let Some(error) = outcome.error {
        pins.entry("error").or_insert_with(|| json!([error]));
    }
    pins
}

fn no_block() -> ApiProblem {
    ApiProblem::new(ProblemCode::BlockNotFound, "Block not found.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_an_output_of_the_block() {
        let emitted = vec![("n".to_owned(), json!(1)), ("n".to_owned(), json!(2))];
        let error = Some("it broke".to_owned());
        let pins = outputs(BlockOutcome { outputs: emitted, error: error.clone() });
        assert_eq!(Value::Object(pins), json!({"n": [1, 2], "error": ["it broke"]}));
        let emitted = vec![("error".to_owned(), json!("it broke"))];
        let pins = outputs(BlockOutcome { outputs: emitted, error });
        assert_eq!(Value::Object(pins), json!({"error": ["it broke"]}), "the failure appears once");
    }
}
