//! The key that other services and operators show: for the results of operations, for grants of credits, and for the
//! numbers of a server with a login.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, header};
use protocol::problem::ProblemCode;
use subtle::ConstantTimeEq;

use super::App;
use super::problem::Problem;
use crate::config::{Secret, Settings};

pub(crate) struct InternalKey(Option<Secret>);

/// A service that has shown the key. Checked before anything of the body is read.
pub(crate) struct InternalCaller;

impl InternalKey {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self(settings.internal_api_key.clone())
    }

    pub(crate) fn is_configured(&self) -> bool {
        self.0.is_some()
    }

    /// As `x-api-key`, or as a bearer token.
    pub(crate) fn is_shown(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let sent = headers.get("x-api-key").map(|value| value.as_bytes()).or(bearer);
        match (sent, &self.0) {
            (Some(sent), Some(key)) => bool::from(sent.ct_eq(key.expose().as_bytes())),
            _ => false,
        }
    }
}

impl FromRequestParts<Arc<App>> for InternalCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        if !app.internal_key.is_configured() {
            return Err(Problem::new(
                ProblemCode::InternalKeyMissing,
                "This server was given no key for other services: set CHAT_INTERNAL_API_KEY.",
            ));
        }
        if !app.internal_key.is_shown(&parts.headers) {
            return Err(Problem::unauthenticated("Send CHAT_INTERNAL_API_KEY as `x-api-key`."));
        }
        Ok(Self)
    }
}
