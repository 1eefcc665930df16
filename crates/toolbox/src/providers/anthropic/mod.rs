//! Provider for the Anthropic Messages API.

mod events;
mod request;

use async_trait::async_trait;
use ports::model::{ModelError, ModelStream};
use reqwest::header::{HeaderMap, HeaderValue};

use super::ProviderConfigError;
use super::http::{ProviderClient, SecretRedactor, endpoint};
use super::options::AnthropicOptions;
use super::remote::{RemoteApi, RemoteCall};
use super::response_stream;

/// Version of the wire format, not of a model.
const VERSION: &str = "2023-06-01";

pub(crate) struct AnthropicApi {
    client: ProviderClient,
    options: AnthropicOptions,
}

impl AnthropicApi {
    pub(crate) fn new(options: &AnthropicOptions) -> Result<Self, ProviderConfigError> {
        let base = options.endpoint.base_url.trim_end_matches('/');
        let endpoint = endpoint(base.strip_suffix("/v1").unwrap_or(base), &["v1", "messages"])?;
        let key = options.api_key.expose();
        let mut header = HeaderValue::try_from(key).map_err(|_| ProviderConfigError::BadKey)?;
        header.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", header);
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        let host = endpoint.host_str().unwrap_or_default();
        let redactor = SecretRedactor::new([key, &options.endpoint.base_url, host]);
        let client = ProviderClient::new(endpoint, headers, options.endpoint.timeouts, redactor)?;
        Ok(Self { client, options: options.clone() })
    }
}

#[async_trait]
impl RemoteApi for AnthropicApi {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    async fn send(&self, call: RemoteCall<'_>) -> Result<ModelStream, ModelError> {
        let max_tokens = call.max_tokens.unwrap_or(self.options.max_output_tokens);
        let body = request::body(call.model, max_tokens, call.request);
        let incoming = self.client.open(&body).await?;
        let reader = events::MessageEventReader::new(self.options.endpoint.prices);
        Ok(response_stream::read(incoming, reader))
    }
}
