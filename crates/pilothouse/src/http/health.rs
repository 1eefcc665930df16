//! Whether the process lives, and whether it can work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use super::App;

pub(crate) async fn live() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Names what is failing.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    match failing(&app).await {
        None => Json(json!({"status": "ok"})).into_response(),
        Some(name) => {
            let body = Json(json!({"status": "unavailable", "failing": [name]}));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}

/// What keeps the server from working, if anything does.
pub(super) async fn failing(app: &App) -> Option<&'static str> {
    if app.engine.is_shutting_down() {
        return Some("engine");
    }
    app.ports.health.failing().await.first().map(|failing| failing.name)
}
