//! Servers that speak chat completions: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and many more.

mod calls;
mod events;
mod request;

use async_trait::async_trait;
use ports::ModelProvider;
use ports::model::{ModelError, ModelRequest, ModelStream};
use protocol::turn::ModelTier;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::ConnectError;
use super::http::{Censor, Wire, endpoint};
use super::options::{OpenAiOptions, model_of};
use super::{reading, title};

pub(super) struct OpenAi {
    wire: Wire,
    options: OpenAiOptions,
    limit_name: request::LimitName,
}

impl OpenAi {
    pub(super) fn new(options: &OpenAiOptions) -> Result<Self, ConnectError> {
        let endpoint = endpoint(&options.base_url, &["chat", "completions"])?;
        let key = options.api_key.as_deref().unwrap_or_default();
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            let mut value =
                HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ConnectError::BadKey)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let censor = Censor::new([key, &options.base_url, endpoint.host_str().unwrap_or_default()]);
        let limit_name = request::LimitName::of(&endpoint);
        let wire = Wire::new(endpoint, headers, options.timeouts, censor)?;
        Ok(Self { wire, options: options.clone(), limit_name })
    }

    async fn ask(
        &self,
        model: &str,
        max_tokens: Option<u32>,
        request: &ModelRequest,
    ) -> Result<ModelStream, ModelError> {
        let body = request::body(model, max_tokens.map(|max| (self.limit_name, max)), request);
        let incoming = self.wire.open(&body).await?;
        Ok(reading::read(incoming, events::Chunks::new(self.options.prices)))
    }
}

#[async_trait]
impl ModelProvider for OpenAi {
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
        self.ask(self.model(request.tier), self.options.max_output_tokens, &request).await
    }

    fn gives_titles(&self) -> bool {
        true
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        let request = title::request(message);
        let asking = self.ask(&self.options.title_model, Some(title::MAX_TOKENS), &request);
        title::collect(asking).await
    }
}
