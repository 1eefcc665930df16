//! Information about the service: stream lifetime, suggestions, health, and the types of tool responses.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::problem::ProblemCode;
use protocol::response::ToolResponse;
use serde::Serialize;
use toolbox::providers::OFFLINE_THEMES;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::routes::{ApiRoutes, health};

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(stream_ttl))
        .routes(routes!(suggested_prompts))
        .routes(routes!(tool_responses))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct StreamTtl {
    stream_ttl_seconds: u64,
    stream_ttl_ms: u64,
}

/// Read how long the stream of a finished turn stays readable.
#[utoipa::path(get, path = "/chat/config/ttl", operation_id = "stream_ttl", tag = "service", responses((status = 200, description = "The lifetime of a stream", body = StreamTtl)))]
async fn stream_ttl(State(app): State<Arc<AppState>>) -> Json<StreamTtl> {
    let ttl = app.options.stream_ttl;
    Json(StreamTtl {
        stream_ttl_seconds: ttl.as_secs(),
        stream_ttl_ms: ttl.as_millis().try_into().unwrap_or(u64::MAX),
    })
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SuggestedPrompts {
    themes: Vec<PromptTheme>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct PromptTheme {
    name: String,
    prompts: Vec<String>,
}

/// List suggested prompts. Empty when there is nothing to suggest.
#[utoipa::path(get, path = "/chat/suggested-prompts", operation_id = "suggested_prompts", tag = "service", responses((status = 200, description = "The suggested prompts", body = SuggestedPrompts)))]
async fn suggested_prompts(State(app): State<Arc<AppState>>) -> Json<SuggestedPrompts> {
    let themes = if app.options.model.is_offline() { OFFLINE_THEMES } else { &[] };
    let themes = themes.iter().map(|theme| PromptTheme {
        name: theme.name.to_owned(),
        prompts: theme.sentences.iter().map(|sentence| sentence.words.to_owned()).collect(),
    });
    Json(SuggestedPrompts { themes: themes.collect() })
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ChatHealth {
    /// Always `healthy`.
    status: &'static str,
    service: &'static str,
    version: &'static str,
}

/// Check whether sessions can be read and written.
#[utoipa::path(
    get, path = "/chat/health", operation_id = "chat_health", tag = "service",
    responses((status = 200, description = "The service is available", body = ChatHealth), (status = 503, description = "The store is not available", body = ProblemBody)),
    security(())
)]
pub(crate) async fn chat_health(State(app): State<Arc<AppState>>) -> ApiResult<Json<ChatHealth>> {
    match health::failing(&app).await.first() {
        None => Ok(Json(ChatHealth {
            status: "healthy",
            service: "chat",
            version: env!("CARGO_PKG_VERSION"),
        })),
        Some(failing) => Err(ApiProblem::new(
            ProblemCode::Unavailable,
            format!("{} is not available.", failing.name),
        )),
    }
}

/// All tool responses. For code generation only; cannot be called.
#[utoipa::path(
    get, path = "/chat/schema/tool-responses", operation_id = "tool_responses", tag = "service",
    responses((status = 200, description = "Not returned: documents the shapes of tool outputs", body = ToolResponse), (status = 501, description = "Always: this route only documents types", body = ProblemBody))
)]
async fn tool_responses() -> ApiProblem {
    ApiProblem::new(
        ProblemCode::NotImplemented,
        "This route only documents the responses of tools.",
    )
}
