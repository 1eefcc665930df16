//! Asks the model for a summary. A failure costs the summary, not the turn.

use std::time::Duration;

use futures::StreamExt;
use ports::model::{
    ModelError, ModelErrorKind, ModelEvent, ModelMessage, ModelProvider, ModelRequest, ToolUse,
};
use protocol::text::{cut_end, without_nul};
use protocol::turn::{ModelTier, TurnMode};
use protocol::usage::Usage;

use super::draft::CompactionDraft;
use super::measure::{bytes, percent};
use super::transcript;
use crate::job::halt::TurnHalt;
use crate::job::stop::StopSignal;

const SYSTEM: &str = include_str!("summary.md");
/// Percent of the window that the transcript to summarize may take.
const TRANSCRIPT_PERCENT: u64 = 60;
/// Time limit for a summary, so that a model that never ends does not hold up the turn.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);
/// A digest is worth so much less than a summary that an overloaded provider is asked again.
const MAX_TRIES: u32 = 2;
const MAX_RETRY_WAIT: Duration = Duration::from_secs(10);

#[derive(Debug, Default, PartialEq)]
pub(crate) struct SummaryReply {
    pub(crate) text: Option<String>,
    /// Usage, if the provider's stream ended normally.
    pub(crate) usage: Option<Usage>,
}

pub(crate) fn request(draft: &CompactionDraft<'_>, tier: ModelTier, window: u64) -> ModelRequest {
    let mut text = String::new();
    if let Some(earlier) = &draft.earlier {
        text.push_str(&format!("Your notes of what came before:\n\n{earlier}\n\n"));
    }
    let conversation = transcript::whole(&draft.rows, bytes(percent(window, TRANSCRIPT_PERCENT)));
    text.push_str(&format!(
        "The conversation:\n\n{conversation}\n\nHere it ends. Write the notes of all of it now."
    ));
    ModelRequest {
        system: SYSTEM.to_owned(),
        messages: vec![ModelMessage::User { text }],
        tools: [].into(),
        tool_use: ToolUse::Forbidden,
        tier,
        mode: TurnMode::Fast,
    }
}

/// Keeps at most `chars` characters. Only a stop of the turn is an error.
pub(crate) async fn ask(
    model: &dyn ModelProvider,
    request: ModelRequest,
    stop: &StopSignal,
    idle: Duration,
    chars: usize,
) -> Result<SummaryReply, TurnHalt> {
    // A process that slept for longer than its lease must not act for the turn any more.
    stop.check()?;
    let asking =
        tokio::time::timeout(SUMMARY_TIMEOUT, ask_with_retries(model, request, idle, chars));
    let reply = tokio::select! {
        biased;
        cause = stop.stopped() => return Err(cause.into()),
        reply = asking => reply.unwrap_or_else(|_| Err(timed_out())),
    };
    Ok(reply.unwrap_or_else(|error| {
        tracing::warn!(%error, "could not get a summary; using the first lines of each message instead");
        SummaryReply::default()
    }))
}

async fn ask_with_retries(
    model: &dyn ModelProvider,
    request: ModelRequest,
    idle: Duration,
    chars: usize,
) -> Result<SummaryReply, ModelError> {
    let mut tries = 1;
    loop {
        match read_stream(model, request.clone(), idle, chars).await {
            Err(error) if error.retryable() && tries < MAX_TRIES => {
                tries += 1;
                let wait = error.retry_after().unwrap_or(Duration::from_secs(1));
                tokio::time::sleep(wait.min(MAX_RETRY_WAIT)).await;
            }
            reply => return reply,
        }
    }
}

async fn read_stream(
    model: &dyn ModelProvider,
    request: ModelRequest,
    idle: Duration,
    chars: usize,
) -> Result<SummaryReply, ModelError> {
    let within = |_| timed_out();
    let mut stream = tokio::time::timeout(idle, model.stream(request)).await.map_err(within)??;
    let mut text = String::new();
    while let Some(event) = tokio::time::timeout(idle, stream.next()).await.map_err(within)? {
        match event? {
            // Text beyond the limit is not kept but read, because only the end of the stream reports the usage.
            ModelEvent::Text(delta) if text.len() <= 4 * chars => text.push_str(&delta),
            ModelEvent::Finished { usage, .. } => {
                let text = cut_end(without_nul(text.trim()).as_str(), chars);
                return Ok(SummaryReply {
                    text: Some(text).filter(|text| !text.is_empty()),
                    usage: Some(usage),
                });
            }
            _ => {}
        }
    }
    Err(ModelError::new(ModelErrorKind::Broken, "The model's answer ended unexpectedly."))
}

fn timed_out() -> ModelError {
    ModelError::new(ModelErrorKind::TimedOut, "The model took too long for a summary.")
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
