//! Who asks. Every route behind `require_identity` is refused without an answer to that; the routes that
//! are open are listed in one place in the router.

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
use sha2::{Digest, Sha256};

use super::App;
use super::problem::{Answer, Problem};
use crate::config::{AuthMode, Settings, Switch};

pub(crate) use jwt::mint;
pub(crate) use origin::{Origins, refuse_foreign_origins};

/// The one user of a server without a login.
const LOCAL_USER: &str = "local";
/// Longer than any token of a sane issuer.
const CREDENTIAL_BYTES: usize = 8 * 1024;

/// Who asks, and what they showed for it.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) owner: Owner,
    proof: Proof,
}

#[derive(Clone, Debug)]
enum Proof {
    /// Nothing was asked for.
    None,
    Token {
        expires: Timestamp,
    },
    ApiKey {
        digest: String,
    },
}

/// A person, not an anonymous caller.
pub(crate) struct Person(pub(crate) UserId);

/// Checks what callers show.
pub(crate) struct Auth {
    mode: Mode,
    anonymous: Switch,
    api_keys: Arc<dyn ApiKeys>,
    clock: Arc<dyn Clock>,
}

enum Mode {
    Local,
    Jwt(jwt::Verifier),
}

impl Auth {
    pub(crate) fn new(
        settings: &Settings,
        api_keys: Arc<dyn ApiKeys>,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let mode = match settings.auth_mode {
            AuthMode::Local => Mode::Local,
            AuthMode::Jwt => Mode::Jwt(jwt::Verifier::new(settings)?),
        };
        Ok(Self { mode, anonymous: settings.allow_anonymous, api_keys, clock })
    }

    async fn identify(&self, headers: &HeaderMap) -> Answer<Identity> {
        if let (Mode::Jwt(verifier), Some(value)) = (&self.mode, headers.get(header::AUTHORIZATION))
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
            let token =
                verified.ok_or_else(|| Problem::unauthenticated("The token is not valid."))?;
            let proof = Proof::Token { expires: token.expires };
            return Ok(Identity { owner: Owner::User(token.user), proof });
        }
        if let Some(key) = headers.get("x-api-key") {
            let digest = digest(key.as_bytes());
            // The digest is looked up, so how long the search takes says nothing about the key.
            let user = self.api_keys.find(&digest).await?;
            let user = user.ok_or_else(|| Problem::unauthenticated("The API key is not valid."))?;
            return Ok(Identity { owner: Owner::User(user), proof: Proof::ApiKey { digest } });
        }
        match (&self.mode, self.anonymous) {
            (Mode::Local, _) => {
                Ok(Identity { owner: Owner::User(LOCAL_USER.into()), proof: Proof::None })
            }
            (Mode::Jwt(_), Switch::On) => {
                Ok(Identity { owner: Owner::Anonymous, proof: Proof::None })
            }
            (Mode::Jwt(_), Switch::Off) => Err(Problem::unauthenticated(
                "Send a token as `authorization: Bearer …` or an API key as `x-api-key`.",
            )),
        }
    }

    /// Whether what was shown when a stream was opened would still open it.
    pub(crate) async fn still_valid(&self, identity: &Identity) -> PortResult<bool> {
        match &identity.proof {
            Proof::None => Ok(true),
            Proof::Token { expires } => Ok(self.clock.now() < *expires),
            Proof::ApiKey { digest } => {
                let user = self.api_keys.find(digest).await?;
                Ok(user.as_ref() == identity.owner.user())
            }
        }
    }

    /// When to look again, at the latest after `at_most`.
    pub(crate) fn check_in(&self, identity: &Identity, at_most: Duration) -> Duration {
        match &identity.proof {
            Proof::Token { expires } => {
                let left = self.clock.now().duration_until(*expires);
                Duration::try_from(left).unwrap_or(Duration::ZERO).min(at_most)
            }
            Proof::None | Proof::ApiKey { .. } => at_most,
        }
    }
}

/// The layer in front of every route that is not open to all.
pub(crate) async fn require_identity(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Answer<Response> {
    let identity = app.auth.identify(request.headers()).await?;
    request.extensions_mut().insert(identity);
    Ok(next.run(request).await)
}

impl<S: Send + Sync> FromRequestParts<S> for Identity {
    type Rejection = Problem;

    /// A route that asks for an identity but is not behind the layer answers 401 to everybody.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let identity = parts.extensions.get::<Self>().cloned();
        identity.ok_or_else(|| Problem::unauthenticated("Nobody is logged in."))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        match Identity::from_request_parts(parts, state).await?.owner {
            Owner::User(user) => Ok(Self(user)),
            Owner::Anonymous => Err(Problem::unauthenticated("This needs a user; log in first.")),
        }
    }
}

/// How keys are kept and found: SHA-256 in hex.
pub(crate) fn digest(key: &[u8]) -> String {
    Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect()
}
