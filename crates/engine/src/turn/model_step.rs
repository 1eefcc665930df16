//! One model call: its text and calls are recorded as they arrive, and it ends either in an answer or in calls, which
//! are journaled before any of them runs.

use std::future::Future;
use std::time::Duration;

use futures::StreamExt;
use ports::model::{ModelError, ModelEvent, ModelRequest, ModelStream, StopReason, ToolUse};
use ports::store::{JournalEntry, TurnProgress};
use protocol::CallId;
use protocol::chunk::Chunk;
use protocol::limits::STEP_CALLS;
use protocol::message::{MessageRole, NewMessage, ToolCall};
use protocol::text::scrub;
use protocol::turn::FailureCode;
use protocol::usage::Usage;
use serde_json::Value;

use super::TurnAttempt;
use super::halt::TurnHalt;
use super::tool_list::arguments;

/// The longest delay between two attempts, whatever the provider asks for.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// What a model call has sent so far. If the turn is stopped now, this is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialResponse {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    calls: Vec<Option<ToolCall>>,
}

pub(crate) enum StepEnd {
    /// Text and no calls: the turn is done.
    Answer(ModelAnswer),
    /// Calls, journaled and ready to run.
    Calls,
}

pub(crate) struct ModelAnswer {
    pub(crate) message: NewMessage,
    pub(crate) usage: Usage,
    pub(crate) reason: StopReason,
}

struct ModelFinish {
    reason: StopReason,
    usage: Usage,
    provider_state: Option<Value>,
}

impl TurnAttempt {
    pub(crate) async fn model_step(
        &mut self,
        progress: &TurnProgress,
        tool_use: ToolUse,
    ) -> Result<StepEnd, TurnHalt> {
        self.recorder.emit(Chunk::StartStep).await?;
        self.used_calls = progress
            .messages
            .iter()
            .flat_map(|row| &row.tool_calls)
            .map(|call| call.id.clone())
            .collect();
        let request = self.request(progress, tool_use);
        let finished = self.ask(&request).await?;
        self.window_estimate.observe_count(&request, finished.usage.prompt_tokens);
        self.recorder.end_text().await?;

        let partial = std::mem::take(&mut self.partial);
        let calls: Vec<ToolCall> = partial.calls.into_iter().flatten().collect();
        let mut message =
            NewMessage::new(MessageRole::Assistant, protocol::text::without_nul(&partial.text));
        message.reasoning = Some(partial.reasoning).filter(|text| !text.is_empty());
        message.model = Some(self.inner.model.model(self.turn.request.tier).to_owned());
        message.provider_state = finished.provider_state;
        if calls.is_empty() {
            if message.content.trim().is_empty() {
                // There is nothing to show, but the tokens were used.
                let spent = vec![JournalEntry::StepEnded { usage: finished.usage }];
                self.writer.record(spent).await?;
                return Err(TurnHalt::fail(
                    FailureCode::EmptyCompletion,
                    "The model ended without an answer. Sending the message again usually helps.",
                ));
            }
            let ModelFinish { reason, usage, .. } = finished;
            return Ok(StepEnd::Answer(ModelAnswer { message, usage, reason }));
        }
        self.emit_inputs(&calls).await?;
        self.journal(message, calls, finished.usage).await?;
        Ok(StepEnd::Calls)
    }

