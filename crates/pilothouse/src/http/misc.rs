//! Small answers about the service itself.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::problem::ProblemCode;
use protocol::response::ToolResponse;
use serde::Serialize;
use toolbox::providers::OFFLINE_THEMES;

use super::App;
use super::problem::{Answer, Problem, ProblemBody};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct StreamTtl {
    stream_ttl_seconds: u64,
    stream_ttl_ms: u64,
}

/// How long the stream of a finished turn stays readable.
#[utoipa::path(get, path = "/chat/config/ttl", operation_id = "stream_ttl", tag = "service", responses((status = 200, description = "Done", body = StreamTtl)))]
pub(crate) async fn stream_ttl(State(app): State<Arc<App>>) -> Json<StreamTtl> {
    let ttl = app.options.stream_ttl;
    Json(StreamTtl {
        stream_ttl_seconds: ttl.as_secs(),
        stream_ttl_ms: ttl.as_millis().try_into().unwrap_or(u64::MAX),
    })
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SuggestedPrompts {
    themes: Vec<Theme>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct Theme {
    name: String,
    prompts: Vec<String>,
}

/// What to try. Empty when there is nothing particular to suggest.
#[utoipa::path(get, path = "/chat/suggested-prompts", operation_id = "suggested_prompts", tag = "service", responses((status = 200, description = "Done", body = SuggestedPrompts)))]
pub(crate) async fn suggested_prompts(State(app): State<Arc<App>>) -> Json<SuggestedPrompts> {
    let themes = if app.options.model.is_offline() { OFFLINE_THEMES } else { &[] };
    let themes = themes.iter().map(|theme| Theme {
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

/// Whether sessions can be read and written.
#[utoipa::path(
    get, path = "/chat/health", operation_id = "chat_health", tag = "service",
    responses((status = 200, description = "Done", body = ChatHealth), (status = 503, description = "Not available", body = ProblemBody)),
    security(())
)]
pub(crate) async fn chat_health(State(app): State<Arc<App>>) -> Answer<Json<ChatHealth>> {
    match super::health::failing(&app).await.first() {
        None => Ok(Json(ChatHealth {
            status: "healthy",
            service: "chat",
            version: env!("CARGO_PKG_VERSION"),
        })),
        Some(failing) => Err(Problem::new(
            ProblemCode::Unavailable,
            format!("{} is not available.", failing.name),
        )),
    }
}

/// Every answer a tool can give. It is here for code generation and cannot be called.
#[utoipa::path(
    get, path = "/chat/schema/tool-responses", operation_id = "tool_responses", tag = "service",
    responses((status = 200, description = "Done", body = ToolResponse), (status = 501, description = "Cannot be called", body = ProblemBody))
)]
pub(crate) async fn tool_responses() -> Problem {
    Problem::new(
        ProblemCode::NotImplemented,
        "This route describes the answers of tools in the API document.",
    )
}
