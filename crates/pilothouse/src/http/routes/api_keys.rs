//! API keys that users create for programs. A key is shown once, when it is created; only its digest is stored.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use jiff::Timestamp;
use ports::store::{ApiKey, NewApiKey};
use protocol::problem::ProblemCode;
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde::{Deserialize, Serialize};
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::auth::digest;
use crate::http::extract::{JsonBody, PathId, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;

/// Makes a leaked key recognizable.
const PREFIX: &str = "phk_";
const RANDOM_CHARS: usize = 40;
/// Leading characters of a key that are stored to identify it.
const HEAD_CHARS: usize = 8;
const NAME_CHARS: usize = 100;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(create, list)).routes(routes!(revoke))
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewApiKeyBody {
    /// What the key is for. 1 to 100 characters.
    name: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ApiKeyView {
    id: String,
    name: String,
    /// The first characters of the key.
    head: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct CreatedApiKey {
    #[serde(flatten)]
    about: ApiKeyView,
    /// The key itself. It is not shown again.
    key: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ApiKeyList {
    api_keys: Vec<ApiKeyView>,
}

impl From<ApiKey> for ApiKeyView {
    fn from(key: ApiKey) -> Self {
        Self { id: key.id, name: key.name, head: key.head, created_at: key.created_at }
    }
}

/// Create an API key.
#[utoipa::path(
    post, path = "/api-keys", operation_id = "create_api_key", tag = "api keys",
    request_body = NewApiKeyBody,
    responses((status = 200, description = "The new key, with its secret", body = CreatedApiKey), InvalidField)
)]
async fn create(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(new): JsonBody<NewApiKeyBody>,
) -> ApiResult<Json<CreatedApiKey>> {
    let name = protocol::text::without_nul(new.name.trim());
    if !(1..=NAME_CHARS).contains(&name.chars().count()) {
        return Err(ApiProblem::invalid(format!(
            "The name must have 1 to {NAME_CHARS} characters."
        )));
    }
    let random: String =
        rand::rng().sample_iter(Alphanumeric).take(RANDOM_CHARS).map(char::from).collect();
    let key = format!("{PREFIX}{random}");
    let new = NewApiKey {
        name,
        digest: digest(key.as_bytes()),
        head: key.chars().take(HEAD_CHARS).collect(),
    };
    let about = app.ports.api_keys.create(&user, new).await?.into();
    Ok(Json(CreatedApiKey { about, key }))
}

/// List your API keys.
#[utoipa::path(get, path = "/api-keys", operation_id = "list_api_keys", tag = "api keys", responses((status = 200, description = "The keys", body = ApiKeyList)))]
async fn list(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
) -> ApiResult<Json<ApiKeyList>> {
    let keys = app.ports.api_keys.list(&user).await?;
    Ok(Json(ApiKeyList { api_keys: keys.into_iter().map(ApiKeyView::from).collect() }))
}

/// Revoke an API key. Streams opened with it end within a minute.
#[utoipa::path(
    delete, path = "/api-keys/{key_id}", operation_id = "revoke_api_key", tag = "api keys",
    params(("key_id" = String, Path)),
    responses((status = 204, description = "Revoked"), NotFound)
)]
async fn revoke(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<String>,
) -> ApiResult<StatusCode> {
    if app.ports.api_keys.revoke(&user, &id).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(ApiProblem::new(ProblemCode::KeyNotFound, "API key not found."))
}
