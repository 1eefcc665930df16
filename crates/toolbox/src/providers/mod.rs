//! Model providers. To add one, write its module and add an arm to `connect`.

mod anthropic;
mod history;
mod http;
mod offline;
mod openai;
mod options;
mod remote;
mod response_stream;
mod title;

use std::sync::Arc;

use ports::ModelProvider;

use remote::RemoteProvider;

pub use offline::THEMES as OFFLINE_THEMES;
pub use options::{
    AnthropicOptions, CONTEXT_TOKENS, EndpointOptions, OpenAiOptions, ProviderOptions,
    ProviderTimeouts, TokenPrices,
};

/// Creates the provider without sending a request; an unreachable provider fails on its first request.
pub fn connect(options: &ProviderOptions) -> Result<Arc<dyn ModelProvider>, ProviderConfigError> {
    Ok(match options {
        ProviderOptions::Offline { context_tokens } => {
            Arc::new(offline::OfflinePilot { context_tokens: *context_tokens })
        }
        ProviderOptions::OpenAi(options) => Arc::new(RemoteProvider {
            api: openai::OpenAiApi::new(options)?,
            endpoint: options.endpoint.clone(),
        }),
        ProviderOptions::Anthropic(options) => Arc::new(RemoteProvider {
            api: anthropic::AnthropicApi::new(options)?,
            endpoint: options.endpoint.clone(),
        }),
    })
}

/// The configuration is invalid; the operator has to correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderConfigError {
    #[error(
        "the base URL of the model provider must be an http:// or https:// URL with a host and without a user name"
    )]
    BadAddress,
    #[error("the API key of the model provider contains characters that cannot be sent")]
    BadKey,
    #[error("could not create an HTTPS client; are the system's root certificates installed? {0}")]
    NoClient(String),
}
