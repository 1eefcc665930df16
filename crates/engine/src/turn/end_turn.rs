//! Ends a turn, whether it completed, failed or was canceled: the last rows, the closing chunks and the status are one
//! fenced write, so readers never see a status without its rows and chunks, or the reverse.

use std::sync::Arc;
use std::time::Duration;

use ports::model::StopReason as ModelStop;
use ports::store::{JournalEntry, JournalRecord, TurnEnding, TurnFinished};
use ports::{BusSignal, Fenced};
use protocol::chunk::{Chunk, FinishReason};
use protocol::message::ToolOutcome;
use protocol::operation::OperationResult;
use protocol::response::ToolResponse;
use protocol::turn::{Turn, TurnError, TurnStatus};
use protocol::usage::Usage;
use serde_json::json;
use tokio::time::Instant;

use super::last_rows::{last_rows, note_usage};
use super::leased_turn::LeasedTurn;
use super::log_ending::{LogEnding, append_rest};
use super::model_step::ModelAnswer;
use super::response_state::ResponseState;
use super::{output, takeover};
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_fenced;
use crate::title;

/// Delay before storing an end again that the store did not accept.
const RETRY_DELAY: Duration = Duration::from_millis(500);

pub(crate) enum AttemptOutcome {
    Completed(ModelAnswer),
    Failed(TurnError),
    Cancelled,
}

/// What a finished attempt hands over so that the turn can be ended.
pub(crate) struct FinishedAttempt {
    pub(crate) leased: Arc<LeasedTurn>,
    pub(crate) log_ending: LogEnding,
    pub(crate) response: ResponseState,
    pub(crate) started: Instant,
}

