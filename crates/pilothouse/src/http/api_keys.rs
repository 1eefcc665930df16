//! Keys a user gives to programs. A key is shown once, when it is made; only its digest is kept.

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

use super::App;
use super::auth::{Person, digest};
use super::json::Body;
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};

/// Says what it is when it turns up where it should not be.
const PREFIX: &str = "phk_";
const RANDOM_CHARS: usize = 40;
/// As much of a key as tells it from others.
const HEAD_CHARS: usize = 8;
const NAME_CHARS: usize = 100;

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// What the key is for, 1 to 100 characters.
    name: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Key {
    id: String,
    name: String,
    /// The first characters of the key.
    head: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct CreatedKey {
    #[serde(flatten)]
    about: Key,
    /// The key itself. It is not shown again.
    key: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct KeyList {
    api_keys: Vec<Key>,
}

impl From<ApiKey> for Key {
    fn from(key: ApiKey) -> Self {
        Self { id: key.id, name: key.name, head: key.head, created_at: key.created_at }
    }
}

/// Make a key.
#[utoipa::path(
    post, path = "/api-keys", operation_id = "create_api_key", tag = "api keys",
    request_body = NewKey,
    responses((status = 200, description = "Done", body = CreatedKey), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(new): Body<NewKey>,
) -> Answer<Json<CreatedKey>> {
    let name = protocol::text::without_nul(new.name.trim());
    if !(1..=NAME_CHARS).contains(&name.chars().count()) {
        return Err(Problem::invalid(format!("A name has 1 to {NAME_CHARS} characters.")));
    }
    let random: String =
        rand::rng().sample_iter(Alphanumeric).take(RANDOM_CHARS).map(char::from).collect();
    let key = format!("{PREFIX}{random}");
    let kept = NewApiKey {
        name,
        digest: digest(key.as_bytes()),
        head: key.chars().take(HEAD_CHARS).collect(),
    };
    let about = app.ports.api_keys.create(&user, kept).await?.into();
    Ok(Json(CreatedKey { about, key }))
}

/// Your keys.
#[utoipa::path(get, path = "/api-keys", operation_id = "list_api_keys", tag = "api keys", responses((status = 200, description = "Done", body = KeyList)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Person(user): Person,
) -> Answer<Json<KeyList>> {
    let keys = app.ports.api_keys.list(&user).await?;
    Ok(Json(KeyList { api_keys: keys.into_iter().map(Key::from).collect() }))
}

/// Revoke a key. Streams that it opened end within a minute.
#[utoipa::path(
    delete, path = "/api-keys/{key_id}", operation_id = "revoke_api_key", tag = "api keys",
    params(("key_id" = String, Path)),
    responses((status = 204, description = "Done"), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<String>,
) -> Answer<StatusCode> {
    if app.ports.api_keys.revoke(&user, &id).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::new(ProblemCode::KeyNotFound, "There is no such key."))
}
