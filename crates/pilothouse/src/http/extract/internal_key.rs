//! The internal key of operators and other services: for completing operations, granting credits, and reading the
//! metrics of a server with sign-in.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, header};
use protocol::problem::ProblemCode;
use protocol::secret::SecretText;
use subtle::ConstantTimeEq;

use crate::config::Settings;
use crate::http::AppState;
use crate::http::problem::ApiProblem;

pub(crate) struct InternalKey(Option<SecretText>);

/// A caller that has sent the internal key. Checked before the body is read.
pub(crate) struct InternalCaller;

impl InternalKey {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self(settings.internal_api_key.clone())
    }

    pub(crate) fn is_configured(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the key is in `x-api-key`, or is the bearer token.
    pub(crate) fn is_sent(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let sent = headers.get("x-api-key").map(|value| value.as_bytes()).or(bearer);
        match (sent, &self.0) {
            (Some(sent), Some(key)) => bool::from(sent.ct_eq(key.expose().as_bytes())),
            _ => false,
        }
    }
}

impl FromRequestParts<Arc<AppState>> for InternalCaller {
    type Rejection = ApiProblem;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<AppState>,
    ) -> Result<Self, ApiProblem> {
        if !app.internal_key.is_configured() {
            return Err(ApiProblem::new(
                ProblemCode::InternalKeyMissing,
                "No internal key is configured on this server. Set CHAT_INTERNAL_API_KEY.",
            ));
        }
        if !app.internal_key.is_sent(&parts.headers) {
            return Err(ApiProblem::unauthenticated("Send CHAT_INTERNAL_API_KEY as `x-api-key`."));
        }
        Ok(Self)
    }
}
