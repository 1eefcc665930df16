//! Whether the process lives, and whether it can work.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use super::App;

/// A dependency that has not answered by then is not there.
const PATIENCE: Duration = Duration::from_secs(2);

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
    match tokio::time::timeout(PATIENCE, app.ports.health.check()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store is not healthy");
            Some("store")
        }
        Err(_) => {
            tracing::warn!("the store does not answer");
            Some("store")
        }
    }
}
