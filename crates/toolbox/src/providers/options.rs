//! What an operator chooses about a provider.

use std::fmt;
use std::time::Duration;

use protocol::turn::ModelTier;

#[derive(Clone, Debug, PartialEq)]
pub enum ProviderOptions {
    Offline {
        /// See `OpenAiOptions::context_tokens`.
        context_tokens: u64,
    },
    OpenAi(OpenAiOptions),
    Anthropic(AnthropicOptions),
}

/// What a model can take when nobody says: most of today's take at least this much.
pub const CONTEXT_TOKENS: u64 = 128_000;

/// Any server that speaks chat completions.
#[derive(Clone, PartialEq)]
pub struct OpenAiOptions {
    /// With its version part, e.g. `https://api.openai.com/v1`.
    pub base_url: String,
    /// Servers on the own machine often want none.
    pub api_key: Option<String>,
    pub model: String,
    pub advanced_model: String,
    pub title_model: String,
    pub timeouts: ProviderTimeouts,
    pub prices: TokenPrices,
    /// Left to the server when absent.
    pub max_output_tokens: Option<u32>,
    /// Tokens the models can take, the answer included. A conversation that nears this is folded.
    pub context_tokens: u64,
}

#[derive(Clone, PartialEq)]
pub struct AnthropicOptions {
    /// E.g. `https://api.anthropic.com`; a version part at its end is understood.
    pub base_url: String,
    pub api_key: String,
    pub model: String,
    pub advanced_model: String,
    pub title_model: String,
    pub timeouts: ProviderTimeouts,
    pub prices: TokenPrices,
    /// Not counting the reasoning. The provider demands a number.
    pub max_output_tokens: u32,
    /// See `OpenAiOptions::context_tokens`.
    pub context_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderTimeouts {
    pub connect: Duration,
    /// From the connection to the first byte of the answer's body.
    pub first_byte: Duration,
    /// Between two bytes of the body.
    pub idle: Duration,
}

impl Default for ProviderTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(60),
        }
    }
}

/// Dollars per million tokens, for providers that do not name the cost themselves. They hold for
/// both tiers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenPrices {
    pub input_per_mtok: Option<f64>,
    pub output_per_mtok: Option<f64>,
}

impl TokenPrices {
    /// `input` counts tokens at the full price. Dollars per million tokens are also millionths of a
    /// dollar per token, so that no factor is needed. Half a price list names no cost: a sum that
    /// leaves out a part would be taken for the whole.
    pub(super) fn microdollars(&self, input: f64, output: u64) -> Option<u64> {
        let cost = input * self.input_per_mtok? + output as f64 * self.output_per_mtok?;
        Some(cost.round() as u64)
    }
}

pub(super) fn model_of<'a>(tier: ModelTier, standard: &'a str, advanced: &'a str) -> &'a str {
    match tier {
        ModelTier::Standard => standard,
        ModelTier::Advanced => advanced,
    }
}

const HIDDEN: &str = "<hidden>";

impl fmt::Debug for OpenAiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiOptions")
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key.as_ref().map(|_| HIDDEN))
            .field("model", &self.model)
            .field("advanced_model", &self.advanced_model)
            .field("title_model", &self.title_model)
            .field("timeouts", &self.timeouts)
            .field("prices", &self.prices)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("context_tokens", &self.context_tokens)
            .finish()
    }
}

impl fmt::Debug for AnthropicOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnthropicOptions")
            .field("base_url", &self.base_url)
            .field("api_key", &HIDDEN)
            .field("model", &self.model)
            .field("advanced_model", &self.advanced_model)
            .field("title_model", &self.title_model)
            .field("timeouts", &self.timeouts)
            .field("prices", &self.prices)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("context_tokens", &self.context_tokens)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_in_the_debug_output() {
        let options = ProviderOptions::Anthropic(AnthropicOptions {
            base_url: "https://api.example".into(),
            api_key: "sk-very-secret".into(),
            model: "m".into(),
            advanced_model: "m".into(),
            title_model: "m".into(),
            timeouts: ProviderTimeouts::default(),
            prices: TokenPrices::default(),
            max_output_tokens: 100,
            context_tokens: CONTEXT_TOKENS,
        });
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn a_cost_needs_both_prices() {
        let both = TokenPrices { input_per_mtok: Some(3.0), output_per_mtok: Some(15.0) };
        assert_eq!(both.microdollars(1000.0, 100), Some(4500));
        assert_eq!(TokenPrices { output_per_mtok: None, ..both }.microdollars(1000.0, 100), None);
    }
}
