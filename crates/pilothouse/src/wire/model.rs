//! The model provider that the settings select.

use std::sync::Arc;

use ports::ModelProvider;
use protocol::turn::ModelTier;
use toolbox::providers::{
    AnthropicOptions, EndpointOptions, OpenAiOptions, ProviderOptions, ProviderTimeouts,
    TokenPrices,
};

use crate::config::{SelectedProvider, Settings};
use crate::http::ModelInfo;

/// Used when the settings name no model.
const OPENAI_MODEL: &str = "gpt-5-mini";
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";
/// Anthropic requires a limit.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 16_384;

/// Sends no request yet.
pub(crate) fn provider(settings: &Settings) -> anyhow::Result<Arc<dyn ModelProvider>> {
    let provider = settings.provider().map_err(anyhow::Error::msg)?;
    Ok(toolbox::providers::connect(&provider_options(settings, provider))?)
}

pub(crate) fn describe(provider: &dyn ModelProvider) -> ModelInfo {
    ModelInfo {
        provider: provider.name().to_owned(),
        name: provider.model(ModelTier::Standard).to_owned(),
    }
}

fn provider_options(settings: &Settings, provider: SelectedProvider) -> ProviderOptions {
    match provider {
        SelectedProvider::Offline => {
            ProviderOptions::Offline { context_tokens: settings.context_tokens }
        }
        SelectedProvider::OpenAi { base_url, api_key } => ProviderOptions::OpenAi(OpenAiOptions {
            endpoint: endpoint(settings, base_url.to_string(), OPENAI_MODEL),
            api_key,
            max_output_tokens: settings.max_output_tokens,
        }),
        SelectedProvider::Anthropic { api_key } => ProviderOptions::Anthropic(AnthropicOptions {
            endpoint: endpoint(settings, settings.anthropic_base_url.to_string(), ANTHROPIC_MODEL),
            api_key,
            max_output_tokens: settings.max_output_tokens.unwrap_or(ANTHROPIC_OUTPUT_TOKENS),
        }),
    }
}

fn endpoint(settings: &Settings, base_url: String, default_model: &str) -> EndpointOptions {
    let model = settings.chat_model.clone().unwrap_or_else(|| default_model.to_owned());
    EndpointOptions {
        base_url,
        advanced_model: settings.chat_advanced_model.clone().unwrap_or_else(|| model.clone()),
        title_model: settings.chat_title_model.clone().unwrap_or_else(|| model.clone()),
        model,
        timeouts: ProviderTimeouts {
            connect: settings.provider_connect.0,
            first_byte: settings.provider_first_byte.0,
            idle: settings.provider_idle.0,
        },
        prices: TokenPrices {
            input_per_mtok: settings.input_price,
            output_per_mtok: settings.output_price,
        },
        context_tokens: settings.context_tokens,
    }
}
