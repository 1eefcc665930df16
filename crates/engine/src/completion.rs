//! The one end of a turn. Completed, failed or cancelled: the last rows, the closing chunks and the
//! status are one fenced write, so nobody sees an end that is not true or a truth that has no end.

use std::sync::Arc;
use std::time::Duration;

use ports::model::StopReason as ModelStop;
use ports::store::{Ending, Progress};
use ports::{Fenced, Signal};
use protocol::chunk::{Chunk, FinishReason};
use protocol::message::{Message, NewMessage, Outcome, Role, ToolCall};
use protocol::response::ToolResponse;
use protocol::turn::{Claim, Turn, TurnError, TurnStatus};
use protocol::usage::Usage;
use serde_json::{Value, json};

use crate::Inner;
use crate::title;
use crate::turn::halt::Halt;
use crate::turn::insist::insist_fenced;
use crate::turn::{Answer, Closing, Said, Stop, decide, takeover, tool_step};
use tokio::time::Instant;

/// Between two tries to store an end that the store could not take.
const RETRY: Duration = Duration::from_millis(500);

pub(crate) enum End {
    Completed(Answer),
    Failed(TurnError),
    Cancelled,
}

/// What an attempt leaves to be ended.
pub(crate) struct Leftovers {
    pub(crate) inner: Arc<Inner>,
    pub(crate) claim: Claim,
    pub(crate) turn: Turn,
    pub(crate) stop: Arc<Stop>,
    pub(crate) closing: Closing,
    pub(crate) said: Said,
    /// What the steps before the last one have used.
    pub(crate) spent: Usage,
    pub(crate) started: Instant,
    /// What the session could be named after, if it has no name.
    pub(crate) untitled: Option<String>,
}

pub(crate) async fn end(left: Leftovers, end: End) {
    let Leftovers { inner, claim, turn, stop, closing, said, spent, started, untitled } = left;
    let rows = match last_rows(&inner, &claim, &turn, &stop, &end, said).await {
        Ok(rows) => rows,
        Err(halt) => {
            tracing::warn!(?halt, "a turn could not be ended; whoever has it next will");
            return;
        }
    };
    let (status, error, usage) = match end {
        End::Completed(ref answer) => (TurnStatus::Completed, None, answer.usage),
        End::Failed(ref error) => (TurnStatus::Failed, Some(error.clone()), Usage::default()),
        End::Cancelled => (TurnStatus::Cancelled, None, Usage::default()),
    };
    let Some(last) = closing_segment(closing, &turn, spent, &end) else { return };
    let named = untitled.filter(|_| status == TurnStatus::Completed);
    let (title, to_ask) = match inner.model.gives_titles() {
        true => (None, named),
        false => (named.as_deref().map(title::shorten), None),
    };
    let ending = Ending { status, error, messages: rows, usage, title, last };
    let Some(due) = store(&inner, &claim, &stop, ending).await else { return };

    inner.ports.bus.publish(Signal::Ended(turn.id.clone()));
    metrics::counter!("pilothouse_turns_ended_total", "status" => status.as_str()).increment(1);
    metrics::histogram!("pilothouse_turn_seconds").record(started.elapsed());
    tracing::info!(
        status = status.as_str(),
        duration_ms = started.elapsed().as_millis() as u64,
        "turn ended"
    );
    for next in due {
        if let Err(error) = inner.ports.queue.push(&next).await {
            tracing::warn!(turn.id = %next, %error, "the next turn could not be pushed; the sweeper will");
        }
    }
    if let Some(words) = to_ask {
        title::ask(&inner, &turn, words);
    }
}

/// Ends a turn whose attempt is gone without a word, as after a panic.
pub(crate) async fn end_abandoned(
    inner: &Arc<Inner>,
    claim: &Claim,
    turn: &Turn,
    stop: Arc<Stop>,
    how: End,
) {
    match takeover::closing(inner, claim, turn, &stop).await {
        Ok(closing) => {
            let left = Leftovers {
                inner: inner.clone(),
                claim: claim.clone(),
                turn: turn.clone(),
                stop,
                closing,
                said: Said::default(),
                spent: turn.usage,
                started: Instant::now(),
                untitled: None,
            };
            end(left, how).await;
        }
        Err(halt) => {
            tracing::warn!(?halt, "an abandoned turn could not be ended; its lease will run out")
        }
    }
}

