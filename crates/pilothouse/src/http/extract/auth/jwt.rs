//! Verifies tokens, and creates tokens for development.

use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode,
};
use protocol::UserId;
use serde::{Deserialize, Serialize};

use super::jwks::KeySet;
use crate::config::Settings;

/// Allowed difference between the clocks of issuer and server.
const LEEWAY: Duration = Duration::from_secs(30);
/// Longer than any user id of a reasonable issuer.
const SUBJECT_CHARS: usize = 255;

pub(crate) struct TokenVerifier {
    secret: Option<DecodingKey>,
    published: Option<KeySet>,
    audience: String,
    issuer: Option<String>,
}

pub(crate) struct VerifiedToken {
    pub(crate) user: UserId,
    pub(crate) expires: Timestamp,
}

/// The claims that are read. A duplicate claim or one of the wrong type makes the token invalid.
#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    exp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<i64>,
    aud: serde_json::Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iss: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
}

impl TokenVerifier {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let secret = settings.jwt_verify_key.as_ref();
        Ok(Self {
            secret: secret.map(|key| DecodingKey::from_secret(key.expose().as_bytes())),
            published: settings.jwt_jwks_url.clone().map(KeySet::new).transpose()?,
            audience: settings.jwt_audience.clone(),
            issuer: settings.jwt_issuer.clone(),
        })
    }

    /// Does not tell the caller why a token is invalid.
    pub(crate) async fn verify(&self, token: &str) -> Option<VerifiedToken> {
        let header = decode_header(token).ok()?;
        // A token must not name the source of its key, nor require unknown extensions.
        if header.jku.is_some()
            || header.jwk.is_some()
            || header.x5u.is_some()
            || header.x5c.is_some()
        {
            return None;
        }
        if header.crit.is_some() {
            return None;
        }
        // The algorithm selects the kind of key, so that no key is used with an algorithm of another kind.
        match header.alg {
            Algorithm::HS256 => self.decode(token, self.secret.as_ref()?, Algorithm::HS256),
            algorithm @ (Algorithm::RS256 | Algorithm::ES256) => {
                let keys = self.published.as_ref()?;
                let key = keys.find(header.kid.as_deref(), algorithm).await?;
                self.decode(token, &key, algorithm)
            }
            _ => None,
        }
    }

    fn decode(
        &self,
        token: &str,
        key: &DecodingKey,
        algorithm: Algorithm,
    ) -> Option<VerifiedToken> {
        let mut validation = Validation::new(algorithm);
        validation.leeway = LEEWAY.as_secs();
        validation.validate_nbf = true;
        validation.set_audience(&[&self.audience]);
        let mut required = vec!["exp", "aud", "sub"];
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        validation.set_required_spec_claims(&required);
        let claims = decode::<Claims>(token, key, &validation).ok()?.claims;
        let sane = !claims.sub.is_empty()
            && claims.sub.chars().count() <= SUBJECT_CHARS
            && !claims.sub.chars().any(char::is_control);
        let expires = Timestamp::from_second(claims.exp).ok()?.checked_add(LEEWAY).ok()?;
        sane.then_some(VerifiedToken { user: UserId(claims.sub), expires })
    }
}

/// A token for development, signed with `JWT_VERIFY_KEY`.
pub(crate) fn mint_token(
    settings: &Settings,
    user: &str,
    valid: Duration,
) -> anyhow::Result<String> {
    let key = settings.jwt_verify_key.as_ref().context(
        "JWT_VERIFY_KEY is not set, and tokens are signed with it. Set it to at least 32 bytes, for example from `openssl rand -hex 32`.",
    )?;
    #[expect(clippy::disallowed_methods, reason = "the command that prints a token has no `Clock`")]
    let now = Timestamp::now();
    let claims = Claims {
        sub: user.to_owned(),
        exp: now.checked_add(valid)?.as_second(),
        nbf: None,
        aud: settings.jwt_audience.clone().into(),
        iss: settings.jwt_issuer.clone(),
        iat: Some(now.as_second()),
        role: Some("authenticated".to_owned()),
    };
    Ok(encode(&Header::default(), &claims, &EncodingKey::from_secret(key.expose().as_bytes()))?)
}
