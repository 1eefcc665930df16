//! The tools, as clients show them.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use ports::Tool;
use protocol::tool::ToolDescription;
use toolbox::tools;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::routes::ApiRoutes;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(list))
}

/// The response, which never changes while the server runs: every page requests it.
pub(crate) struct ToolList(Bytes);

impl ToolList {
    pub(crate) fn new(tools: &[Arc<dyn Tool>]) -> anyhow::Result<Self> {
        Ok(Self(serde_json::to_vec(&tools::describe(tools))?.into()))
    }
}

/// List the tools with their labels.
///
/// Contains built-in tools that this server cannot run, because a history may have calls of them.
#[utoipa::path(get, path = "/chat/tools", operation_id = "list_tools", tag = "service", responses((status = 200, description = "The built-in tools by name, then the external ones", body = Vec<ToolDescription>)))]
async fn list(State(app): State<Arc<AppState>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], app.tools.0.clone())
}
