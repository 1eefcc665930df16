//! The blocks that agents are made of: listed, and run by themselves.

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
use uuid::Uuid;

use super::App;
use super::auth::Person;
use super::executions::{by_pin, no_funds};
use super::json::{Body, Query};
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct RunQuery {
    /// A block that acts on the world only says what it would do.
    #[serde(default)]
    dry_run: bool,
}

/// Every block, with what it takes and gives.
#[utoipa::path(get, path = "/blocks", operation_id = "list_blocks", tag = "blocks", responses((status = 200, description = "Done", body = Vec<BlockDescription>)))]
pub(crate) async fn list(State(app): State<Arc<App>>, _: Person) -> Json<Vec<BlockDescription>> {
    Json(app.engine.blocks().iter().map(|block| block.spec().describe()).collect())
}

/// Run a block by itself. The answer has every output pin with its values, in order.
///
/// The run is stopped when you hang up.
#[utoipa::path(
    post, path = "/blocks/{block_id}/execute", operation_id = "execute_block", tag = "blocks",
    params(("block_id" = String, Path), RunQuery),
    request_body = Object,
    responses(
        (status = 200, description = "Done; `error` says what went wrong", body = Object),
        (status = 402, description = "No credits are left", body = ProblemBody), (status = 403, description = "Not to be run by itself", body = ProblemBody), (status = 404, description = "There is no such block", body = ProblemBody), (status = 409, description = "A person has to decide first; `review_id` says what", body = ProblemBody), (status = 422, description = "The inputs do not fit", body = ProblemBody), (status = 504, description = "It took too long", body = ProblemBody),
    )
)]
pub(crate) async fn execute(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(block_id): Id<BlockId>,
    Query(query): Query<RunQuery>,
    Body(input): Body<Map<String, Value>>,
) -> Answer<Json<Map<String, Value>>> {
    if app.engine.is_shutting_down() {
        return Err(Problem::shutting_down());
    }
    let block = app.engine.blocks().get(&block_id).ok_or_else(no_block)?;
    if block.spec().kind.is_graph_only() {
        return Err(Problem::new(
            ProblemCode::GraphOnlyBlock,
            "This block only has a meaning inside an agent.",
        ));
    }
    let request = BlockRequest {
        key: format!("http-{}", Uuid::now_v7()),
        session: None,
        permissions: Permissions::default(),
        call: BlockCall { block_id, input, dry_run: query.dry_run, decision: None, review: None },
    };
    let cancel = CancellationToken::new();
    // The handler is dropped when the client hangs up.
    let _stop = cancel.clone().drop_guard();
    match app.engine.run_block(&user, request, cancel).await? {
        Ok(end) => answer(end),
        Err(BlockRefused::Unknown) => Err(no_block()),
        Err(BlockRefused::NotAllowed) => {
            Err(Problem::new(ProblemCode::BlockNotAllowed, "This block may not be used."))
        }
        Err(BlockRefused::Input(why)) => Err(Problem::invalid(why)),
    }
}

fn answer(end: BlockCallEnd) -> Answer<Json<Map<String, Value>>> {
    match end {
        BlockCallEnd::Done(outcome) => Ok(Json(outputs(outcome))),
        BlockCallEnd::Review(review) => {
            Err(Problem::new(ProblemCode::ReviewRequired, "A person has to decide first.")
                .with("review_id", json!(review.id)))
        }
        BlockCallEnd::NoFunds => Err(no_funds()),
        BlockCallEnd::TimedOut => {
            Err(Problem::new(ProblemCode::BlockTimedOut, "The block took longer than it may."))
        }
        BlockCallEnd::Interrupted => Err(Problem::new(
            ProblemCode::BlockInterrupted,
            "The server went down while the block was at work, and it is not repeated.",
        )),
    }
}

/// A block that fails says so on its pin `error`, also when it did not get to emit it.
fn outputs(outcome: BlockOutcome) -> Map<String, Value> {
    let mut pins = by_pin(outcome.outputs);
    if let Some(error) = outcome.error {
        pins.entry("error").or_insert_with(|| json!([error]));
    }
    pins
}

fn no_block() -> Problem {
    Problem::new(ProblemCode::BlockNotFound, "There is no such block.")
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
        let said = vec![("error".to_owned(), json!("it broke"))];
        let pins = outputs(BlockOutcome { outputs: said, error });
        assert_eq!(Value::Object(pins), json!({"error": ["it broke"]}), "it is said once");
    }
}
