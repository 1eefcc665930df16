//! Whether the process lives, and whether it can work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use ports::FailedDependency;
use serde_json::{Map, Value, json};

use super::App;

pub(crate) async fn live() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Names what is failing, and says why.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    let failing = failing(&app).await;
    if failing.is_empty() {
        return Json(json!({"status": "ok"})).into_response();
    }
    let names: Vec<&str> = failing.iter().map(|failing| failing.name).collect();
    let reasons: Map<String, Value> =
        failing.iter().map(|failing| (failing.name.to_owned(), json!(failing.reason))).collect();
    let body = Json(json!({"status": "unavailable", "failing": names, "reasons": reasons}));
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}

/// What keeps the server from working, if anything does.
pub(super) async fn failing(app: &App) -> Vec<FailedDependency> {
    if app.engine.is_shutting_down() {
        return vec![FailedDependency { name: "engine", reason: "it is shutting down".to_owned() }];
    }
    let failing = app.ports.health.failing().await;
    for FailedDependency { name, reason } in &failing {
        tracing::warn!(name, reason, "the server cannot work without this");
    }
    failing
}
