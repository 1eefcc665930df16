//! Sends requests to the service and reads bounded answers within the time limit.

use std::time::Duration;

use ports::agent_generator::GeneratorError;
use protocol::limits::GRAPH_BYTES;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use super::{ServiceOptions, errors};
use crate::operator_http;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Detects a dead peer while an answer may still take long.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// An agent with its envelope; twice, because white space and escapes do not count for the agent's own limit.
const ANSWER_BYTES: usize = 2 * GRAPH_BYTES;
/// What is read of an error's body.
const ERROR_BYTES: usize = 16 * 1024;

/// What the service answered.
pub(crate) enum ServiceAnswer {
    /// 202: the work is done later.
    Accepted,
    Json(Value),
}

pub(crate) struct ServiceClient {
    client: Client,
    base: Url,
    timeout: Duration,
}

impl ServiceClient {
    pub(crate) fn new(options: &ServiceOptions) -> Result<Self, String> {
        let base = operator_http::address(&options.base_url)
            .ok_or_else(|| format!("{} is no address of an agent generator.", options.base_url))?;
        let client = operator_http::client(&base, CONNECT_TIMEOUT)
            .tcp_keepalive(KEEPALIVE)
            .build()
            .map_err(|error| format!("Could not create a client for agent generators: {error}."))?;
        Ok(Self { client, base, timeout: options.timeout })
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<ServiceAnswer, GeneratorError> {
        self.send(self.client.post(self.url(path)?).json(body), ANSWER_BYTES).await
    }

    pub(crate) async fn get(
        &self,
        path: &str,
        max_bytes: usize,
    ) -> Result<ServiceAnswer, GeneratorError> {
        self.send(self.client.get(self.url(path)?), max_bytes).await
    }

    fn url(&self, path: &str) -> Result<Url, GeneratorError> {
        self.base.join(path).map_err(|_| errors::unexpected("its address is invalid"))
    }

    async fn send(
        &self,
        request: RequestBuilder,
        max_bytes: usize,
    ) -> Result<ServiceAnswer, GeneratorError> {
        match timeout(self.timeout, exchange(request, max_bytes)).await {
            Ok(answer) => answer,
            Err(_) => Err(errors::timed_out()),
        }
    }
}

async fn exchange(
    request: RequestBuilder,
    max_bytes: usize,
) -> Result<ServiceAnswer, GeneratorError> {
    let mut response = request.send().await.map_err(errors::request_failed)?;
    let status = response.status();
    if status == StatusCode::ACCEPTED {
        return Ok(ServiceAnswer::Accepted);
    }
    if !status.is_success() {
        // A reason that cannot be read is left out: the status is enough.
        let (reason, _) = read(&mut response, ERROR_BYTES).await.unwrap_or_default();
        return Err(errors::refused(status, &String::from_utf8_lossy(&reason)));
    }
    let (body, complete) = read(&mut response, max_bytes).await.map_err(errors::request_failed)?;
    if !complete {
        return Err(errors::unexpected(&format!("it has more than {max_bytes} bytes")));
    }
    let json = serde_json::from_slice(&body);
    json.map(ServiceAnswer::Json).map_err(|error| errors::unexpected(&format!("no JSON ({error})")))
}

/// The body up to the limit, and whether that is all of it.
async fn read(
    response: &mut Response,
    max_bytes: usize,
) -> Result<(Vec<u8>, bool), reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        let rest = max_bytes - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(rest)]);
        if piece.len() > rest {
            return Ok((bytes, false));
        }
    }
    Ok((bytes, true))
}
