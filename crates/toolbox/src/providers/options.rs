//! Provider settings chosen by the operator.

use std::time::Duration;

use protocol::secret::SecretText;

#[derive(Clone, Debug, PartialEq)]
pub enum ProviderOptions {
    Offline {
        /// See `EndpointOptions::context_tokens`.
        context_tokens: u64,
    },
    OpenAi(OpenAiOptions),
    Anthropic(AnthropicOptions),
}

/// Default context window; most current models have at least this much.
pub const CONTEXT_TOKENS: u64 = 128_000;

/// What every provider behind an HTTP API has.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointOptions {
    pub base_url: String,
    pub model: String,
    pub advanced_model: String,
    pub title_model: String,
    pub timeouts: ProviderTimeouts,
    pub prices: TokenPrices,
    /// Context window of the models in tokens, including the response. A conversation close to it is compacted.
    pub context_tokens: u64,
}

/// Any server with the chat completions API.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenAiOptions {
    /// Its base URL includes the version, e.g. `https://api.openai.com/v1`.
    pub endpoint: EndpointOptions,
    /// Local servers often need none.
    pub api_key: Option<SecretText>,
    /// The server's default when absent.
    pub max_output_tokens: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnthropicOptions {
    /// Its base URL is e.g. `https://api.anthropic.com`; a trailing `/v1` is accepted.
    pub endpoint: EndpointOptions,
    pub api_key: SecretText,
    /// Without the reasoning. The API requires a number.
    pub max_output_tokens: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderTimeouts {
    pub connect: Duration,
    /// From the connection to the first byte of the response body.
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

/// Dollars per million tokens, for providers that do not report the cost. Used for both tiers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenPrices {
    pub input_per_mtok: Option<f64>,
    pub output_per_mtok: Option<f64>,
}

impl TokenPrices {
    /// `input` counts tokens at the full price. Dollars per million tokens equal microdollars per token, so no factor is
    /// needed. `None` unless both prices are set: a partial sum would be mistaken for the total.
    pub(crate) fn microdollars(&self, input: f64, output: u64) -> Option<u64> {
        let cost = input * self.input_per_mtok? + output as f64 * self.output_per_mtok?;
        Some(cost.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_in_the_debug_output() {
        let options = ProviderOptions::Anthropic(AnthropicOptions {
            endpoint: EndpointOptions {
                base_url: "https://api.example".into(),
                model: "m".into(),
                advanced_model: "m".into(),
                title_model: "m".into(),
                timeouts: ProviderTimeouts::default(),
                prices: TokenPrices::default(),
                context_tokens: CONTEXT_TOKENS,
            },
            api_key: "sk-very-secret".into(),
            max_output_tokens: 100,
        });
        assert!(!format!("{options:?}").contains("sk-very-secret"));
    }

    #[test]
    fn a_cost_needs_both_prices() {
        let both = TokenPrices { input_per_mtok: Some(3.0), output_per_mtok: Some(15.0) };
        assert_eq!(both.microdollars(1000.0, 100), Some(4500));
        assert_eq!(TokenPrices { output_per_mtok: None, ..both }.microdollars(1000.0, 100), None);
    }
}