    /// Retries while nothing of the step was shown and the error is retryable.
    async fn ask(&mut self, request: &ModelRequest) -> Result<ModelFinish, TurnHalt> {
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.read_stream(request.clone()).await {
                Ok(finished) => return Ok(finished),
                Err(Interrupted::Halt(halt)) => return Err(halt),
                Err(Interrupted::Model(error)) => error,
            };
            metrics::counter!("pilothouse_provider_errors_total", "code" => error.failure_code().as_str())
                .increment(1);
            if !error.retryable()
                || self.partial.has_output()
                || tries >= self.inner.options.model_tries
            {
                tracing::warn!(%error, tries, "a model call failed");
                return Err(TurnHalt::fail(error.failure_code(), error.message));
            }
            let wait = retry_wait(&error, tries, self.inner.options.retry_base);
            tracing::info!(%error, tries, wait_ms = wait.as_millis() as u64, "a model call failed; retrying");
            let seconds = wait.as_secs_f64().ceil();
            self.recorder
                .emit(Chunk::status(format!(
                    "The model cannot be reached, trying again in {seconds} s…"
                )))
                .await?;
            tokio::select! {
                biased;
                reason = self.stop.stopped() => return Err(TurnHalt::Stop(reason)),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn read_stream(&mut self, request: ModelRequest) -> Result<ModelFinish, Interrupted> {
        let stop = self.stop.clone();
        let model = self.inner.model.clone();
        // A process that slept for longer than its lease must not act for the turn any more.
        if let Some(reason) = stop.cause() {
            return Err(TurnHalt::Stop(reason).into());
        }
        let mut stream: ModelStream = tokio::select! {
            biased;
            reason = stop.stopped() => return Err(TurnHalt::Stop(reason).into()),
            stream = self.with_idle_timeout(model.stream(request)) => stream??,
        };
        loop {
            // A stop takes precedence over a model that keeps sending.
            let event = tokio::select! {
                biased;
                reason = stop.stopped() => return Err(TurnHalt::Stop(reason).into()),
                event = self.with_idle_timeout(stream.next()) => event?,
            };
            match event {
                Some(Ok(ModelEvent::Finished { reason, usage, provider_state })) => {
                    return Ok(ModelFinish { reason, usage, provider_state });
                }
                Some(Ok(event)) => self.handle_event(event).await?,
                Some(Err(error)) => return Err(error.into()),
                None => {
                    return Err(TurnHalt::fail(
                        FailureCode::ProviderProtocol,
                        "The model's answer ended unexpectedly.",
                    )
                    .into());
                }
            }
        }
    }

    /// A running background call is work: while there is one, the turn is not idle.
    async fn with_idle_timeout<T>(&self, next: impl Future<Output = T>) -> Result<T, TurnHalt> {
        let idle = self.inner.options.stream_idle();
        let mut next = std::pin::pin!(next);
        loop {
            match tokio::time::timeout(idle, &mut next).await {
                Ok(next) => return Ok(next),
                Err(_) if !self.background_calls.running().is_empty() => {}
                Err(_) => return Err(self.idle_halt(idle)),
            }
        }
    }

    fn idle_halt(&self, idle: Duration) -> TurnHalt {
        let begun = self.partial.calls.iter().flatten();
        let unresolved: Vec<&str> = begun.map(|call| call.name.as_str()).collect();
        tracing::warn!(
            idle_seconds = idle.as_secs(),
            ?unresolved,
            "the model sent nothing for too long; the turn fails"
        );
        let mut words = format!("The model said nothing for {} seconds", idle.as_secs());
        if !unresolved.is_empty() {
            words.push_str(&format!(", in the middle of a call of {}", unresolved.join(", ")));
        }
        TurnHalt::fail(FailureCode::IdleTimeout, format!("{words}."))
    }

    async fn handle_event(&mut self, event: ModelEvent) -> Result<(), TurnHalt> {
        match event {
            ModelEvent::Text(delta) if delta.is_empty() => Ok(()),
            ModelEvent::Text(delta) => {
                self.partial.text.push_str(&delta);
                self.recorder.text(delta).await
            }
            ModelEvent::Reasoning(delta) if delta.is_empty() => Ok(()),
            ModelEvent::Reasoning(delta) => {
                self.partial.reasoning.push_str(&delta);
                self.recorder.reasoning(delta).await
            }
            ModelEvent::ToolCall { index, id, name } => self.handle_call(index, id, name).await,
            ModelEvent::ToolInput { index, delta } => {
                let Some(Some(call)) = self.partial.calls.get_mut(index) else {
                    return Err(TurnHalt::fail(
                        FailureCode::ProviderProtocol,
                        "The model sent arguments for a call it had not begun.",
                    ));
                };
                call.arguments.push_str(&delta);
                let tool_call_id = call.id.clone();
                self.recorder
                    .emit(Chunk::ToolInputDelta { tool_call_id, input_text_delta: delta })
                    .await
            }
            // Handled by the caller, because nothing follows it.
            ModelEvent::Finished { .. } => Ok(()),
        }
    }

    async fn handle_call(
        &mut self,
        index: usize,
        id: CallId,
        name: String,
    ) -> Result<(), TurnHalt> {
        if index >= STEP_CALLS {
            return Err(TurnHalt::fail(
                FailureCode::ProviderProtocol,
                format!("The model requested more than {STEP_CALLS} calls at once."),
            ));
        }
        self.recorder.end_text().await?;
        // Some servers restart their call ids in every answer, but a call id must be unique: the client and the journal
        // use it as a key.
        let taken =
            id.as_str().is_empty() || self.recorder.has_seen(&id) || self.used_calls.contains(&id);
        let id = if taken { CallId(format!("call_{}", CallId::fresh())) } else { id };
        if self.partial.calls.len() <= index {
            self.partial.calls.resize(index + 1, None);
        }
        self.partial.calls[index] =
            Some(ToolCall { id: id.clone(), name: name.clone(), arguments: String::new() });
        self.recorder.emit(Chunk::ToolInputStart { tool_call_id: id, tool_name: name }).await
    }

    /// Emits the complete input of each call for the client.
    async fn emit_inputs(&self, calls: &[ToolCall]) -> Result<(), TurnHalt> {
        for call in calls {
            let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
            let input = match arguments(call) {
                Ok(input) => scrub(input),
                // Shown as written; the result of the call will say what is wrong.
                Err(_) => Value::String(protocol::text::cut_end(
                    &protocol::text::without_nul(&call.arguments),
                    2000,
                )),
            };
            self.recorder
                .emit(Chunk::ToolInputAvailable { tool_call_id, tool_name, input })
                .await?;
        }
        Ok(())
    }

    /// Stored before any of the calls has an effect, and after all chunks of the step are stored.
    async fn journal(
        &mut self,
        mut message: NewMessage,
        calls: Vec<ToolCall>,
        usage: Usage,
    ) -> Result<(), TurnHalt> {
        self.recorder.flushed().await?;
        self.journaled_now.extend(calls.iter().map(|call| call.id.clone()));
        let intents: Vec<JournalEntry> = calls
            .iter()
            .map(|call| JournalEntry::Intent {
                call_id: call.id.clone(),
                effect: self.inner.tools.effect(&call.name),
            })
            .collect();
        message.tool_calls = calls;
        let mut entries = vec![JournalEntry::Message(message), JournalEntry::StepEnded { usage }];
        entries.extend(intents);
        self.writer.record(entries).await
    }
}

impl PartialResponse {
    pub(super) fn has_output(&self) -> bool {
        !self.text.is_empty() || !self.reasoning.is_empty() || !self.calls.is_empty()
    }
}

enum Interrupted {
    Halt(TurnHalt),
    Model(ModelError),
}

impl From<TurnHalt> for Interrupted {
    fn from(halt: TurnHalt) -> Self {
        Self::Halt(halt)
    }
}

impl From<ModelError> for Interrupted {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

/// Doubles with every attempt, with jitter so that many turns do not retry at the same moment.
fn retry_wait(error: &ModelError, tries: u32, base: Duration) -> Duration {
    let wait = error.retry_after().unwrap_or_else(|| {
        let doubled = base.saturating_mul(1 << (tries - 1).min(10));
        doubled.mul_f64(0.5 + rand::random::<f64>() / 2.0)
    });
    wait.min(MAX_RETRY_WAIT)
}
