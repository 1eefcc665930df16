//! Asks the model and collects its whole answer, within bounds: again while the provider is unreachable or busy, and once
//! more if the answer cannot be read.

use std::time::Duration;

use futures::StreamExt;
use ports::ModelProvider;
use ports::agent_generator::GeneratorError;
use ports::model::{
    ModelError, ModelErrorKind, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolUse,
};
use protocol::limits::GRAPH_BYTES;
use protocol::text::cut_end;
use protocol::turn::{ModelTier, TurnMode};

use super::prompts;

/// Requests while the provider is unreachable or busy. The wait before the second is `FIRST_WAIT`; it doubles.
const ATTEMPTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Limit on the wait between requests, including one that the provider asks for.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// An agent with some text around it.
const MAX_ANSWER_BYTES: usize = 2 * GRAPH_BYTES;
/// What the model sees again of an answer that could not be read.
const QUOTED_CHARS: usize = 4_000;

pub(crate) struct Conversation<'a> {
    provider: &'a dyn ModelProvider,
    system: String,
    question: String,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(provider: &'a dyn ModelProvider, system: String, question: String) -> Self {
        Self { provider, system, question }
    }

    /// The answer as `read` understands it; its error says what is wrong with an answer.
    pub(crate) async fn answer<T>(
        &self,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, GeneratorError> {
        let question = ModelMessage::User { text: self.question.clone() };
        let first = self.ask(vec![question.clone()]).await?;
        let why = match read(&first) {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        let mut messages = vec![question];
        // Providers refuse an empty message; without it, the question is simply asked again.
        if !first.trim().is_empty() {
            messages.push(ModelMessage::Assistant {
                text: cut_end(&first, QUOTED_CHARS),
                tool_calls: Vec::new(),
                provider_state: None,
            });
            messages.push(ModelMessage::User { text: prompts::unreadable(&why) });
        }
        let second = self.ask(messages).await?;
        read(&second).map_err(|why| {
            let message = format!("The model's answer cannot be used: {why}.");
            GeneratorError::new("llm_parse_error", message)
        })
    }

    async fn ask(&self, messages: Vec<ModelMessage>) -> Result<String, GeneratorError> {
        let (mut attempt, mut wait) = (1, FIRST_WAIT);
        loop {
            match self.ask_once(messages.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.retryable() && attempt < ATTEMPTS => {
                    tokio::time::sleep(error.retry_after().unwrap_or(wait).min(MAX_WAIT)).await;
                    attempt += 1;
                    wait *= 2;
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }

    async fn ask_once(&self, messages: Vec<ModelMessage>) -> Result<String, ModelError> {
        let request = ModelRequest {
            system: self.system.clone(),
            messages,
            tools: [].into(),
            tool_use: ToolUse::Forbidden,
            tier: ModelTier::Standard,
            mode: TurnMode::Fast,
        };
        let mut stream = self.provider.stream(request).await?;
        let mut answer = String::new();
        while let Some(event) = stream.next().await {
            match event? {
                ModelEvent::Text(delta) => answer.push_str(&delta),
                ModelEvent::Finished { reason, .. } => return finished(answer, reason),
                ModelEvent::Reasoning(_)
                | ModelEvent::ToolCall { .. }
                | ModelEvent::ToolInput { .. } => {}
            }
            if answer.len() > MAX_ANSWER_BYTES {
                return Err(ModelError::new(ModelErrorKind::Broken, "The answer is too long."));
            }
        }
        Err(ModelError::new(ModelErrorKind::Broken, "The answer ended early."))
    }
}

fn finished(answer: String, reason: StopReason) -> Result<String, ModelError> {
    let refused = |why: &str| Err(ModelError::new(ModelErrorKind::Refused, why));
    match reason {
        StopReason::ContentFilter => refused("The provider's content filter blocked the answer."),
        // Half an agent may be a valid agent that does something else.
        StopReason::Length => refused(
            "The answer was cut off at the limit for one response. CHAT_MAX_OUTPUT_TOKENS raises it.",
        ),
        StopReason::Stop | StopReason::ToolCalls | StopReason::Other => Ok(answer),
    }
}

/// The kinds that clients see in error codes.
fn failure(error: &ModelError) -> GeneratorError {
    let kind = match error.kind {
        ModelErrorKind::TimedOut => "timeout",
        ModelErrorKind::RateLimited { .. } => "rate_limit",
        ModelErrorKind::Overloaded { .. } => "service_unavailable",
        ModelErrorKind::Unreachable => "connection_error",
        ModelErrorKind::TooLong
        | ModelErrorKind::Refused
        | ModelErrorKind::Auth
        | ModelErrorKind::Broken => "llm_error",
    };
    GeneratorError::new(kind, error.message.clone())
}
