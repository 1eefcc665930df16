//! Validates and fixes agents, and compares two of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::state_of;
use graphs::fix::AppliedFix;
use graphs::validate::{GraphNeeds, GraphReport};
use protocol::graph::{Graph, GraphProblem};
use protocol::graph_diff::AgentDiff;
use protocol::rehearsal::AgentState;
use serde::{Deserialize, Serialize};

use super::document::{AgentBody, resolve};
use crate::http::AppState;
use crate::http::extract::{JsonBody, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::graphs::InvalidGraphBody;

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ValidationBody {
    /// Whether the agent can run.
    valid: bool,
    state: AgentState,
    errors: Vec<GraphProblem>,
    warnings: Vec<GraphProblem>,
    /// What it needs from the server and from its user.
    needs: GraphNeeds,
}

impl From<GraphReport> for ValidationBody {
    fn from(report: GraphReport) -> Self {
        Self {
            valid: report.is_valid(),
            state: state_of(&report),
            errors: report.errors,
            warnings: report.warnings,
            needs: report.needs,
        }
    }
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FixBody {
    agent_json: Graph,
    /// The agent spec, as YAML.
    spec: String,
    fixes: Vec<AppliedFix>,
    valid_after_fix: bool,
    /// What is left.
    remaining: Vec<GraphProblem>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffRequest {
    from: AgentBody,
    to: AgentBody,
}

/// Validate an agent. The status is 200 also when it has errors.
#[utoipa::path(
    post, path = "/agents/validate", operation_id = "validate_agent", tag = "agents",
    request_body = AgentBody,
    responses((status = 200, description = "What is wrong, and what it needs", body = ValidationBody), NotFound, InvalidField)
)]
pub(crate) async fn validate(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<AgentBody>,
) -> ApiResult<Json<ValidationBody>> {
    let report = match body.read()? {
        Ok(document) => {
            let agent = resolve(&app, &user, document).await?;
            app.engine.check_agent(&agent).await?
        }
        Err(errors) => GraphReport { errors, ..GraphReport::default() },
    };
    Ok(Json(report.into()))
}

/// Repair an agent, as far as that keeps its meaning.
#[utoipa::path(
    post, path = "/agents/fix", operation_id = "fix_agent", tag = "agents",
    request_body = AgentBody,
    responses(
        (status = 200, description = "The repaired agent, and what was repaired", body = FixBody),
        (status = 400, description = "The spec has problems", body = InvalidGraphBody), NotFound, InvalidField,
    )
)]
pub(crate) async fn fix(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<AgentBody>,
) -> ApiResult<Json<FixBody>> {
    let agent = body.resolve(&app, &user).await?;
    let fixed = app.engine.fix_agent(&agent).await?;
    Ok(Json(FixBody {
        spec: app.engine.write_spec(&fixed.graph),
        agent_json: fixed.graph,
        fixes: fixed.fixes,
        valid_after_fix: fixed.remaining.is_valid(),
        remaining: fixed.remaining.problems().cloned().collect(),
    }))
}

/// Compare two agents, or two versions of one. If one of them is refused, `side` says which: `from` or `to`.
#[utoipa::path(
    post, path = "/agents/diff", operation_id = "diff_agents", tag = "agents",
    request_body = DiffRequest,
    responses(
        (status = 200, description = "What changed, and what that means", body = AgentDiff),
        (status = 400, description = "A spec has problems", body = InvalidGraphBody), NotFound, InvalidField,
    )
)]
pub(crate) async fn diff(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<DiffRequest>,
) -> ApiResult<Json<AgentDiff>> {
    let of_side = |side: &'static str| move |problem: ApiProblem| problem.with("side", side);
    let from = body.from.resolve(&app, &user).await.map_err(of_side("from"))?.graph;
    let to = body.to.resolve(&app, &user).await.map_err(of_side("to"))?.graph;
    Ok(Json(app.engine.diff_agents(&user, from, to).await?))
}
