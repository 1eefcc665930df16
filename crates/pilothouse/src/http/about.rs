//! What a page has to know of a server before anybody has logged in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::{App, Model};
use crate::config::{AuthMode, Settings, Switch};

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct About {
    version: &'static str,
    engine: EngineKind,
    auth_mode: AuthKind,
    /// Whether somebody without a login may make and use sessions.
    allow_anonymous: bool,
    model: AboutModel,
    /// Whether runs of agents and blocks cost credits.
    credits_enabled: bool,
}

#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum EngineKind {
    /// One process with a store of its own.
    Embedded,
    /// Postgres, Redis and RabbitMQ.
    Distributed,
}

#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum AuthKind {
    /// Everybody who reaches the server is its one user.
    Local,
    /// A token or an API key is needed.
    Jwt,
}

/// Who answers.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct AboutModel {
    provider: String,
    name: String,
    /// The offline pilot, which follows commands and asks no model.
    is_offline: bool,
}

impl About {
    pub(crate) fn new(settings: &Settings, model: &Model) -> Self {
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

/// What this server is.
#[utoipa::path(
    get, path = "/about", operation_id = "about", tag = "service",
    responses((status = 200, description = "Done", body = About)),
    security(())
)]
pub(crate) async fn about(State(app): State<Arc<App>>) -> Json<About> {
    Json(app.about.clone())
}
