//! One model call: recorded as it arrives, and retried while nothing of it was shown.

use std::collections::HashSet;
use std::future::Future;
use std::time::Duration;

use futures::StreamExt;
use ports::model::{ModelError, ModelEvent, ModelRequest, ModelStream, StopReason};
use protocol::CallId;
use protocol::chunk::Chunk;
use protocol::limits::STEP_CALLS;
use protocol::message::ToolCall;
use protocol::turn::FailureCode;
use protocol::usage::Usage;
use serde_json::Value;

use super::leased_turn::LeasedTurn;
use super::response_state::PartialResponse;
use super::tool_caller::ToolCaller;
use crate::job::halt::TurnHalt;

/// The longest delay between two attempts, whatever the provider asks for.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

pub(crate) struct ModelCall<'a> {
    pub(crate) calls: &'a ToolCaller,
    /// Every call id of the session so far.
    pub(crate) used_calls: HashSet<CallId>,
    /// What the model has sent: kept if the turn is stopped meanwhile.
    pub(crate) partial: &'a mut PartialResponse,
}

pub(crate) struct ModelFinish {
    pub(crate) reason: StopReason,
    pub(crate) usage: Usage,
    pub(crate) provider_state: Option<Value>,
}

impl ModelCall<'_> {
    /// Retries while nothing of the step was shown and the error is retryable.
    pub(crate) async fn ask(&mut self, request: &ModelRequest) -> Result<ModelFinish, TurnHalt> {
        let LeasedTurn { inner, stop, .. } = &**self.calls.leased();
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
            if !error.retryable() || self.partial.has_output() || tries >= inner.options.model_tries
            {
                tracing::warn!(%error, tries, "a model call failed");
                return Err(TurnHalt::fail(error.failure_code(), error.message));
            }
            let wait = retry_wait(&error, tries, inner.options.retry_base);
            tracing::info!(%error, tries, wait_ms = wait.as_millis() as u64, "a model call failed; retrying");
            let seconds = wait.as_secs_f64().ceil();
            let words = format!("The model cannot be reached, trying again in {seconds} s…");
            self.calls.writer.chunks.emit(Chunk::status(words)).await?;
            tokio::select! {
                biased;
                cause = stop.stopped() => return Err(cause.into()),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn read_stream(&mut self, request: ModelRequest) -> Result<ModelFinish, Interrupted> {
        let LeasedTurn { inner, stop, .. } = &**self.calls.leased();
        // A process that slept for longer than its lease must not act for the turn any more.
        stop.check().map_err(TurnHalt::from)?;
        let mut stream: ModelStream = tokio::select! {
            biased;
            cause = stop.stopped() => return Err(TurnHalt::Stop(cause).into()),
            stream = self.with_idle_timeout(inner.model.stream(request)) => stream??,
        };
        loop {
            // A stop takes precedence over a model that keeps sending.
            let event = tokio::select! {
                biased;
                cause = stop.stopped() => return Err(TurnHalt::Stop(cause).into()),
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
        let idle = self.calls.leased().inner.options.stream_idle();
        let mut next = std::pin::pin!(next);
        loop {
            match tokio::time::timeout(idle, &mut next).await {
                Ok(next) => return Ok(next),
                Err(_) if !self.calls.background_calls.running().is_empty() => {}
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
        let chunks = &self.calls.writer.chunks;
        match event {
            ModelEvent::Text(delta) if delta.is_empty() => Ok(()),
            ModelEvent::Text(delta) => {
                self.partial.text.push_str(&delta);
                chunks.text(delta).await
            }
            ModelEvent::Reasoning(delta) if delta.is_empty() => Ok(()),
            ModelEvent::Reasoning(delta) => {
                self.partial.reasoning.push_str(&delta);
                chunks.reasoning(delta).await
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
                chunks.emit(Chunk::ToolInputDelta { tool_call_id, input_text_delta: delta }).await
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
        let chunks = &self.calls.writer.chunks;
        chunks.end_text().await?;
        // Some servers restart their call ids in every answer, but a call id must be unique: the client and the journal
        // use it as a key.
        let taken = id.as_str().is_empty() || chunks.has_seen(&id) || self.used_calls.contains(&id);
        let id = if taken { CallId(format!("call_{}", CallId::fresh())) } else { id };
        if self.partial.calls.len() <= index {
            self.partial.calls.resize(index + 1, None);
        }
        self.partial.calls[index] =
            Some(ToolCall { id: id.clone(), name: name.clone(), arguments: String::new() });
        chunks.emit(Chunk::ToolInputStart { tool_call_id: id, tool_name: name }).await
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
