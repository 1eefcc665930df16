//! Provider for the chat completions API: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and many more.

mod events;
mod request;
mod tool_calls;

use async_trait::async_trait;
use ports::ModelProvider;
use ports::model::{ModelError, ModelRequest, ModelStream};
use protocol::turn::ModelTier;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::ProviderConfigError;
use super::http::{ProviderClient, SecretRedactor, endpoint};
use super::options::{OpenAiOptions, model_of};
use super::{response_stream, title};

pub(super) struct OpenAiProvider {
    client: ProviderClient,
    options: OpenAiOptions,
    limit_name: request::LimitName,
}

impl OpenAiProvider {
    pub(super) fn new(options: &OpenAiOptions) -> Result<Self, ProviderConfigError> {
        let endpoint = endpoint(&options.base_url, &["chat", "completions"])?;
        let key = options.api_key.as_deref().unwrap_or_default();
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| ProviderConfigError::BadKey)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let redactor =
            SecretRedactor::new([key, &options.base_url, endpoint.host_str().unwrap_or_default()]);
        let limit_name = request::LimitName::of(&endpoint);
        let client = ProviderClient::new(endpoint, headers, options.timeouts, redactor)?;
        Ok(Self { client, options: options.clone(), limit_name })
    }

    async fn send(
        &self,
        model: &str,
        max_tokens: Option<u32>,
        request: &ModelRequest,
    ) -> Result<ModelStream, ModelError> {
        let body = request::body(model, max_tokens.map(|max| (self.limit_name, max)), request);
        let incoming = self.client.open(&body).await?;
        Ok(response_stream::read(incoming, events::CompletionChunkReader::new(self.options.prices)))
    }
}

#[async_trait]
impl ModelProvider for OpenAiProvider {
    fn name(&self) -> &'static str {
        "openai"
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
        let response = self.send(&self.options.title_model, Some(title::MAX_TOKENS), &request);
        title::collect(response).await
    }
}
