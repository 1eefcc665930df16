//! Agents as documents: compiled from a spec, written as one, validated, fixed, compared and rehearsed. Nothing here
//! changes what is stored.

mod check;
mod document;
mod rehearse;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::graph::Graph;
use serde::Serialize;
use utoipa_axum::routes;

use self::document::AgentBody;
use crate::http::AppState;
use crate::http::extract::{JsonBody, SignedInUser};
use crate::http::problem::ApiResult;
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;
use crate::http::routes::graphs::InvalidGraphBody;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(compile))
        .routes(routes!(decompile))
        .routes(routes!(check::diff))
        .routes(routes!(check::fix))
        .routes(routes!(check::validate))
        .routes(routes!(rehearse::rehearse))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct CompiledBody {
    agent_json: Graph,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SpecBody {
    /// The agent spec, as YAML.
    spec: String,
}

/// Compile an agent spec into a graph. The same spec always gives the same graph.
#[utoipa::path(
    post, path = "/agents/compile", operation_id = "compile_agent", tag = "agents",
    request_body = AgentBody,
    responses(
        (status = 200, description = "The graph", body = CompiledBody),
        (status = 400, description = "The spec has problems", body = InvalidGraphBody), NotFound, InvalidField,
    )
)]
async fn compile(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<AgentBody>,
) -> ApiResult<Json<CompiledBody>> {
    Ok(Json(CompiledBody { agent_json: body.resolve(&app, &user).await?.graph }))
}

/// Write an agent as a spec.
#[utoipa::path(
    post, path = "/agents/decompile", operation_id = "decompile_agent", tag = "agents",
    request_body = AgentBody,
    responses(
        (status = 200, description = "The spec", body = SpecBody),
        (status = 400, description = "The spec has problems", body = InvalidGraphBody), NotFound, InvalidField,
    )
)]
async fn decompile(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<AgentBody>,
) -> ApiResult<Json<SpecBody>> {
    let agent = body.resolve(&app, &user).await?;
    Ok(Json(SpecBody { spec: app.engine.write_spec(&agent.graph) }))
}
