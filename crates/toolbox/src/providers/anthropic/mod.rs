//! Provider for the Anthropic Messages API.

mod events;
mod request;

use async_trait::async_trait;
use ports::ModelProvider;
use ports::model::{ModelError, ModelRequest, ModelStream};
use protocol::turn::ModelTier;
use reqwest::header::{HeaderMap, HeaderValue};

use super::ProviderConfigError;
use super::http::{ProviderClient, SecretRedactor, endpoint};
use super::options::{AnthropicOptions, model_of};
use super::{response_stream, title};

/// Version of the wire format, not of a model.
const VERSION: &str = "2023-06-01";

pub(super) struct AnthropicProvider {
    client: ProviderClient,
    options: AnthropicOptions,
}

impl AnthropicProvider {
    pub(super) fn new(options: &AnthropicOptions) -> Result<Self, ProviderConfigError> {
        let base = options.base_url.trim_end_matches('/');
        let endpoint = endpoint(base.strip_suffix("/v1").unwrap_or(base), &["v1", "messages"])?;
        let mut key =
            HeaderValue::try_from(&options.api_key).map_err(|_| ProviderConfigError::BadKey)?;
        key.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", key);
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        let host = endpoint.host_str().unwrap_or_default();
        let redactor = SecretRedactor::new([options.api_key.as_str(), &options.base_url, host]);
        let client = ProviderClient::new(endpoint, headers, options.timeouts, redactor)?;
        Ok(Self { client, options: options.clone() })
    }

    async fn send(
        &self,
        model: &str,
        max_tokens: u32,
        request: &ModelRequest,
    ) -> Result<ModelStream, ModelError> {
        let incoming = self.client.open(&request::body(model, max_tokens, request)).await?;
        Ok(response_stream::read(incoming, events::MessageEventReader::new(self.options.prices)))
    }
}

#[async_trait]
impl ModelProvider for AnthropicProvider {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn model(&self, tier: ModelTier) -> &str {
        model_of(tier, &self.options.model, &self.options.advanced_model)
    }

    fn window(&self, _: ModelTier) -> u64 {
        self.options.context_tokens
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.send(self.model(request.tier), self.options.max_output_tokens, &request).await
    }

    fn gives_titles(&self) -> bool {
        true
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        let request = title::request(message);
        title::collect(self.send(&self.options.title_model, title::MAX_TOKENS, &request)).await
    }
}
