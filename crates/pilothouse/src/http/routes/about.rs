//! Service information that a page needs before sign-in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::config::{AuthMode, Settings, Switch};
use crate::http::{AppState, ModelInfo};

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AboutServer {
    version: &'static str,
    engine: EngineKind,
    auth_mode: AuthKind,
    /// Whether callers without credentials may create and use sessions.
    allow_anonymous: bool,
    model: AboutModel,
    /// Whether agent and block executions cost credits.
    credits_enabled: bool,
}

#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum EngineKind {
    /// One process with a built-in store.
    Embedded,
    /// Postgres, Redis and RabbitMQ.
    Distributed,
}

#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum AuthKind {
    /// No sign-in: every caller is the same local user.
    Local,
    /// A token or an API key is needed.
    Jwt,
}

/// The model that responds.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct AboutModel {
    provider: String,
    name: String,
    /// Whether it is the built-in offline pilot, which only understands commands.
    is_offline: bool,
}

impl AboutServer {
    pub(crate) fn new(settings: &Settings, model: &ModelInfo) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            engine: match settings.servers() {
                None => EngineKind::Embedded,
                Some(_) => EngineKind::Distributed,
            },
            auth_mode: match settings.auth_mode {
                AuthMode::Local => AuthKind::Local,
                AuthMode::Jwt => AuthKind::Jwt,
            },
            allow_anonymous: settings.allow_anonymous == Switch::On,
            model: AboutModel {
                provider: model.provider.clone(),
                name: model.name.clone(),
                is_offline: model.is_offline(),
            },
            credits_enabled: settings.credits_enabled == Switch::On,
        }
    }
}

/// Read what this server is.
#[utoipa::path(
    get, path = "/about", operation_id = "about", tag = "service",
    responses((status = 200, description = "What this server is and offers", body = AboutServer)),
    security(())
)]
pub(crate) async fn about(State(app): State<Arc<AppState>>) -> Json<AboutServer> {
    Json(app.about.clone())
}
