//! Ids in paths. Text that cannot be an id is treated like an id that does not exist.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use protocol::problem::ProblemCode;

use crate::http::problem::{ApiProblem, ApiResult};

/// Longer than any id.
const ID_BYTES: usize = 128;

/// The id in a route's path.
pub(crate) struct PathId<T>(pub(crate) T);

/// The two ids in a route's path, in order.
pub(crate) struct PathIds<A, B>(pub(crate) A, pub(crate) B);

impl<T: From<String>, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let [id] = ids(parts, state).await?;
        Ok(Self(T::from(id)))
    }
}

impl<A: From<String>, B: From<String>, S: Send + Sync> FromRequestParts<S> for PathIds<A, B> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let [first, second] = ids(parts, state).await?;
        Ok(Self(A::from(first), B::from(second)))
    }
}

/// Whether the text can be an id.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= ID_BYTES && !text.chars().any(char::is_control)
}

/// The first ids of the path.
async fn ids<const N: usize, S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
) -> ApiResult<[String; N]> {
    let missing = || ApiProblem::new(ProblemCode::RouteNotFound, "Not found.");
    let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| missing())?;
    let ids: Vec<String> =
        params.iter().map(|(_, id)| id).take(N).filter(|id| is_id(id)).map(str::to_owned).collect();
    ids.try_into().map_err(|_| missing())
}
