//! HTTP client of the providers: one POST, answered by server-sent events. Every wait has a timeout, every body a size
//! limit, and every failure a kind. It does not retry.

mod errors;
mod retry_after;

use std::time::Duration;

use ports::model::{ModelError, ModelErrorKind};
use protocol::sse::{SseDecoder, SseEvent};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

pub(crate) use errors::{SecretRedactor, stream_error};

use super::ProviderConfigError;
use super::options::ProviderTimeouts;
use crate::operator_http;

/// Size limit of one event, far above any delta a model sends.
const EVENT_BYTES: usize = 8 * 1024 * 1024;
/// Size limit of the whole response, including comments and keep-alives.
const RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Size limit of an error body; longer ones are truncated.
const ERROR_BYTES: usize = 64 * 1024;

pub(crate) struct ProviderClient {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    timeouts: ProviderTimeouts,
    redactor: SecretRedactor,
}

impl ProviderClient {
    pub(crate) fn new(
        endpoint: Url,
        headers: HeaderMap,
        timeouts: ProviderTimeouts,
        redactor: SecretRedactor,
    ) -> Result<Self, ProviderConfigError> {
        let builder = operator_http::client(&endpoint, timeouts.connect);
        let client =
            builder.build().map_err(|error| ProviderConfigError::NoClient(error.to_string()))?;
        Ok(Self { client, endpoint, headers, timeouts, redactor })
    }

    /// Sends the request and returns after a successful response head.
    pub(crate) async fn open(&self, body: &Value) -> Result<ProviderResponse, ModelError> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let deadline = Instant::now() + self.timeouts.connect + self.timeouts.first_byte;
        let response = match timeout_at(deadline, request.json(body).send()).await {
            Err(_) => return Err(errors::timed_out("did not respond in time")),
            Ok(Err(error)) => return Err(errors::transport_error(&error)),
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return Err(self.error_response(response).await);
        }
        let form = BodyFormat::of(&response)?;
        Ok(ProviderResponse {
            response,
            form,
            decoder: SseDecoder::new(EVENT_BYTES),
            document: Vec::new(),
            received: 0,
            events: 0,
            first_byte_by: deadline,
            idle: self.timeouts.idle,
            redactor: self.redactor.clone(),
        })
    }

    /// Reads the error body, as far as it arrives in time.
    async fn error_response(&self, mut response: Response) -> ModelError {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut body = Vec::new();
        let reading = async {
            while body.len() < ERROR_BYTES {
                match response.chunk().await {
                    Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                    Ok(None) | Err(_) => break,
                }
            }
        };
        // The status is enough; a slow body only loses the explanation.
        let _ = timeout(self.timeouts.idle, reading).await;
        body.truncate(ERROR_BYTES);
        errors::status_error(status, &headers, &body, &self.redactor)
    }
}

/// Format of a successful response body, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    Events,
    /// One JSON document, from a server that does not stream.
    Json,
}

impl BodyFormat {
    fn of(response: &Response) -> Result<Self, ModelError> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/json" => Ok(Self::Json),
            // Small servers send events with these content types, or without one.
            "text/event-stream" | "" | "text/plain" | "application/octet-stream" => {
                Ok(Self::Events)
            }
            _ => Err(errors::broken("it is not an event stream")),
        }
    }
}

/// The response body, read event by event. Dropping it closes the connection.
pub(crate) struct ProviderResponse {
    response: Response,
    form: BodyFormat,
    decoder: SseDecoder,
    document: Vec<u8>,
    received: usize,
    events: usize,
    first_byte_by: Instant,
    idle: Duration,
    redactor: SecretRedactor,
}

impl ProviderResponse {
    pub(crate) fn form(&self) -> BodyFormat {
        self.form
    }

    pub(crate) fn redactor(&self) -> &SecretRedactor {
        &self.redactor
    }

    /// `None` at the end of the body.
    pub(crate) async fn next_event(&mut self) -> Result<Option<SseEvent>, ModelError> {
        loop {
            if self.form == BodyFormat::Events {
                match self.decoder.next_event() {
                    Ok(Some(event)) => {
                        self.events += 1;
                        return Ok(Some(event));
                    }
                    Ok(None) => {}
                    Err(error) => return Err(errors::broken(&error.to_string())),
                }
            }
            let Some(bytes) = self.next_bytes().await? else { return self.at_end() };
            self.received += bytes.len();
            if self.received > RESPONSE_BYTES {
                return Err(errors::broken("it is too large"));
            }
            match self.form {
                BodyFormat::Events => self.decoder.push(&bytes),
                BodyFormat::Json if self.document.len() + bytes.len() > EVENT_BYTES => {
                    return Err(errors::broken("it is too large"));
                }
                BodyFormat::Json => self.document.extend_from_slice(&bytes),
            }
        }
    }

    async fn next_bytes(&mut self) -> Result<Option<bytes::Bytes>, ModelError> {
        let by = if self.received == 0 { self.first_byte_by } else { Instant::now() + self.idle };
        match timeout_at(by, self.response.chunk()).await {
            Err(_) => Err(errors::timed_out("stopped responding")),
            Ok(Err(error)) => Err(errors::transport_error(&error)),
            Ok(Ok(bytes)) => Ok(bytes),
        }
    }

    /// A complete JSON document counts as one event.
    fn at_end(&mut self) -> Result<Option<SseEvent>, ModelError> {
        if self.form == BodyFormat::Json && !self.document.is_empty() {
            self.events += 1;
            let data = String::from_utf8(std::mem::take(&mut self.document))
                .map_err(|_| errors::broken("it is not text"))?;
            return Ok(Some(SseEvent { data, ..SseEvent::default() }));
        }
        if self.received > 0 && self.events == 0 {
            return Err(errors::broken("it is not an event stream"));
        }
        Ok(None)
    }
}

pub(crate) fn incomplete() -> ModelError {
    ModelError::new(
        ModelErrorKind::Unreachable,
        "The model provider closed the connection before the response was complete.",
    )
}

pub(crate) fn broken(what: &str) -> ModelError {
    errors::broken(what)
}

/// Appends a path to a base URL from the configuration.
pub(crate) fn endpoint(base: &str, path: &[&str]) -> Result<Url, ProviderConfigError> {
    let mut url = operator_http::address(base).ok_or(ProviderConfigError::BadAddress)?;
    url.path_segments_mut()
        .map_err(|()| ProviderConfigError::BadAddress)?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}
