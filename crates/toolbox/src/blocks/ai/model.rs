//! One question to the model and its whole answer, tried again while that can help, metered, and stopped with the run.

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

use super::super::failures::unless_stopped;
use super::prompt::Prompt;

/// Attempts while the provider is away or busy, and the wait before the second one; it doubles.
const ATTEMPTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest that a provider can make a run wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const ANSWER_BYTES: usize = 1024 * 1024;
/// The usual rule of thumb, for answers that are cut before the provider has counted.
const CHARS_PER_TOKEN: usize = 4;

#[derive(Clone)]
pub(super) struct Model(Arc<dyn ModelProvider>);

/// How a question is asked, besides its words.
#[derive(Clone, Debug, Default)]
pub(super) struct Asking {
    /// A model's name. One that this server is not configured with means the one that it is.
    pub(super) model: Option<String>,
    /// The answer is cut after about so many.
    pub(super) max_tokens: Option<usize>,
}

/// What it said, and what it wants to be called.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
}

impl Answer {
    fn bytes(&self) -> usize {
        let of_calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
        self.text.len() + of_calls.sum::<usize>()
    }
}

impl Model {
    pub(super) fn new(provider: Arc<dyn ModelProvider>) -> Self {
        Self(provider)
    }

    /// For blocks that need an answer of a certain form, which only a real model can give.
    pub(super) fn must_understand(&self) -> Result<(), BlockError> {
        match self.0.summarises() {
            true => Ok(()),
            false => Err(BlockError::failed(
                "No model is configured on this server, and this block cannot work without one.",
            )),
        }
    }

    pub(super) async fn ask(
        &self,
        prompt: &Prompt,
        asking: &Asking,
        context: &BlockContext,
    ) -> Result<String, BlockError> {
        Ok(self.decide(prompt, &[].into(), asking, context).await?.text)
    }

    /// Asks with tools that it may call instead of answering, or besides.
    pub(super) async fn decide(
        &self,
        prompt: &Prompt,
        tools: &Arc<[ToolDefinition]>,
        asking: &Asking,
        context: &BlockContext,
    ) -> Result<Answer, BlockError> {
        prompt.check()?;
        unless_stopped(context, self.insist(prompt, tools, asking, context)).await?
    }

    async fn insist(
        &self,
        prompt: &Prompt,
        tools: &Arc<[ToolDefinition]>,
        asking: &Asking,
        context: &BlockContext,
    ) -> Result<Answer, BlockError> {
        let (mut attempt, mut wait) = (1, FIRST_WAIT);
        loop {
            match self.once(prompt, tools, asking, context).await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.retryable() && attempt < ATTEMPTS => {
                    tokio::time::sleep(error.retry_after().unwrap_or(wait).min(LONGEST_WAIT)).await;
                    attempt += 1;
                    wait *= 2;
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }

    async fn once(
        &self,
        prompt: &Prompt,
        tools: &Arc<[ToolDefinition]>,
        asking: &Asking,
        context: &BlockContext,
    ) -> Result<Answer, ModelError> {
        let mut stream = self.0.stream(self.request(prompt, tools, asking)).await?;
        let most_chars =
            asking.max_tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        let (mut answer, mut chars) = (Answer::default(), 0);
        // A provider may number its calls as it likes.
        let mut places: HashMap<usize, usize> = HashMap::new();
        while let Some(event) = stream.next().await {
            match event? {
                ModelEvent::Text(delta) => {
                    chars += delta.chars().count();
                    answer.text.push_str(&delta);
                }
                ModelEvent::Finished { reason: StopReason::ContentFilter, usage, .. } => {
                    context.meter.model(&usage);
                    return Err(ModelError::new(
                        ModelErrorKind::Refused,
                        "It holds the content back.",
                    ));
                }
                ModelEvent::Finished { usage, .. } => {
                    context.meter.model(&usage);
                    return Ok(answer);
                }
                ModelEvent::ToolCall { index, id, name } => {
                    places.insert(index, answer.calls.len());
                    answer.calls.push(ToolCall { id, name, arguments: String::new() });
                }
                ModelEvent::ToolInput { index, delta } => {
                    if let Some(place) = places.get(&index) {
                        answer.calls[*place].arguments.push_str(&delta);
                    }
                }
                ModelEvent::Reasoning(_) => {}
            }
            // Words can be cut anywhere, a call cannot.
            if chars > most_chars && answer.calls.is_empty() {
                let tokens = (prompt.chars() + most_chars).div_ceil(CHARS_PER_TOKEN) as u64;
                context.meter.add(MeteredUsage { tokens, ..MeteredUsage::default() });
                let text = answer.text.chars().take(most_chars).collect();
                return Ok(Answer { text, ..answer });
            }
            if answer.bytes() > ANSWER_BYTES {
                return Err(ModelError::new(ModelErrorKind::Broken, "Its answer does not end."));
            }
        }
        Err(ModelError::new(ModelErrorKind::Broken, "It stopped in the middle of its answer."))
    }

    fn request(
        &self,
        prompt: &Prompt,
        tools: &Arc<[ToolDefinition]>,
        asking: &Asking,
    ) -> ModelRequest {
        let is_advanced = asking.model.as_deref() == Some(self.0.model(ModelTier::Advanced));
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
    let what = match error.kind {
        ModelErrorKind::Unreachable => "The model cannot be reached.",
        ModelErrorKind::TimedOut => "The model did not answer in time.",
        ModelErrorKind::RateLimited { .. } => "The model is asked too often at the moment.",
        ModelErrorKind::Overloaded { .. } => "The model has too much to do at the moment.",
        ModelErrorKind::TooLong => "The prompt is longer than the model can read.",
        ModelErrorKind::Refused => "The model refuses to answer this.",
        ModelErrorKind::Auth => "The server's key for the model is missing or wrong.",
        ModelErrorKind::Broken => "The model's answer cannot be read.",
    };
    BlockError::failed(format!("{what} {}", error.message))
}
