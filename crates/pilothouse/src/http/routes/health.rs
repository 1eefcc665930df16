//! Liveness and readiness.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use ports::FailedDependency;
use serde_json::{Map, Value, json};

use crate::http::AppState;

pub(crate) async fn live() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Lists the failing dependencies with their reasons.
pub(crate) async fn ready(State(app): State<Arc<AppState>>) -> Response {
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

/// The dependencies that keep the server from working.
pub(crate) async fn failing(app: &AppState) -> Vec<FailedDependency> {
    if app.engine.is_shutting_down() {
        return vec![FailedDependency { name: "engine", reason: "shutting down".to_owned() }];
    }
    let failing = app.ports.health.failing().await;
    for FailedDependency { name, reason } in &failing {
        tracing::warn!(name, reason, "a required dependency is failing");
    }
    failing
}
