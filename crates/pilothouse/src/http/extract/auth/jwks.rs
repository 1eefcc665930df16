//! Public keys published by an issuer: fetched on demand, cached, and fetched again when a token names an unknown key,
//! but rate-limited, because anyone can send such tokens.

use std::time::Duration;

use anyhow::Context;
use http_body_util::{BodyExt, Limited};
use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

/// Keys older than this are fetched again with the next token.
const FRESH: Duration = Duration::from_secs(600);
/// Minimum time between two requests to the issuer.
const PAUSE: Duration = Duration::from_secs(10);
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const SET_BYTES: usize = 256 * 1024;

pub(crate) struct KeySet {
    url: Url,
    client: reqwest::Client,
    /// Held while fetching, so that many tokens at once cause one request.
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    keys: Vec<Jwk>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

impl KeySet {
    pub(crate) fn new(url: Url) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(FETCH_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .context("could not create the HTTP client for JWT_JWKS_URL")?;
        Ok(Self { url, client, cache: Mutex::default() })
    }

    /// The key that a token names, if it is for this algorithm. Without a name: the only suitable key.
    pub(crate) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let mut cache = self.cache.lock().await;
        let old = cache.fetched.is_none_or(|at| at.elapsed() > FRESH);
        if old || choose(&cache.keys, id, algorithm).is_none() {
            self.refresh(&mut cache).await;
        }
        choose(&cache.keys, id, algorithm).and_then(|key| DecodingKey::from_jwk(key).ok())
    }

    async fn refresh(&self, cache: &mut Cache) {
        if cache.tried.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        cache.tried = Some(Instant::now());
        match self.fetch().await {
            Ok(keys) => {
                cache.keys = keys;
                cache.fetched = Some(Instant::now());
            }
            // Keep using the cached keys: an unavailable issuer must not lock out all users.
            Err(error) => tracing::warn!(
                error = format!("{error:#}"),
                "could not fetch the keys at JWT_JWKS_URL"
            ),
        }
    }

    async fn fetch(&self) -> anyhow::Result<Vec<Jwk>> {
        let response = self.client.get(self.url.clone()).send().await?.error_for_status()?;
        let body = Limited::new(reqwest::Body::from(response), SET_BYTES).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
        Ok(serde_json::from_slice::<JwkSet>(&body).context("not a JSON web key set")?.keys)
    }
}

fn choose<'a>(keys: &'a [Jwk], id: Option<&str>, algorithm: Algorithm) -> Option<&'a Jwk> {
    let mut fitting = keys.iter().filter(|key| fits(key, algorithm));
    match id {
        Some(id) => fitting.find(|key| key.common.key_id.as_deref() == Some(id)),
        None => fitting.next().filter(|_| fitting.next().is_none()),
    }
}

/// Whether a key is for this algorithm, by its type and its declared use.
fn fits(key: &Jwk, algorithm: Algorithm) -> bool {
    let by_type = match (&key.algorithm, algorithm) {
        (AlgorithmParameters::RSA(_), Algorithm::RS256) => true,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => {
            key.curve == EllipticCurve::P256
        }
        _ => false,
    };
    let by_name = match key.common.key_algorithm {
        None => true,
        Some(KeyAlgorithm::RS256) => algorithm == Algorithm::RS256,
        Some(KeyAlgorithm::ES256) => algorithm == Algorithm::ES256,
        Some(_) => false,
    };
    let to_sign = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
    by_type && by_name && to_sign
}
