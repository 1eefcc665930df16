//! Starting a run.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::StartExecution;
use ports::call_services::AgentExecutionStarted;
use protocol::graph::InputProblems;
use protocol::permissions::Permissions;
use protocol::problem::ProblemCode;
use protocol::{GraphId, UserId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::App;
use super::super::auth::Person;
use super::super::graphs::{InvalidGraphBody, invalid_graph, no_graph, version_number};
use super::super::json::OptionalBody;
use super::super::path::{Id, Ids};
use super::super::problem::{Answer, Problem, ProblemBody};
use super::ExecutionMeta;

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartBody {
    /// By the names of the agent's inputs.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// Blocks that act on the world only say what they would do.
    #[serde(default)]
    dry_run: bool,
    /// Taken from older clients and not looked at.
    #[serde(default, rename = "credentials_inputs")]
    _credentials_inputs: Option<Map<String, Value>>,
    /// Where the client was when it asked; not looked at.
    #[serde(default, rename = "source")]
    _source: Option<String>,
}

/// Run the active version of an agent.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/execute", operation_id = "execute_graph", tag = "executions",
    params(("graph_id" = String, Path)),
    request_body = Option<StartBody>,
    responses(
        (status = 200, description = "It is queued", body = ExecutionMeta),
        (status = 400, description = "The graph cannot run, or the inputs do not fit", body = InvalidGraphBody), (status = 402, description = "No credits are left", body = ProblemBody), (status = 403, description = "It has blocks that may not be used", body = ProblemBody), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody),
    )
)]
pub(crate) async fn active(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(graph): Id<GraphId>,
    OptionalBody(body): OptionalBody<StartBody>,
) -> Answer<Json<ExecutionMeta>> {
    run(&app, &user, graph, None, body.unwrap_or_default()).await
}

/// Run one version of an agent.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/execute/{version}", operation_id = "execute_graph_version", tag = "executions",
    params(("graph_id" = String, Path), ("version" = u32, Path)),
    request_body = Option<StartBody>,
    responses(
        (status = 200, description = "It is queued", body = ExecutionMeta),
        (status = 400, description = "The graph cannot run, or the inputs do not fit", body = InvalidGraphBody), (status = 402, description = "No credits are left", body = ProblemBody), (status = 403, description = "It has blocks that may not be used", body = ProblemBody), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody),
    )
)]
pub(crate) async fn version(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Ids(graph, version): Ids<GraphId, String>,
    OptionalBody(body): OptionalBody<StartBody>,
) -> Answer<Json<ExecutionMeta>> {
    let version = version_number(&version)?;
    run(&app, &user, graph, Some(version), body.unwrap_or_default()).await
}

async fn run(
    app: &App,
    user: &UserId,
    graph_id: GraphId,
    version: Option<u32>,
    body: StartBody,
) -> Answer<Json<ExecutionMeta>> {
    if app.engine.is_shutting_down() {
        return Err(Problem::shutting_down());
    }
    let start = StartExecution {
        graph_id,
        version,
        inputs: body.inputs,
        dry_run: body.dry_run,
        safe_mode: None,
        permissions: Permissions::default(),
        id: None,
        copilot_depth: 0,
    };
    match app.engine.start_execution(user, start).await? {
        AgentExecutionStarted::Started(execution) => Ok(Json((*execution).into())),
        AgentExecutionStarted::NoGraph => Err(no_graph()),
        AgentExecutionStarted::Invalid(problems) => Err(invalid_graph(&problems)),
        AgentExecutionStarted::Inputs(problems) => Err(invalid_inputs(&problems)),
        AgentExecutionStarted::NotAllowed(blocks) => Err(Problem::new(
            ProblemCode::BlockNotAllowed,
            format!("The agent has blocks that may not be used: {}.", blocks.join(", ")),
        )),
        AgentExecutionStarted::NoFunds => Err(no_funds()),
        AgentExecutionStarted::TooMany => Err(Problem::new(
            ProblemCode::TooManyRuns,
            "As many runs were started as may be. Try again when some have ended.",
        )),
    }
}

pub(in super::super) fn no_funds() -> Problem {
    Problem::new(ProblemCode::NoFunds, "You have no credits left.")
}

fn invalid_inputs(problems: &InputProblems) -> Problem {
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
    Problem::new(ProblemCode::InvalidInputs, sentences.join(" ")).with("inputs", json!(problems))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    #[test]
    fn every_input_that_does_not_fit_is_told() {
        let problems = InputProblems {
            unknown: vec!["colour".to_owned()],
            missing: vec!["a".to_owned(), "b".to_owned()],
            wrong: vec![("size".to_owned(), "is not a number".to_owned())],
        };
        let problem = invalid_inputs(&problems);
        let said = format!("{problem:?}");
        assert!(
            said.contains("Missing inputs: a, b. Unknown inputs: colour. size: is not a number.")
        );
        assert_eq!(problem.into_response().status(), 400);
    }
}
