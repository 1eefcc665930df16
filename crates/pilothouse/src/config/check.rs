//! Checks across settings: contradictions, weak secrets, and unsupported combinations. Every message says what to do.

use std::fmt;

use protocol::secret::SecretText;
use url::Url;

use super::value::Quantity;
use super::{AuthMode, ConfigLayers, ProviderName, Settings};

/// Minimum length of a secret.
const SECRET_BYTES: usize = 32;

/// Why the program does not start: one sentence per reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigRefusal(pub(crate) Vec<String>);

impl fmt::Display for ConfigRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigRefusal {}

/// The provider that the settings select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SelectedProvider {
    Offline,
    OpenAi { base_url: Url, api_key: Option<SecretText> },
    Anthropic { api_key: SecretText },
}

pub(crate) fn refuse_contradictions(
    settings: &Settings,
    layers: &ConfigLayers,
) -> Result<(), ConfigRefusal> {
    let mut problems = settings.check_all_or_none(layers);
    auth(settings, &mut problems);
    problems.extend(settings.broken_rules());
    numbers(settings, &mut problems);
    if let Err(reason) = settings.provider() {
        problems.push(reason);
    } else if let Err(reason) = settings.generator() {
        problems.push(reason);
    }
    if problems.is_empty() { Ok(()) } else { Err(ConfigRefusal(problems)) }
}

/// The rule of a secret that could be guessed if it were short.
pub(crate) fn long(name: &str, secret: &Option<SecretText>) -> Option<String> {
    let is_short = secret.as_ref().is_some_and(|secret| secret.expose().len() < SECRET_BYTES);
    is_short.then(|| {
        format!(
            "{name} is too short to be safe: it needs at least {SECRET_BYTES} bytes, for example from `openssl rand -hex 32`."
        )
    })
}

/// The rule of a number or duration that must be more than 0.
pub(crate) fn positive(name: &str, value: &impl Quantity) -> Option<String> {
    value.is_zero().then(|| format!("{name} must be more than 0."))
}

fn auth(settings: &Settings, problems: &mut Vec<String>) {
    match settings.auth_mode {
        AuthMode::Local if !settings.host.is_loopback() => problems.push(format!(
            "AUTH_MODE=local has no sign-in, so it only allows a loopback address, not {}: use --host 127.0.0.1, or set AUTH_MODE=jwt and JWT_VERIFY_KEY or JWT_JWKS_URL.",
            settings.host
        )),
        AuthMode::Jwt if settings.jwt_verify_key.is_none() && settings.jwt_jwks_url.is_none() => problems.push(
            "AUTH_MODE=jwt needs a key to verify tokens: set JWT_VERIFY_KEY (HS256) or JWT_JWKS_URL (RS256, ES256).".to_owned(),
        ),
        _ => {}
    }
    // If a public key were used as an HMAC secret, everyone who can read it could sign tokens.
    if settings.jwt_verify_key.as_ref().is_some_and(|key| key.expose().contains("-----BEGIN")) {
        problems.push("JWT_VERIFY_KEY contains a PEM key, but must be the secret of HS256 tokens: publish public keys as a JWKS and set JWT_JWKS_URL.".to_owned());
    }
    if settings.jwt_jwks_url.as_ref().is_some_and(|url| url.scheme() == "http" && !is_loopback(url))
    {
        problems.push(
            "JWT_JWKS_URL must start with https://: keys fetched over plain http can be forged."
                .to_owned(),
        );
    }
}

fn numbers(settings: &Settings, problems: &mut Vec<String>) {
    let lease = settings.turn_lease.0;
    if settings.turn_renew.0.is_zero() || settings.turn_renew.0 * 2 >= lease {
        problems.push("TURN_RENEW_MS must be more than 0 and less than half of TURN_LEASE_MS, so that one late renewal does not lose the turn.".to_owned());
    }
    if settings.running_per_user > settings.in_flight_per_user {
        problems.push("MAX_RUNNING_COPILOT_TURNS_PER_USER must not be more than MAX_INFLIGHT_COPILOT_TURNS_PER_USER, which includes running turns.".to_owned());
    }
}

impl Settings {
    /// The selected provider: the named one, otherwise the one whose key is set.
    pub(crate) fn provider(&self) -> Result<SelectedProvider, String> {
        let key = self.chat_api_key.as_ref().or(self.openai_api_key.as_ref());
        let name = self.chat_provider.unwrap_or_else(|| {
            if self.chat_base_url.is_some() || self.chat_api_key.is_some() {
                ProviderName::OpenAi
            } else if self.anthropic_api_key.is_some() {
                ProviderName::Anthropic
            } else if self.openai_api_key.is_some() {
                ProviderName::OpenAi
            } else {
                ProviderName::Offline
            }
        });
        match name {
            ProviderName::Offline => Ok(SelectedProvider::Offline),
            ProviderName::Anthropic => match &self.anthropic_api_key {
                Some(key) => Ok(SelectedProvider::Anthropic { api_key: key.clone() }),
                None => Err("CHAT_PROVIDER=anthropic needs a key: set ANTHROPIC_API_KEY.".to_owned()),
            },
            ProviderName::OpenAi => match (&self.chat_base_url, key) {
                (Some(_), _) if self.chat_model.is_none() => Err(
                    "CHAT_BASE_URL is set without CHAT_MODEL: set CHAT_MODEL to the name of a model on that server.".to_owned(),
                ),
                (Some(base_url), key) => {
                    Ok(SelectedProvider::OpenAi { base_url: base_url.clone(), api_key: key.cloned() })
                }
                (None, Some(key)) => Ok(SelectedProvider::OpenAi {
                    base_url: "https://api.openai.com/v1".parse().expect("a constant URL"),
                    api_key: Some(key.clone()),
                }),
                (None, None) => Err(
                    "CHAT_PROVIDER=openai needs a key or a server: set CHAT_API_KEY, or CHAT_BASE_URL and CHAT_MODEL.".to_owned(),
                ),
            },
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
