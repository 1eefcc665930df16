//! Reads JSON bodies and query strings. Checks size, then nesting depth, then the shape.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use http::{HeaderMap, header, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use protocol::limits;
use protocol::problem::ProblemCode;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::http::problem::{ApiProblem, ApiResult};

/// Time limit for receiving a body, which is at most one megabyte.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A JSON body, deserialized.
pub(crate) struct JsonBody<T>(pub(crate) T);

/// A JSON body that may be missing.
pub(crate) struct OptionalJsonBody<T>(pub(crate) Option<T>);

/// Query parameters, deserialized.
// The API document recognizes query parameters by the name of this type.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        require_json(request.headers())?;
        let bytes = read(request).await?;
        Ok(Self(parse(&bytes)?))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        let headers = request.headers().clone();
        let bytes = read(request).await?;
        if bytes.is_empty() {
            return Ok(Self(None));
        }
        require_json(&headers)?;
        Ok(Self(Some(parse(&bytes)?)))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|rejection| {
                ApiProblem::invalid(format!("Invalid query: {}", rejection.body_text()))
            })
    }
}

fn require_json(headers: &HeaderMap) -> ApiResult<()> {
    let media_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase());
    match media_type.as_deref() {
        Some("application/json") => Ok(()),
        _ => Err(ApiProblem::new(
            ProblemCode::UnsupportedMediaType,
            "The body must be JSON, with content-type: application/json.",
        )),
    }
}

async fn read(request: Request) -> ApiResult<Bytes> {
    let collected = Limited::new(request.into_body(), limits::BODY_BYTES).collect();
    match tokio::time::timeout(BODY_TIMEOUT, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiProblem::new(
            ProblemCode::BodyTooLarge,
            format!("The body is larger than {} bytes.", limits::BODY_BYTES),
        )),
        Ok(Err(_)) => Err(ApiProblem::new(ProblemCode::BadRequest, "The body could not be read.")),
        Err(_) => {
            Err(ApiProblem::new(ProblemCode::BadRequest, "The body took too long to arrive."))
        }
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    if depth(bytes) > limits::JSON_DEPTH {
        return Err(ApiProblem::new(
            ProblemCode::TooDeep,
            format!("The body is nested deeper than {} levels.", limits::JSON_DEPTH),
        ));
    }
    let value = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => ApiProblem::invalid(format!("Invalid body: {error}")),
        _ => ApiProblem::new(
            ProblemCode::InvalidJson,
            format!("The body is not valid JSON: {error}"),
        ),
    })?;
    refuse_lists(bytes)?;
    refuse_nul(bytes)?;
    Ok(value)
}

/// Not every store can keep a NUL character.
fn refuse_nul(json: &[u8]) -> ApiResult<()> {
    let mut rest = json;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if rest[at + 1..].starts_with(b"u0000") {
            return Err(ApiProblem::invalid("The body contains a NUL character."));
        }
        // The character after a backslash is escaped: a second backslash starts no escape.
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    Ok(())
}

/// Derived deserializers also accept an array of the fields in order, which is never intended.
fn refuse_lists(json: &[u8]) -> ApiResult<()> {
    match json.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => Err(ApiProblem::invalid("The body must be an object.")),
        _ => Ok(()),
    }
}

/// The nesting depth of arrays and objects, computed without recursion and without parsing.
pub(crate) fn depth(bytes: &[u8]) -> usize {
    let (mut now, mut deepest) = (0usize, 0usize);
    let mut in_string = false;
    let mut escaped = false;
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn depth_counts_brackets_outside_of_strings() {
        for (text, deep) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a":[{}]}"#, 3),
            (r#"["[[[["]"#, 1),
            (r#"["\"[[", [1]]"#, 2),
            (r#"["\\",[["x"]]]"#, 3),
            ("]]][", 1),
        ] {
            assert_eq!(depth(text.as_bytes()), deep, "{text}");
        }
    }

    #[test]
    fn deep_bodies_are_refused_before_they_are_parsed() {
        let deep = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
        assert!(parse::<Value>(deep(limits::JSON_DEPTH).as_bytes()).is_ok());
        assert!(parse::<Value>(deep(limits::JSON_DEPTH + 1).as_bytes()).is_err());
        assert!(parse::<Value>(deep(400_000).as_bytes()).is_err());
    }
}
