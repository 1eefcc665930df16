//! Identifies callers. Routes behind `require_identity` refuse callers without valid credentials; the open routes are
//! listed in one place in the router.

mod jwks;
mod jwt;
mod origin;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, header, request::Parts};
use jiff::Timestamp;
use ports::{ApiKeys, Clock, PortResult};
use protocol::UserId;
use protocol::session::Owner;
use protocol::text::hex;
use sha2::{Digest, Sha256};

use crate::config::{AuthMode, Settings, Switch};
use crate::http::AppState;
use crate::http::problem::{ApiProblem, ApiResult};

pub(crate) use jwt::mint_token;
pub(crate) use origin::{AllowedOrigins, refuse_foreign_origins};

/// The only user of a server without sign-in.
const LOCAL_USER: &str = "local";
/// Longer than any token of a reasonable issuer.
const CREDENTIAL_BYTES: usize = 8 * 1024;

/// The caller, and the credentials they sent.
#[derive(Clone, Debug)]
pub(crate) struct CallerIdentity {
    pub(crate) owner: Owner,
    proof: Proof,
}

#[derive(Clone, Debug)]
enum Proof {
    /// No credentials were required.
    None,
    Token {
        expires: Timestamp,
    },
    ApiKey {
        digest: String,
    },
}

/// A signed-in user, not an anonymous caller.
pub(crate) struct SignedInUser(pub(crate) UserId);

/// Checks credentials.
pub(crate) struct RequestAuth {
    method: AuthMethod,
    anonymous: Switch,
    api_keys: Arc<dyn ApiKeys>,
    clock: Arc<dyn Clock>,
}

enum AuthMethod {
    Local,
    Jwt(jwt::TokenVerifier),
}

impl RequestAuth {
    pub(crate) fn new(
        settings: &Settings,
        api_keys: Arc<dyn ApiKeys>,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let method = match settings.auth_mode {
            AuthMode::Local => AuthMethod::Local,
            AuthMode::Jwt => AuthMethod::Jwt(jwt::TokenVerifier::new(settings)?),
        };
        Ok(Self { method, anonymous: settings.allow_anonymous, api_keys, clock })
    }

    async fn identify(&self, headers: &HeaderMap) -> ApiResult<CallerIdentity> {
        if let (AuthMethod::Jwt(verifier), Some(value)) =
            (&self.method, headers.get(header::AUTHORIZATION))
        {
            let token = value
                .to_str()
                .ok()
                .filter(|value| value.len() <= CREDENTIAL_BYTES)
                .and_then(|value| value.split_once(' '))
                .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
                .map(|(_, token)| token.trim());
            let verified = match token {
                Some(token) => verifier.verify(token).await,
                None => None,
            };
            let token = verified.ok_or_else(|| ApiProblem::unauthenticated("Invalid token."))?;
            let proof = Proof::Token { expires: token.expires };
            return Ok(CallerIdentity { owner: Owner::User(token.user), proof });
        }
        if let Some(key) = headers.get("x-api-key") {
            let digest = digest(key.as_bytes());
            // The digest is looked up, so the duration of the lookup reveals nothing about the key.
            let user = self.api_keys.find(&digest).await?;
            let user = user.ok_or_else(|| ApiProblem::unauthenticated("Invalid API key."))?;
            return Ok(CallerIdentity {
                owner: Owner::User(user),
                proof: Proof::ApiKey { digest },
            });
        }
        match (&self.method, self.anonymous) {
            (AuthMethod::Local, _) => {
                Ok(CallerIdentity { owner: Owner::User(LOCAL_USER.into()), proof: Proof::None })
            }
            (AuthMethod::Jwt(_), Switch::On) => {
                Ok(CallerIdentity { owner: Owner::Anonymous, proof: Proof::None })
            }
            (AuthMethod::Jwt(_), Switch::Off) => Err(ApiProblem::unauthenticated(
                "Send a token as `authorization: Bearer …` or an API key as `x-api-key`.",
            )),
        }
    }

    /// Whether the credentials a stream was opened with are still valid.
    pub(crate) async fn still_valid(&self, identity: &CallerIdentity) -> PortResult<bool> {
        match &identity.proof {
            Proof::None => Ok(true),
            Proof::Token { expires } => Ok(self.clock.now() < *expires),
            Proof::ApiKey { digest } => {
                let user = self.api_keys.find(digest).await?;
                Ok(user.as_ref() == identity.owner.user())
            }
        }
    }

    /// When to check the credentials again, at most `at_most` from now.
    pub(crate) fn recheck_after(&self, identity: &CallerIdentity, at_most: Duration) -> Duration {
        match &identity.proof {
            Proof::Token { expires } => {
                let left = self.clock.now().duration_until(*expires);
                Duration::try_from(left).unwrap_or(Duration::ZERO).min(at_most)
            }
            Proof::None | Proof::ApiKey { .. } => at_most,
        }
    }
}

/// The middleware of every route that is not open.
pub(crate) async fn require_identity(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> ApiResult<Response> {
    let identity = app.auth.identify(request.headers()).await?;
    request.extensions_mut().insert(identity);
    Ok(next.run(request).await)
}

impl<S: Send + Sync> FromRequestParts<S> for CallerIdentity {
    type Rejection = ApiProblem;

    /// A route that takes an identity but is not behind the middleware responds 401 to everyone.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let identity = parts.extensions.get::<Self>().cloned();
        identity.ok_or_else(|| ApiProblem::unauthenticated("You are not signed in."))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SignedInUser {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match CallerIdentity::from_request_parts(parts, state).await?.owner {
            Owner::User(user) => Ok(Self(user)),
            Owner::Anonymous => {
                Err(ApiProblem::unauthenticated("This needs an account. Sign in first."))
            }
        }
    }
}

/// The stored form of an API key: SHA-256 in hex.
pub(crate) fn digest(key: &[u8]) -> String {
    hex(&Sha256::digest(key))
}
