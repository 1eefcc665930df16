//! The HTTP client of the terminal commands: server URL, credentials and errors.

use std::net::SocketAddr;
use std::time::Duration;

use protocol::secret::SecretText;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::config::Settings;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Three heartbeats: a stream that is silent for longer has failed.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Selects the server of a command.
#[derive(clap::Args)]
pub(crate) struct ServerFlags {
    /// Server URL (default: this machine, configured port)
    #[arg(long)]
    url: Option<Url>,
}

impl ServerFlags {
    pub(crate) fn at(url: Url) -> Self {
        Self { url: Some(url) }
    }
}

pub(crate) struct ApiClient {
    http: reqwest::Client,
    url: Url,
    token: Option<SecretText>,
    /// For all requests except streams.
    response_timeout: Duration,
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum ClientError {
    /// No response, or an incomplete one. A retry may help.
    Unreachable,
    Refused {
        status: u16,
        detail: String,
        /// The whole response body.
        body: Value,
    },
}

impl ApiClient {
    pub(crate) fn new(settings: &Settings, server: ServerFlags) -> anyhow::Result<Self> {
        Self::with_timeouts(settings, server, RESPONSE_TIMEOUT, READ_TIMEOUT)
    }

    /// For requests that the server works on for up to this time before it responds.
    pub(crate) fn for_long_requests(
        settings: &Settings,
        server: ServerFlags,
        at_most: Duration,
    ) -> anyhow::Result<Self> {
        let timeout = at_most + RESPONSE_TIMEOUT;
        Self::with_timeouts(settings, server, timeout, timeout)
    }

    fn with_timeouts(
        settings: &Settings,
        server: ServerFlags,
        response_timeout: Duration,
        read_timeout: Duration,
    ) -> anyhow::Result<Self> {
        let url = match server.url {
            Some(url) => url,
            None => {
                Url::parse(&format!("http://{}", SocketAddr::new(settings.host, settings.port)))?
            }
        };
        anyhow::ensure!(url.has_host(), "{url} is not a server URL");
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(read_timeout)
            .no_proxy()
            .build()?;
        Ok(Self { http, url, token: settings.client_token.clone(), response_timeout })
    }

    /// Path segments are escaped, so that typed text stays one segment.
    pub(crate) fn get(&self, path: &[&str]) -> RequestBuilder {
        self.http.get(address(&self.url, path, &[]))
    }

    pub(crate) fn get_with(&self, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        self.http.get(address(&self.url, path, query))
    }

    pub(crate) fn post(&self, path: &[&str]) -> RequestBuilder {
        self.http.post(address(&self.url, path, &[]))
    }

    pub(crate) fn post_with(&self, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        self.http.post(address(&self.url, path, query))
    }

    pub(crate) async fn fetch<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, ClientError> {
        let fetch = async {
            let response = self.send(request).await?;
            response.json().await.map_err(|error| match error.is_decode() {
                true => not_a_pilothouse_server(),
                false => ClientError::Unreachable,
            })
        };
        let answer = tokio::time::timeout(self.response_timeout, fetch).await;
        answer.unwrap_or(Err(ClientError::Unreachable))
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        };
        let response = request.send().await.map_err(|_| ClientError::Unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // A restarting or overloaded server counts as unreachable: retry.
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return Err(ClientError::Unreachable);
        }
        let body: Value = response.json().await.unwrap_or_default();
        let detail = body["detail"].as_str().or(body["detail"]["message"].as_str());
        let detail = detail
            .map_or_else(|| format!("The server responded with status {status}."), str::to_owned);
        Err(ClientError::Refused { status: status.as_u16(), detail, body })
    }

    /// The error as a sentence that says what to do.
    pub(crate) fn explain(&self, failure: &ClientError) -> String {
        match failure {
            ClientError::Unreachable => format!(
                "Can't reach a Pilothouse server at {}. Start one with `pilothouse serve`, or pass its URL with --url.",
                self.url
            ),
            ClientError::Refused { status: 401, detail, .. } => format!(
                "{detail} Set PILOTHOUSE_TOKEN to a token; `pilothouse token` creates one for development."
            ),
            ClientError::Refused { detail, .. } => detail.clone(),
        }
    }
}

fn address(server: &Url, path: &[&str], query: &[(&str, &str)]) -> Url {
    let mut url = server.clone();
    // A URL with a host has path segments; `ApiClient::new` checks that.
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().push("api").extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

pub(crate) fn not_a_pilothouse_server() -> ClientError {
    ClientError::Refused {
        status: 200,
        detail: "The server at this URL is not a Pilothouse server.".to_owned(),
        body: Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_stays_one_path_segment() {
        let url = Url::parse("http://127.0.0.1:8006/base/").expect("a URL");
        let address = address(&url, &["graphs", "../keys?x=1#y"], &[("q", "a b&c")]);
        let expected = "http://127.0.0.1:8006/base/api/graphs/..%2Fkeys%3Fx=1%23y?q=a+b%26c";
        assert_eq!(address.as_str(), expected);
    }
}
