//! The terminal's side of the API: where the server is, what is shown to it, and what went wrong.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::config::{Secret, Settings};

const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// For everything but streams.
pub(super) const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// Three heartbeats: a stream that is silent for longer is dead.
const SILENCE: Duration = Duration::from_secs(30);

/// Which server a command talks to.
#[derive(clap::Args)]
pub(crate) struct Server {
    /// Where the server is; this machine and the configured port when not given.
    #[arg(long)]
    url: Option<Url>,
}

pub(super) struct Client {
    http: reqwest::Client,
    url: Url,
    token: Option<Secret>,
}

/// Why a call did not give what was asked for.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nobody answers, or the answer broke off. Trying again may help.
    Unreachable,
    Refused {
        status: u16,
        detail: String,
        /// All that the server said.
        body: Value,
    },
}

impl Client {
    pub(super) fn new(settings: &Settings, server: Server) -> anyhow::Result<Self> {
        let url = match server.url {
            Some(url) => url,
            None => {
                Url::parse(&format!("http://{}", SocketAddr::new(settings.host, settings.port)))?
            }
        };
        anyhow::ensure!(url.has_host(), "{url} is not the address of a server");
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_PATIENCE)
            .read_timeout(SILENCE)
            .no_proxy()
            .build()?;
        Ok(Self { http, url, token: settings.client_token.clone() })
    }

    /// The parts of a path are escaped, so that what a person typed stays one of them.
    pub(super) fn get(&self, path: &[&str]) -> RequestBuilder {
        self.http.get(address(&self.url, path, &[]))
    }

    pub(super) fn get_with(&self, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        self.http.get(address(&self.url, path, query))
    }

    pub(super) fn post(&self, path: &[&str]) -> RequestBuilder {
        self.http.post(address(&self.url, path, &[]))
    }

    pub(super) async fn answer<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, Failure> {
        let answer = async {
            let response = self.send(request).await?;
            response.json().await.map_err(|error| match error.is_decode() {
                true => not_ours(),
                false => Failure::Unreachable,
            })
        };
        tokio::time::timeout(ANSWER_PATIENCE, answer).await.unwrap_or(Err(Failure::Unreachable))
    }

    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        };
        let response = request.send().await.map_err(|_| Failure::Unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // A server that is restarting or overloaded is as good as away: try again.
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return Err(Failure::Unreachable);
        }
        let body: Value = response.json().await.unwrap_or_default();
        let detail = body["detail"].as_str().or(body["detail"]["message"].as_str());
        let detail = detail.map_or_else(|| format!("The server answered {status}."), str::to_owned);
        Err(Failure::Refused { status: status.as_u16(), detail, body })
    }

    /// What went wrong, in a sentence that says what to do.
    pub(super) fn explain(&self, failure: &Failure) -> String {
        match failure {
            Failure::Unreachable => format!(
                "No Pilothouse server answers at {}. Start one with `pilothouse serve`, or say where it is with --url.",
                self.url
            ),
            Failure::Refused { status: 401, detail, .. } => format!(
                "{detail} Put a token into PILOTHOUSE_TOKEN; `pilothouse token` makes one for development."
            ),
            Failure::Refused { detail, .. } => detail.clone(),
        }
    }
}

fn address(server: &Url, path: &[&str], query: &[(&str, &str)]) -> Url {
    let mut url = server.clone();
    // One with a host has a path; `Client::new` looks at that.
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().push("api").extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

pub(super) fn not_ours() -> Failure {
    Failure::Refused {
        status: 200,
        detail: "What answers there is not a Pilothouse server.".to_owned(),
        body: Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_typed_stays_one_part_of_the_address() {
        let url = Url::parse("http://127.0.0.1:8006/base/").expect("a URL");
        let address = address(&url, &["graphs", "../keys?x=1#y"], &[("q", "a b&c")]);
        let expected = "http://127.0.0.1:8006/base/api/graphs/..%2Fkeys%3Fx=1%23y?q=a+b%26c";
        assert_eq!(address.as_str(), expected);
    }
}
