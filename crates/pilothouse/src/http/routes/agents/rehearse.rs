//! Rehearses an agent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use engine::{RehearsalRefused, RehearseAgent};
use protocol::ExecutionId;
use protocol::rehearsal::RehearsalReport;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::document::AgentBody;
use crate::http::AppState;
use crate::http::extract::{JsonBody, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{BlocksNotAllowed, InvalidField, NoCredits, NotFound};
use crate::http::routes::executions::{no_execution, start_refused};
use crate::http::routes::graphs::InvalidGraphBody;

/// The longest that a request waits for its rehearsals.
const AT_MOST: Duration = Duration::from_secs(60);

#[derive(Deserialize, utoipa::ToSchema)]
pub(crate) struct RehearseBody {
    #[serde(flatten)]
    agent: AgentBody,
    /// By input name. Required inputs that are absent are made up.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// Outputs by step and pin, instead of made-up ones.
    #[serde(default)]
    pinned: BTreeMap<String, Map<String, Value>>,
    /// An ended execution of the agent. Its outputs are used for steps that have no pinned ones, and its inputs where none are
    /// given.
    #[serde(default)]
    recording: Option<ExecutionId>,
    /// The same seed makes the same data.
    #[serde(default)]
    seed: u64,
    /// Let the model play blocks that have no pinned or recorded outputs.
    #[serde(default)]
    use_model: bool,
    /// Rehearse again for each step that was answered for, with that step failing.
    #[serde(default)]
    fail_each: bool,
}

/// Rehearse an agent: it runs, but nothing outside the server is touched. If the first run does not reach everything, up to
/// three more are made, with other answers, decisions and inputs.
#[utoipa::path(
    post, path = "/agents/rehearse", operation_id = "rehearse_agent", tag = "agents",
    request_body = RehearseBody,
    responses(
        (status = 200, description = "What ran, and how far that proves the agent", body = RehearsalReport),
        (status = 400, description = "The agent or the inputs are invalid", body = InvalidGraphBody), NoCredits, BlocksNotAllowed, NotFound, InvalidField,
    )
)]
pub(crate) async fn rehearse(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<RehearseBody>,
) -> ApiResult<Json<RehearsalReport>> {
    if app.engine.is_shutting_down() {
        return Err(ApiProblem::shutting_down());
    }
    let agent = body.agent.resolve(&app, &user).await?;
    let request = RehearseAgent {
        graph: agent.graph,
        is_stored: agent.is_stored,
        inputs: body.inputs,
        pinned: body.pinned,
        recording: body.recording,
        seed: body.seed,
        use_model: body.use_model,
        fail_each: body.fail_each,
        at_most: AT_MOST,
    };
    match app.engine.rehearse(&user, request).await? {
        Ok(report) => Ok(Json(report)),
        Err(RehearsalRefused::Start(refused)) => Err(start_refused(*refused)),
        Err(RehearsalRefused::UnknownStep(step)) => Err(ApiProblem::invalid(format!(
            "`pinned` names the step “{step}”, which the agent does not have."
        ))),
        Err(RehearsalRefused::NoRecording) => Err(no_execution()),
        Err(RehearsalRefused::OpenRecording) => {
            Err(ApiProblem::invalid("`recording` has not ended. Wait until it has, or stop it."))
        }
    }
}