/// Returns `FollowUpsWait` when follow-ups arrived before the end: the answer is then in the history and the log, and
/// the turn continues. Returns an error when the next lease holder has to end the turn.
pub(crate) async fn end_turn(
    finished: FinishedAttempt,
    end: AttemptOutcome,
) -> Result<TurnFinished, NotEnded> {
    let FinishedAttempt { leased, log_ending, response, started } = finished;
    let LeasedTurn { inner, turn, .. } = &*leased;
    let ResponseState { partial, spent, title_source, .. } = response;
    let mut rows = match last_rows(&leased, &end, partial).await {
        Ok(rows) => rows,
        Err(halt) => {
            tracing::warn!(?halt, "could not end the turn; the next lease holder will");
            return Err(NotEnded);
        }
    };
    let (status, error, usage) = match end {
        AttemptOutcome::Completed(ref answer) => (TurnStatus::Completed, None, answer.usage),
        AttemptOutcome::Failed(ref error) => {
            (TurnStatus::Failed, Some(error.clone()), Usage::default())
        }
        AttemptOutcome::Cancelled => (TurnStatus::Cancelled, None, Usage::default()),
    };
    note_usage(rows.last_mut(), spent, usage);
    let before = matches!(end, AttemptOutcome::Completed(_)).then(|| log_ending.clone());
    let last = closing_segment(log_ending, turn, spent, &end).ok_or(NotEnded)?;
    let title_text = title_source.filter(|_| status == TurnStatus::Completed);
    let (title, title_request) = match inner.model.gives_titles() {
        true => (None, title_text),
        false => (title_text.as_deref().map(title::shorten), None),
    };
    let operation = turn.operation.as_ref().and_then(|_| unfinished_operation_result(&end));
    let ending = TurnEnding { status, error, messages: rows, usage, title, last, operation };
    let due = match store(&leased, ending).await? {
        TurnFinished::Ended(due) => due,
        TurnFinished::FollowUpsWait => {
            if let (AttemptOutcome::Completed(answer), Some(before)) = (end, before) {
                let continued = continue_turn(&leased, before, answer).await;
                continued.map_err(|halt| {
                    tracing::warn!(
                        ?halt,
                        "could not continue the turn; the next lease holder will"
                    );
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
    inner.push_turns(&due).await;
    if let Some(words) = title_request {
        title::request_title(inner, turn, words);
    }
    Ok(TurnFinished::Ended(due))
}

/// This attempt could not store the end of the turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotEnded;

/// Stores an answer that was followed up as one more step of its turn.
async fn continue_turn(
    leased: &LeasedTurn,
    mut log_ending: LogEnding,
    answer: ModelAnswer,
) -> Result<(), TurnHalt> {
    let LeasedTurn { inner, claim, stop, .. } = leased;
    stop.keep_claim();
    for chunk in log_ending.parts().end_all(output::INTERRUPTED) {
        log_ending.push(&chunk);
    }
    if let Some(rest) = log_ending.into_segment() {
        append_rest(leased, rest).await?;
    }
    let record = JournalRecord::new(vec![
        JournalEntry::Message(answer.message),
        JournalEntry::StepEnded { usage: answer.usage },
    ]);
    Ok(retry_fenced(stop, || inner.ports.turns.record(claim, record.clone())).await?)
}

/// The result of an operation whose turn failed or was canceled.
fn unfinished_operation_result(end: &AttemptOutcome) -> Option<OperationResult> {
    let (response, outcome) = match end {
        AttemptOutcome::Completed(_) => return None,
        AttemptOutcome::Cancelled => (
            ToolResponse::error("cancelled", "The operation was canceled."),
            ToolOutcome::Cancelled,
        ),
        AttemptOutcome::Failed(error) => {
            (ToolResponse::error(error.code.as_str(), error.message.clone()), ToolOutcome::Error)
        }
    };
    Some(OperationResult { output: json!(response).to_string(), outcome })
}

/// Ends a turn whose attempt vanished, for example after a panic.
pub(crate) async fn end_abandoned(leased: Arc<LeasedTurn>, error: TurnError) {
    match takeover::take_over_log(&leased, None).await {
        Ok(log) => {
            let finished = FinishedAttempt {
                log_ending: LogEnding::following(log),
                response: ResponseState::new(leased.turn.usage),
                leased,
                started: Instant::now(),
            };
            // A failed turn has no answer that a follow-up could continue.
            let _ended = end_turn(finished, AttemptOutcome::Failed(error)).await;
        }
        Err(halt) => {
            tracing::warn!(?halt, "could not end an abandoned turn; its lease will expire")
        }
    }
}

fn closing_segment(
    mut log_ending: LogEnding,
    turn: &Turn,
    spent: Usage,
    end: &AttemptOutcome,
) -> Option<protocol::Segment> {
    if !log_ending.parts().started {
        let message_id = turn.message_id.clone();
        log_ending.push(&Chunk::Start { message_id, message_metadata: None });
    }
    let why = match end {
        AttemptOutcome::Cancelled => output::CANCELLED,
        AttemptOutcome::Failed(_) | AttemptOutcome::Completed(_) => output::INTERRUPTED,
    };
    for chunk in log_ending.parts().end_all(why) {
        log_ending.push(&chunk);
    }
    match end {
        AttemptOutcome::Completed(answer) => {
            let mut usage = spent;
            usage += answer.usage;
            log_ending.push(&Chunk::DataUsage { data: usage });
            log_ending.push(&Chunk::Finish {
                finish_reason: Some(finish_reason(answer.reason)),
                message_metadata: Some(json!({ "turnId": turn.id })),
            });
        }
        AttemptOutcome::Failed(error) => {
            log_ending.push(&Chunk::error(error.code.as_str(), &error.message));
            let finish_reason = Some(FinishReason::Error);
            log_ending.push(&Chunk::Finish { finish_reason, message_metadata: None });
        }
        AttemptOutcome::Cancelled => log_ending.push(&Chunk::Abort),
    }
    log_ending.into_segment()
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

/// Retries until the end is stored or the claim is lost.
async fn store(leased: &LeasedTurn, ending: TurnEnding) -> Result<TurnFinished, NotEnded> {
    let LeasedTurn { inner, claim, stop, .. } = leased;
    stop.begin_release();
    loop {
        match inner.ports.turns.finish(claim, ending.clone()).await {
            Ok(Fenced::Done(finished)) => return Ok(finished),
            Ok(Fenced::Stale) => return Err(NotEnded),
            Err(error) if error.retryable() && !must_give_up(leased) => {
                tracing::warn!(%error, "could not store the end of the turn; retrying");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            Err(error) => {
                tracing::error!(%error, "could not store the end of the turn; the next lease holder will");
                return Err(NotEnded);
            }
        }
    }
}

fn must_give_up(leased: &LeasedTurn) -> bool {
    leased.inner.shutdown_signal.is_stopping() || leased.stop.is_lost()
}
