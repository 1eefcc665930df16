//! The Anthropic messages API.

mod events;
mod request;

use async_trait::async_trait;
use ports::ModelProvider;
use ports::model::{ModelError, ModelRequest, ModelStream};
use protocol::turn::ModelTier;
use reqwest::header::{HeaderMap, HeaderValue};

use super::ConnectError;
use super::http::{Censor, Wire, endpoint};
use super::options::{AnthropicOptions, model_of};
use super::{reading, title};

/// The version of the wire format, not of a model.
const VERSION: &str = "2023-06-01";

pub(super) struct Anthropic {
    wire: Wire,
    options: AnthropicOptions,
}

impl Anthropic {
    pub(super) fn new(options: &AnthropicOptions) -> Result<Self, ConnectError> {
        let base = options.base_url.trim_end_matches('/');
        let endpoint = endpoint(base.strip_suffix("/v1").unwrap_or(base), &["v1", "messages"])?;
        let mut key = HeaderValue::try_from(&options.api_key).map_err(|_| ConnectError::BadKey)?;
        key.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", key);
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        let host = endpoint.host_str().unwrap_or_default();
        let censor = Censor::new([options.api_key.as_str(), &options.base_url, host]);
        let wire = Wire::new(endpoint, headers, options.timeouts, censor)?;
        Ok(Self { wire, options: options.clone() })
    }

    async fn ask(
        &self,
        model: &str,
        max_tokens: u32,
        request: &ModelRequest,
    ) -> Result<ModelStream, ModelError> {
        let incoming = self.wire.open(&request::body(model, max_tokens, request)).await?;
        Ok(reading::read(incoming, events::Blocks::new(self.options.prices)))
    }
}

#[async_trait]
impl ModelProvider for Anthropic {
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
        self.ask(self.model(request.tier), self.options.max_output_tokens, &request).await
    }

    fn gives_titles(&self) -> bool {
        true
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        let request = title::request(message);
        title::collect(self.ask(&self.options.title_model, title::MAX_TOKENS, &request)).await
    }
}
