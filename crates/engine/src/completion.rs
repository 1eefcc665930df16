//! The one end of a turn. Completed, failed or cancelled: the last rows, the closing chunks and the
//! status are one fenced write, so nobody sees an end that is not true or a truth that has no end.

use std::sync::Arc;
use std::time::Duration;

use ports::model::StopReason as ModelStop;
use ports::store::{JournalEntry, JournalRecord, TurnEnding, TurnFinished, TurnProgress};
use ports::{BusSignal, Fenced};
use protocol::chunk::{Chunk, FinishReason};
use protocol::message::{Message, MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::operation::OperationResult;
use protocol::response::ToolResponse;
use protocol::turn::{Turn, TurnClaim, TurnError, TurnStatus};
use protocol::usage::Usage;
use serde_json::{Value, json};

use crate::Inner;
use crate::title;
use crate::turn::halt::Halt;
use crate::turn::insist::insist_fenced;
use crate::turn::{Answer, Closing, Said, Stop, append, decide, output, takeover};
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
    pub(crate) claim: TurnClaim,
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

/// `FollowUpsWait` when an answer was not the last word: it is in the history and in the log, and the turn goes on. An
/// error when whoever has the turn next will have to end it.
pub(crate) async fn end(left: Leftovers, end: End) -> Result<TurnFinished, NotEnded> {
    let Leftovers { inner, claim, turn, stop, closing, said, spent, started, untitled } = left;
    let mut rows = match last_rows(&inner, &claim, &turn, &stop, &end, said).await {
        Ok(rows) => rows,
        Err(halt) => {
            tracing::warn!(?halt, "a turn could not be ended; whoever has it next will");
            return Err(NotEnded);
        }
    };
    let (status, error, usage) = match end {
        End::Completed(ref answer) => (TurnStatus::Completed, None, answer.usage),
        End::Failed(ref error) => (TurnStatus::Failed, Some(error.clone()), Usage::default()),
        End::Cancelled => (TurnStatus::Cancelled, None, Usage::default()),
    };
    note_usage(rows.last_mut(), spent, usage);
    let before = matches!(end, End::Completed(_)).then(|| closing.again());
    let last = closing_segment(closing, &turn, spent, &end).ok_or(NotEnded)?;
    let named = untitled.filter(|_| status == TurnStatus::Completed);
    let (title, to_ask) = match inner.model.gives_titles() {
        true => (None, named),
        false => (named.as_deref().map(title::shorten), None),
    };
    let operation = turn.operation.as_ref().and_then(|_| without_its_result(&end));
    let ending = TurnEnding { status, error, messages: rows, usage, title, last, operation };
    let due = match store(&inner, &claim, &stop, ending).await? {
        TurnFinished::Ended(due) => due,
        TurnFinished::FollowUpsWait => {
            if let (End::Completed(answer), Some(before)) = (end, before) {
                let gone_on = go_on(&inner, &claim, &stop, before, answer).await;
                gone_on.map_err(|halt| {
                    tracing::warn!(?halt, "a turn could not go on; whoever has it next will");
                    NotEnded
                })?;
            }
            return Ok(TurnFinished::FollowUpsWait);
        }
    };

    inner.ports.bus.publish(BusSignal::Ended((&turn.id).into()));
    metrics::counter!("pilothouse_turns_ended_total", "status" => status.as_str()).increment(1);
    metrics::histogram!("pilothouse_turn_seconds").record(started.elapsed());
    tracing::info!(
        status = status.as_str(),
        duration_ms = started.elapsed().as_millis() as u64,
        "turn ended"
    );
    inner.push_all(&due).await;
    if let Some(words) = to_ask {
        title::ask(&inner, &turn, words);
    }
    Ok(TurnFinished::Ended(due))
}

/// The end of a turn could not be stored by this attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotEnded;

/// Keeps an answer that was not the last word as one more step of its turn.
async fn go_on(
    inner: &Inner,
    claim: &TurnClaim,
    stop: &Stop,
    mut closing: Closing,
    answer: Answer,
) -> Result<(), Halt> {
    stop.goes_on();
    for chunk in closing.parts().end_all(output::INTERRUPTED) {
        closing.push(&chunk);
    }
    if let Some(rest) = closing.into_segment() {
        append(inner, claim, stop, rest).await?;
    }
    let record = JournalRecord::new(vec![
        JournalEntry::Message(answer.message),
        JournalEntry::StepEnded { usage: answer.usage },
    ]);
    insist_fenced(stop, || inner.ports.turns.record(claim, record.clone())).await
}

/// What an operation came to whose turn has failed or was stopped.
fn without_its_result(end: &End) -> Option<OperationResult> {
    let (response, outcome) = match end {
        End::Completed(_) => return None,
        End::Cancelled => (
            ToolResponse::error("cancelled", "The operation was cancelled."),
            ToolOutcome::Cancelled,
        ),
        End::Failed(error) => {
            (ToolResponse::error(error.code.as_str(), error.message.clone()), ToolOutcome::Error)
        }
    };
    Some(OperationResult { output: json!(response).to_string(), outcome })
}

/// Ends a turn whose attempt is gone without a word, as after a panic.
pub(crate) async fn end_abandoned(
    inner: &Arc<Inner>,
    claim: &TurnClaim,
    turn: &Turn,
    stop: Arc<Stop>,
    error: TurnError,
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
            // It has no answer, so no follow-up can keep it from ending.
            let _ended = end(left, End::Failed(error)).await;
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
    claim: &TurnClaim,
    turn: &Turn,
    stop: &Stop,
    end: &End,
    said: Said,
) -> Result<Vec<NewMessage>, Halt> {
    let (outcome, notice) = match end {
        End::Completed(answer) => return Ok(vec![answer.message.clone()]),
        End::Cancelled => {
            (ToolOutcome::Cancelled, notice("Stopped.", "stopped", "cancelled", true))
        }
        End::Failed(error) => {
            let code = error.code;
            (
                ToolOutcome::Interrupted,
                notice(&error.message, "error", code.as_str(), code.worth_retrying()),
            )
        }
    };
    let progress = insist_fenced(stop, || inner.ports.turns.progress(claim)).await?;
    let mut rows: Vec<NewMessage> = unanswered(&progress, turn)
        .iter()
        .map(|call| output::result_row(call, &without_result(outcome), outcome))
        .collect();
    if !said.text.trim().is_empty() {
        let mut partial =
            NewMessage::new(MessageRole::Assistant, protocol::text::without_nul(&said.text));
        partial.reasoning = Some(said.reasoning).filter(|text| !text.is_empty());
        partial.model = Some(inner.model.model(turn.request.tier).to_owned());
        partial.metadata = Some(json!({ "partial": true }));
        rows.push(partial);
    }
    rows.push(notice);
    Ok(rows)
}

/// What the whole turn has used, on its last row: a reader of the history has no chunks.
fn note_usage(row: Option<&mut NewMessage>, spent: Usage, last_step: Usage) {
    let mut used = spent;
    used += last_step;
    let Some(row) = row.filter(|_| used != Usage::default()) else { return };
    if let Value::Object(metadata) = row.metadata.get_or_insert_with(|| json!({})) {
        metadata.insert("usage".to_owned(), json!(used));
    }
}

fn unanswered(progress: &TurnProgress, turn: &Turn) -> Vec<ToolCall> {
    let rows: Vec<&Message> =
        progress.messages.iter().filter(|row| row.turn_id == turn.id).collect();
    decide::unanswered(&rows)
}

fn without_result(outcome: ToolOutcome) -> Value {
    let response = match outcome {
        ToolOutcome::Cancelled => ToolResponse::error("cancelled", output::CANCELLED),
        _ => ToolResponse::error("interrupted", output::INTERRUPTED),
    };
    json!(response)
}

/// A row for the person, which the model never sees.
fn notice(words: &str, kind: &str, code: &str, retry: bool) -> NewMessage {
    let mut row = NewMessage::new(MessageRole::System, words);
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
        End::Cancelled => output::CANCELLED,
        End::Failed(_) | End::Completed(_) => output::INTERRUPTED,
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

/// Tries until it is stored or somebody else has the turn.
async fn store(
    inner: &Inner,
    claim: &TurnClaim,
    stop: &Stop,
    ending: TurnEnding,
) -> Result<TurnFinished, NotEnded> {
    stop.begin_end();
    loop {
        match inner.ports.turns.finish(claim, ending.clone()).await {
            Ok(Fenced::Done(finished)) => return Ok(finished),
            Ok(Fenced::Stale) => return Err(NotEnded),
            Err(error) if error.retryable() && !gone(inner, stop) => {
                tracing::warn!(%error, "the end of a turn could not be stored; it is tried again");
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => {
                tracing::error!(%error, "the end of a turn could not be stored; whoever has it next will");
                return Err(NotEnded);
            }
        }
    }
}

fn gone(inner: &Inner, stop: &Stop) -> bool {
    inner.phase.is_stopping() || stop.is_lost()
}
