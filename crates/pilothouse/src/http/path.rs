//! Ids in paths. What cannot be an id of ours answers as one that does not exist.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use protocol::problem::ProblemCode;

use super::problem::{Answer, Problem};

/// Longer than any id of ours.
const ID_BYTES: usize = 128;

/// The one id in a route's path.
pub(crate) struct Id<T>(pub(crate) T);

/// The two ids in a route's path, in their order.
pub(crate) struct Ids<A, B>(pub(crate) A, pub(crate) B);

impl<T: From<String>, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let [id] = ids(parts, state).await?;
        Ok(Self(T::from(id)))
    }
}

impl<A: From<String>, B: From<String>, S: Send + Sync> FromRequestParts<S> for Ids<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let [first, second] = ids(parts, state).await?;
        Ok(Self(A::from(first), B::from(second)))
    }
}

/// Whether it can be an id of ours.
pub(super) fn is_id(text: &str) -> bool {
    text.len() <= ID_BYTES && !text.chars().any(char::is_control)
}

/// The first ids of the path.
async fn ids<const N: usize, S: Send + Sync>(parts: &mut Parts, state: &S) -> Answer<[String; N]> {
    let missing = || Problem::new(ProblemCode::RouteNotFound, "There is nothing here.");
    let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| missing())?;
    let ids: Vec<String> =
        params.iter().map(|(_, id)| id).take(N).filter(|id| is_id(id)).map(str::to_owned).collect();
    ids.try_into().map_err(|_| missing())
}
