//! Provider for the chat completions API: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and many more.

mod events;
mod request;
mod tool_calls;

use async_trait::async_trait;
use ports::model::{ModelError, ModelStream};
use protocol::secret::SecretText;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::ProviderConfigError;
use super::http::{ProviderClient, SecretRedactor, endpoint};
use super::options::OpenAiOptions;
use super::remote::{RemoteApi, RemoteCall};
use super::response_stream;

pub(crate) struct OpenAiApi {
    client: ProviderClient,
    options: OpenAiOptions,
    limit_name: request::LimitName,
}

impl OpenAiApi {
    pub(crate) fn new(options: &OpenAiOptions) -> Result<Self, ProviderConfigError> {
        let endpoint = endpoint(&options.endpoint.base_url, &["chat", "completions"])?;
        let key = options.api_key.as_ref().map(SecretText::expose).unwrap_or_default();
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| ProviderConfigError::BadKey)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let redactor = SecretRedactor::new([
            key,
            &options.endpoint.base_url,
            endpoint.host_str().unwrap_or_default(),
        ]);
        let limit_name = request::LimitName::of(&endpoint);
        let client = ProviderClient::new(endpoint, headers, options.endpoint.timeouts, redactor)?;
        Ok(Self { client, options: options.clone(), limit_name })
    }
}

#[async_trait]
impl RemoteApi for OpenAiApi {
    fn name(&self) -> &'static str {
        "openai"
    }

    async fn send(&self, call: RemoteCall<'_>) -> Result<ModelStream, ModelError> {
        let max_tokens = call.max_tokens.or(self.options.max_output_tokens);
        let body =
            request::body(call.model, max_tokens.map(|max| (self.limit_name, max)), call.request);
        let incoming = self.client.open(&body).await?;
        let reader = events::CompletionChunkReader::new(self.options.endpoint.prices);
        Ok(response_stream::read(incoming, reader))
    }
}
