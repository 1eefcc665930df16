//! Calls the model and collects its whole reply: with retries, metering and cancellation.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use ports::ModelProvider;
use ports::block::{BlockContext, BlockError};
use ports::model::{
    ModelError, ModelErrorKind, ModelEvent, ModelRequest, StopReason, ToolDefinition, ToolUse,
};
use protocol::block::MeteredUsage;
use protocol::message::ToolCall;
use protocol::turn::{ModelTier, TurnMode};

use super::prompt::ModelPrompt;
use super::shared_inputs::{MaxTokens, RequestedModel};
use crate::blocks::failures::unless_stopped;

/// Attempts while the provider is unreachable or busy. The wait before the second attempt is `FIRST_WAIT`; it doubles.
const ATTEMPTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Limit on the wait between attempts, including one requested by the provider.
const MAX_WAIT: Duration = Duration::from_secs(30);
const MAX_REPLY_BYTES: usize = 1024 * 1024;
/// Rule of thumb, for replies cut off before the provider reports usage.
const CHARS_PER_TOKEN: usize = 4;

/// The model, for one run of a block.
pub(crate) struct ModelClient {
    provider: Arc<dyn ModelProvider>,
    pub(crate) context: BlockContext,
}

/// Options of a model call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelCallOptions {
    pub(crate) model: RequestedModel,
    /// A text reply is cut off there.
    pub(crate) max_tokens: MaxTokens,
}

/// One call of the model.
#[derive(Clone, Copy)]
pub(crate) struct ModelCall<'a> {
    pub(crate) prompt: &'a ModelPrompt,
    pub(crate) tools: &'a Arc<[ToolDefinition]>,
    pub(crate) options: &'a ModelCallOptions,
}

/// The model's text and tool calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelReply {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
}

impl ModelReply {
    fn bytes(&self) -> usize {
        let call_bytes = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
        self.text.len() + call_bytes.sum::<usize>()
    }
}

impl ModelClient {
    pub(crate) fn new(provider: &Arc<dyn ModelProvider>, context: BlockContext) -> Self {
        Self { provider: provider.clone(), context }
    }

    /// Fails without a real model, for blocks that need an answer in a certain format.
    pub(crate) fn require_model(&self) -> Result<(), BlockError> {
        match self.provider.summarizes() {
            true => Ok(()),
            false => Err(BlockError::failed(
                "This block needs a language model, and none is configured on this server.",
            )),
        }
    }

    pub(crate) async fn ask(
        &self,
        prompt: &ModelPrompt,
        options: &ModelCallOptions,
    ) -> Result<String, BlockError> {
        Ok(self.call(ModelCall { prompt, tools: &[].into(), options }).await?.text)
    }

    /// Calls the model with tools that it may call.
    pub(crate) async fn call(&self, call: ModelCall<'_>) -> Result<ModelReply, BlockError> {
        call.prompt.check()?;
        unless_stopped(&self.context, self.call_with_retries(call)).await?
    }

    async fn call_with_retries(&self, call: ModelCall<'_>) -> Result<ModelReply, BlockError> {
        let (mut attempt, mut wait) = (1, FIRST_WAIT);
        loop {
            match self.call_once(call).await {
                Ok(reply) => return Ok(reply),
                Err(error) if error.retryable() && attempt < ATTEMPTS => {
                    tokio::time::sleep(error.retry_after().unwrap_or(wait).min(MAX_WAIT)).await;
                    attempt += 1;
                    wait *= 2;
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }

    async fn call_once(&self, call: ModelCall<'_>) -> Result<ModelReply, ModelError> {
        let ModelCall { prompt, options, .. } = call;
        let meter = &self.context.meter;
        let mut stream = self.provider.stream(self.request(call)).await?;
        let max_chars = options
            .max_tokens
            .0
            .map_or(usize::MAX, |tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        let (mut reply, mut chars) = (ModelReply::default(), 0);
        // Providers may number their calls arbitrarily; this maps their index to ours.
        let mut positions: HashMap<usize, usize> = HashMap::new();
        while let Some(event) = stream.next().await {
            match event? {
                ModelEvent::Text(delta) => {
                    chars += delta.chars().count();
                    reply.text.push_str(&delta);
                }
                ModelEvent::Finished { reason: StopReason::ContentFilter, usage, .. } => {
                    meter.model(&usage);
                    return Err(ModelError::new(
                        ModelErrorKind::Refused,
                        "The provider's content filter blocked the answer.",
                    ));
                }
                ModelEvent::Finished { usage, .. } => {
                    meter.model(&usage);
                    return Ok(reply);
                }
                ModelEvent::ToolCall { index, id, name } => {
                    positions.insert(index, reply.calls.len());
                    reply.calls.push(ToolCall { id, name, arguments: String::new() });
                }
                ModelEvent::ToolInput { index, delta } => {
                    if let Some(position) = positions.get(&index) {
                        reply.calls[*position].arguments.push_str(&delta);
                    }
                }
                ModelEvent::Reasoning(_) => {}
            }
            // Text can be cut off anywhere; a tool call cannot.
            if chars > max_chars && reply.calls.is_empty() {
                let tokens = (prompt.chars() + max_chars).div_ceil(CHARS_PER_TOKEN) as u64;
                meter.add(MeteredUsage { tokens, ..MeteredUsage::default() });
                let text = reply.text.chars().take(max_chars).collect();
                return Ok(ModelReply { text, ..reply });
            }
            if reply.bytes() > MAX_REPLY_BYTES {
                return Err(ModelError::new(ModelErrorKind::Broken, "The answer is too long."));
            }
        }
        Err(ModelError::new(ModelErrorKind::Broken, "The answer ended early."))
    }

    fn request(&self, call: ModelCall<'_>) -> ModelRequest {
        let ModelCall { prompt, tools, options } = call;
        let is_advanced =
            options.model.0.as_deref() == Some(self.provider.model(ModelTier::Advanced));
        ModelRequest {
            system: prompt.system.clone(),
            messages: prompt.messages.clone(),
            tools: tools.clone(),
            tool_use: if tools.is_empty() { ToolUse::Forbidden } else { ToolUse::Allowed },
            tier: if is_advanced { ModelTier::Advanced } else { ModelTier::Standard },
            mode: TurnMode::Fast,
        }
    }
}

fn failure(error: &ModelError) -> BlockError {
    let message = match error.kind {
        ModelErrorKind::Unreachable => "Could not reach the model.",
        ModelErrorKind::TimedOut => "The model did not answer in time.",
        ModelErrorKind::RateLimited { .. } => "The model provider is rate-limiting requests.",
        ModelErrorKind::Overloaded { .. } => "The model provider is overloaded.",
        ModelErrorKind::TooLong => "The prompt is too long for the model.",
        ModelErrorKind::Refused => "The model declined to answer.",
        ModelErrorKind::Auth => "The server's API key for the model is missing or invalid.",
        ModelErrorKind::Broken => "The model sent an invalid response.",
    };
    BlockError::failed(format!("{message} {}", error.message))
}