/// The rows that an end leaves in the history: the answer, or what was said so far and a notice, with a result for
/// every call.
async fn last_rows(
    inner: &Inner,
    claim: &Claim,
    turn: &Turn,
    stop: &Stop,
    end: &End,
    said: Said,
) -> Result<Vec<NewMessage>, Halt> {
    let (outcome, notice) = match end {
        End::Completed(answer) => return Ok(vec![answer.message.clone()]),
        End::Cancelled => (Outcome::Cancelled, notice("Stopped.", "stopped", "cancelled", true)),
        End::Failed(error) => {
            let code = error.code;
            (
                Outcome::Interrupted,
                notice(&error.message, "error", code.as_str(), code.worth_retrying()),
            )
        }
    };
    let progress = insist_fenced(stop, || inner.ports.turns.progress(claim)).await?;
    let mut rows: Vec<NewMessage> = unanswered(&progress, turn)
        .iter()
        .map(|call| tool_step::result_row(call, &without_result(outcome), outcome))
        .collect();
    if !said.text.trim().is_empty() {
        let mut partial = NewMessage::new(Role::Assistant, protocol::text::without_nul(&said.text));
        partial.reasoning = Some(said.reasoning).filter(|text| !text.is_empty());
        partial.model = Some(inner.model.model(turn.request.tier).to_owned());
        partial.metadata = Some(json!({ "partial": true }));
        rows.push(partial);
    }
    rows.push(notice);
    Ok(rows)
}

fn unanswered(progress: &Progress, turn: &Turn) -> Vec<ToolCall> {
    let rows: Vec<&Message> =
        progress.messages.iter().filter(|row| row.turn_id == turn.id).collect();
    decide::unanswered(&rows)
}

fn without_result(outcome: Outcome) -> Value {
    let response = match outcome {
        Outcome::Cancelled => ToolResponse::error("cancelled", tool_step::CANCELLED),
        _ => ToolResponse::error("interrupted", tool_step::INTERRUPTED),
    };
    json!(response)
}

/// A row for the person, which the model never sees.
fn notice(words: &str, kind: &str, code: &str, retry: bool) -> NewMessage {
    let mut row = NewMessage::new(Role::System, words);
    row.metadata = Some(json!({ "kind": kind, "code": code, "retryable": retry }));
    row
}

fn closing_segment(
    mut closing: Closing,
    turn: &Turn,
    spent: Usage,
    end: &End,
) -> Option<protocol::Segment> {
    if !closing.parts().started {
        let message_id = turn.message_id.clone();
        closing.push(&Chunk::Start { message_id, message_metadata: None });
    }
    let why = match end {
        End::Cancelled => tool_step::CANCELLED,
        End::Failed(_) | End::Completed(_) => tool_step::INTERRUPTED,
    };
    for chunk in closing.parts().end_all(why) {
        closing.push(&chunk);
    }
    match end {
        End::Completed(answer) => {
            let mut usage = spent;
            usage += answer.usage;
            closing.push(&Chunk::DataUsage { data: usage });
            closing.push(&Chunk::Finish {
                finish_reason: Some(finish_reason(answer.reason)),
                message_metadata: Some(json!({ "turnId": turn.id })),
            });
        }
        End::Failed(error) => {
            closing.push(&Chunk::error(error.code.as_str(), &error.message));
            let finish_reason = Some(FinishReason::Error);
            closing.push(&Chunk::Finish { finish_reason, message_metadata: None });
        }
        End::Cancelled => closing.push(&Chunk::Abort),
    }
    closing.into_segment()
}

fn finish_reason(reason: ModelStop) -> FinishReason {
    match reason {
        ModelStop::Stop => FinishReason::Stop,
        ModelStop::ToolCalls => FinishReason::ToolCalls,
        ModelStop::Length => FinishReason::Length,
        ModelStop::ContentFilter => FinishReason::ContentFilter,
        ModelStop::Other => FinishReason::Other,
    }
}

/// Tries until it is stored or somebody else has the turn. Gives the turns that are due because of it.
async fn store(
    inner: &Inner,
    claim: &Claim,
    stop: &Stop,
    ending: Ending,
) -> Option<Vec<protocol::TurnId>> {
    stop.begin_end();
    loop {
        match inner.ports.turns.finish(claim, ending.clone()).await {
            Ok(Fenced::Done(due)) => return Some(due),
            Ok(Fenced::Stale) => return None,
            Err(error) if error.retryable() && !gone(inner, stop) => {
                tracing::warn!(%error, "the end of a turn could not be stored; it is tried again");
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => {
                tracing::error!(%error, "the end of a turn could not be stored; whoever has it next will");
                return None;
            }
        }
    }
}

fn gone(inner: &Inner, stop: &Stop) -> bool {
    inner.phase.is_stopping() || stop.is_lost()
}
