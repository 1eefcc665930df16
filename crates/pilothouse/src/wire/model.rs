//! The model provider that the settings select.

use std::sync::Arc;

use ports::ModelProvider;
use protocol::turn::ModelTier;
use toolbox::providers::{
    AnthropicOptions, OpenAiOptions, ProviderOptions, ProviderTimeouts, TokenPrices,
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
    let named = |default: &str| settings.chat_model.clone().unwrap_or_else(|| default.to_owned());
    let or =
        |choice: &Option<String>, model: &str| choice.clone().unwrap_or_else(|| model.to_owned());
    let timeouts = ProviderTimeouts {
        connect: settings.provider_connect.0,
        first_byte: settings.provider_first_byte.0,
        idle: settings.provider_idle.0,
    };
    let prices = TokenPrices {
        input_per_mtok: settings.input_price,
        output_per_mtok: settings.output_price,
    };
    match provider {
        SelectedProvider::Offline => {
            ProviderOptions::Offline { context_tokens: settings.context_tokens }
        }
        SelectedProvider::OpenAi { base_url, api_key } => {
            let model = named(OPENAI_MODEL);
            ProviderOptions::OpenAi(OpenAiOptions {
                base_url: base_url.to_string(),
                api_key: api_key.map(|key| key.expose().to_owned()),
                advanced_model: or(&settings.chat_advanced_model, &model),
                title_model: or(&settings.chat_title_model, &model),
                model,
                timeouts,
                prices,
                context_tokens: settings.context_tokens,
                max_output_tokens: settings.max_output_tokens,
            })
        }
        SelectedProvider::Anthropic { api_key } => {
            let model = named(ANTHROPIC_MODEL);
            ProviderOptions::Anthropic(AnthropicOptions {
                base_url: settings.anthropic_base_url.to_string(),
                api_key: api_key.expose().to_owned(),
                advanced_model: or(&settings.chat_advanced_model, &model),
                title_model: or(&settings.chat_title_model, &model),
                model,
                timeouts,
                prices,
                context_tokens: settings.context_tokens,
                max_output_tokens: settings.max_output_tokens.unwrap_or(ANTHROPIC_OUTPUT_TOKENS),
            })
        }
    }
}
