//! Ids in paths. What cannot be an id of ours answers as one that does not exist.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use protocol::problem::ProblemCode;

use super::problem::{Answer, Problem};

/// Longer than any id of ours.
const ID_BYTES: usize = 128;

/// The one id in a route's path.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: From<String>, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let missing = || Problem::new(ProblemCode::RouteNotFound, "There is nothing here.");
        let params =
            RawPathParams::from_request_parts(parts, state).await.map_err(|_| missing())?;
        let (_, id) = params.iter().next().ok_or_else(missing)?;
        if id.len() > ID_BYTES || id.chars().any(char::is_control) {
            return Err(missing());
        }
        Ok(Self(T::from(id.to_owned())))
    }
}
