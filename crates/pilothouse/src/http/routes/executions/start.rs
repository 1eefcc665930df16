//! Starts an execution.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::StartExecution;
use ports::call_services::AgentExecutionStarted;
use protocol::graph::InputProblems;
use protocol::problem::ProblemCode;
use protocol::{GraphId, UserId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ExecutionMeta;
use crate::http::AppState;
use crate::http::extract::{OptionalJsonBody, PathId, PathIds, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{BlocksNotAllowed, InvalidField, NoCredits, NotFound};
use crate::http::routes::graphs::{InvalidGraphBody, invalid_graph, no_graph, version_number};

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartBody {
    /// By input name.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// Blocks with side effects only report what they would do.
    #[serde(default)]
    dry_run: bool,
    /// Accepted from older clients and ignored.
    #[serde(default, rename = "credentials_inputs")]
    _credentials_inputs: Option<Map<String, Value>>,
    /// Where the client started it; ignored.
    #[serde(default, rename = "source")]
    _source: Option<String>,
}

/// Run the active version of an agent.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/execute", operation_id = "execute_graph", tag = "executions",
    params(("graph_id" = String, Path)),
    request_body = Option<StartBody>,
    responses(
        (status = 200, description = "The execution, queued", body = ExecutionMeta),
        (status = 400, description = "The graph or the inputs are invalid", body = InvalidGraphBody), NoCredits, BlocksNotAllowed, NotFound, InvalidField,
    )
)]
pub(crate) async fn active(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(graph): PathId<GraphId>,
    OptionalJsonBody(body): OptionalJsonBody<StartBody>,
) -> ApiResult<Json<ExecutionMeta>> {
    run(&app, &user, graph, None, body.unwrap_or_default()).await
}

/// Run one version of an agent.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/execute/{version}", operation_id = "execute_graph_version", tag = "executions",
    params(("graph_id" = String, Path), ("version" = u32, Path)),
    request_body = Option<StartBody>,
    responses(
        (status = 200, description = "The execution, queued", body = ExecutionMeta),
        (status = 400, description = "The graph or the inputs are invalid", body = InvalidGraphBody), NoCredits, BlocksNotAllowed, NotFound, InvalidField,
    )
)]
pub(crate) async fn version(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(graph, version): PathIds<GraphId, String>,
    OptionalJsonBody(body): OptionalJsonBody<StartBody>,
) -> ApiResult<Json<ExecutionMeta>> {
    let version = version_number(&version)?;
    run(&app, &user, graph, Some(version), body.unwrap_or_default()).await
}

async fn run(
    app: &AppState,
    user: &UserId,
    graph_id: GraphId,
    version: Option<u32>,
    body: StartBody,
) -> ApiResult<Json<ExecutionMeta>> {
    if app.engine.is_shutting_down() {
        return Err(ApiProblem::shutting_down());
    }
    let start = StartExecution {
        version,
        inputs: body.inputs,
        dry_run: body.dry_run,
        ..StartExecution::of(graph_id)
    };
    match app.engine.start_execution(user, start).await? {
        AgentExecutionStarted::Started(execution) => Ok(Json((*execution).into())),
        refused => Err(start_refused(refused)),
    }
}

/// Why an execution did not start.
pub(crate) fn start_refused(refused: AgentExecutionStarted) -> ApiProblem {
    match refused {
        AgentExecutionStarted::Started(_) | AgentExecutionStarted::NoGraph => no_graph(),
        AgentExecutionStarted::Invalid(problems) => invalid_graph(&problems),
        AgentExecutionStarted::Inputs(problems) => invalid_inputs(&problems),
        AgentExecutionStarted::NotAllowed(blocks) => ApiProblem::new(
            ProblemCode::BlockNotAllowed,
            format!("This agent contains blocks that are not allowed: {}.", blocks.join(", ")),
        ),
        AgentExecutionStarted::NoFunds => no_funds(),
        AgentExecutionStarted::TooMany => ApiProblem::new(
            ProblemCode::TooManyRuns,
            "Too many runs are in progress. Try again when some have finished.",
        ),
    }
}

pub(crate) fn no_funds() -> ApiProblem {
    ApiProblem::new(ProblemCode::NoFunds, "You have no credits left.")
}

fn invalid_inputs(problems: &InputProblems) -> ApiProblem {
    let listed = |what: &str, names: &[String]| match names {
        [] => None,
        names => Some(format!("{what}: {}.", names.join(", "))),
    };
    let wrong = problems.wrong.iter().map(|(name, why)| format!("{name}: {why}."));
    let sentences: Vec<String> = listed("Missing inputs", &problems.missing)
        .into_iter()
        .chain(listed("Unknown inputs", &problems.unknown))
        .chain(wrong)
        .collect();
    ApiProblem::new(ProblemCode::InvalidInputs, sentences.join(" ")).with("inputs", json!(problems))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    #[test]
    fn every_invalid_input_is_reported() {
        let problems = InputProblems {
            unknown: vec!["color".to_owned()],
            missing: vec!["a".to_owned(), "b".to_owned()],
            wrong: vec![("size".to_owned(), "is not a number".to_owned())],
        };
        let problem = invalid_inputs(&problems);
        let text = format!("{problem:?}");
        assert!(
            text.contains("Missing inputs: a, b. Unknown inputs: color. size: is not a number.")
        );
        assert_eq!(problem.into_response().status(), 400);
    }
}
