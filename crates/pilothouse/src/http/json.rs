//! Reading request bodies, limits first: size before memory, depth before parsing, then the shape.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use http::{HeaderMap, header, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use protocol::limits;
use protocol::problem::ProblemCode;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::problem::{Answer, Problem};

/// How long a client may take to send a body; it is a megabyte at most.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// A JSON body of the right shape.
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body that may be missing altogether.
pub(crate) struct OptionalBody<T>(pub(crate) Option<T>);

/// Query parameters of the right shape.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Answer<Self> {
        require_json(request.headers())?;
        let bytes = read(request).await?;
        Ok(Self(parse(&bytes)?))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Answer<Self> {
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
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|rejection| {
                Problem::invalid(format!("The query is not valid: {}", rejection.body_text()))
            })
    }
}

fn require_json(headers: &HeaderMap) -> Answer<()> {
    let media_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase());
    match media_type.as_deref() {
        Some("application/json") => Ok(()),
        _ => Err(Problem::new(
            ProblemCode::UnsupportedMediaType,
            "The body must be JSON, with content-type: application/json.",
        )),
    }
}

async fn read(request: Request) -> Answer<Bytes> {
    let collected = Limited::new(request.into_body(), limits::BODY_BYTES).collect();
    match tokio::time::timeout(BODY_PATIENCE, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::new(
            ProblemCode::BodyTooLarge,
            format!("The body is larger than {} bytes.", limits::BODY_BYTES),
        )),
        Ok(Err(_)) => Err(Problem::new(ProblemCode::BadRequest, "The body could not be read.")),
        Err(_) => Err(Problem::new(ProblemCode::BadRequest, "The body took too long to arrive.")),
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Answer<T> {
    if depth(bytes) > limits::JSON_DEPTH {
        return Err(Problem::new(
            ProblemCode::TooDeep,
            format!("The body is nested deeper than {} levels.", limits::JSON_DEPTH),
        ));
    }
    let value = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => Problem::invalid(format!("The body is not valid: {error}")),
        _ => Problem::new(ProblemCode::InvalidJson, format!("The body is not JSON: {error}")),
    })?;
    refuse_lists(bytes)?;
    refuse_nul(bytes)?;
    Ok(value)
}

/// Not every store can keep a NUL, and no person types one.
fn refuse_nul(json: &[u8]) -> Answer<()> {
    let mut rest = json;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if rest[at + 1..].starts_with(b"u0000") {
            return Err(Problem::invalid("The body holds a NUL character."));
        }
        // The character after a backslash belongs to it: a second one begins nothing.
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    Ok(())
}

/// A derived reader also takes a list, for an object whose fields come in their order. Nobody means that.
fn refuse_lists(json: &[u8]) -> Answer<()> {
    match json.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => Err(Problem::invalid("The body must be an object.")),
        _ => Ok(()),
    }
}

/// How deep arrays and objects are nested, found without recursion and without a parser.
pub(super) fn depth(bytes: &[u8]) -> usize {
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
