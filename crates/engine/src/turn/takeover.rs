//! Starts an attempt: takes over the log and, where another attempt has written to it, repairs it so that clients can
//! continue reading.

use ports::store::TurnProgress;
use ports::stream_log::{LogRead, TakenOver};
use protocol::chunk::{AttemptData, Chunk};
use protocol::message::MessageRole;
use protocol::turn::{FailureCode, Turn};
use protocol::{CallId, Seq};
use serde_json::Value;

use super::leased_turn::LeasedTurn;
use super::open_parts::OpenParts;
use super::output;
use super::turn_writer::TurnWriter;
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_while_leased;
use crate::job::stop::StopCause;

const READ_BYTES: usize = 256 * 1024;
const SUPERSEDED: &str = "The server stopped before this call was made; the step is repeated.";

/// The log of a turn, which only this claim can continue.
pub(crate) struct TakenOverLog {
    pub(crate) last: Seq,
    /// Parts that earlier attempts left open.
    pub(crate) parts: OpenParts,
}

/// Reads the log without writing to it; `repair_log` writes, as part of the attempt itself. `log_at` is the end of a log
/// that the claim has already taken over.
pub(crate) async fn take_over_log(
    leased: &LeasedTurn,
    log_at: Option<Seq>,
) -> Result<TakenOverLog, TurnHalt> {
    let last = match log_at {
        Some(last) => last,
        None => take_over(leased).await?,
    };
    Ok(TakenOverLog { last, parts: read_parts(leased, last).await? })
}

async fn take_over(leased: &LeasedTurn) -> Result<Seq, TurnHalt> {
    let LeasedTurn { inner, claim, turn, stop, .. } = leased;
    let task = turn.id.task();
    match retry_while_leased(stop, || inner.ports.log.take_over(&task, claim.fence)).await? {
        TakenOver::At { last, sealed: false } => Ok(last),
        TakenOver::At { sealed: true, .. } | TakenOver::Stale => Err(StopCause::LeaseLost.into()),
    }
}

async fn read_parts(leased: &LeasedTurn, last: Seq) -> Result<OpenParts, TurnHalt> {
    let LeasedTurn { inner, turn, stop, .. } = leased;
    let task = turn.id.task();
    let mut parts = OpenParts::default();
    let mut cursor = 0;
    while cursor < last {
        match retry_while_leased(stop, || inner.ports.log.read(&task, cursor, READ_BYTES)).await? {
            LogRead::Log { segments, missing_to: None, .. } if !segments.is_empty() => {
                for segment in &segments {
                    parts.read(segment);
                    cursor = segment.last;
                }
            }
            LogRead::Log { .. } | LogRead::Missing => {
                return Err(TurnHalt::fail(
                    FailureCode::Internal,
                    "The log of this turn is incomplete.",
                ));
            }
        }
    }
    Ok(parts)
}

/// The first chunks of an attempt: a start, or the chunks that repair the log.
pub(crate) async fn repair_log(writer: &TurnWriter, inherited: &OpenParts) -> Result<(), TurnHalt> {
    let LeasedTurn { claim, turn, .. } = &*writer.leased;
    if !inherited.started {
        let message_id = turn.message_id.clone();
        return writer.chunks.emit(Chunk::Start { message_id, message_metadata: None }).await;
    }
    if was_released(turn, inherited) {
        return Ok(());
    }
    metrics::counter!("pilothouse_takeovers_total").increment(1);
    tracing::info!(attempt = claim.fence, "continuing a turn");
    let progress = writer.leased.progress().await?;
    writer.chunks.emit_all(repair_chunks(inherited, &progress, turn, claim.fence)).await
}

/// Whether the previous claim of an operation's turn was released on purpose, between two steps or during its open call,
/// so that nothing was cut off.
fn was_released(turn: &Turn, inherited: &OpenParts) -> bool {
    let Some(operation) = &turn.operation else { return false };
    let crashed = turn.attempt > 1;
    let awaited = inherited.unanswered().any(|call| *call == operation.call_id);
    !crashed && (awaited || !inherited.in_step())
}

/// The chunks that end every open part of the log. A step whose calls were journaled continues; any other open step is
/// closed and repeated.
fn repair_chunks(
    parts: &OpenParts,
    progress: &TurnProgress,
    turn: &Turn,
    fence: u64,
) -> Vec<Chunk> {
    let rows = || progress.messages.iter().filter(|row| row.turn_id == turn.id);
    // The call of an operation is in the history of the turn that requested it.
    let operation_call = turn.operation.as_ref().map(|operation| operation.call_id.clone());
    let asked = rows().flat_map(|row| &row.tool_calls).map(|call| call.id.clone());
    let journaled: Vec<CallId> = asked.chain(operation_call).collect();
    let continues = parts.step_has_any(&journaled);
    let supersedes = if continues { None } else { parts.step_range() };

    let mut chunks = parts.end_text();
    chunks.extend(parts.end_unjournaled(&journaled, SUPERSEDED));
    // Results that were stored but not shown.
    for call in parts.unanswered() {
        let row = rows()
            .find(|row| row.role == MessageRole::Tool && row.tool_call_id.as_ref() == Some(call));
        let asked = rows().flat_map(|row| &row.tool_calls).find(|asked| asked.id == *call);
        if let (Some(row), Some(asked), Some(outcome)) = (row, asked, row.and_then(|r| r.outcome)) {
            let output = serde_json::from_str(&row.content).unwrap_or(Value::Null);
            chunks.push(output::result_chunk(asked, output, outcome));
        }
    }
    let attempt = u32::try_from(fence).unwrap_or(u32::MAX);
    chunks.push(Chunk::DataAttempt { data: AttemptData { attempt, supersedes } });
    let all_answered = match &turn.operation {
        Some(operation) if journaled.len() == 1 => {
            !parts.unanswered().any(|call| *call == operation.call_id)
        }
        _ => super::decide::unanswered(&rows().collect::<Vec<_>>()).is_empty(),
    };
    if parts.in_step() && (!continues || all_answered) {
        chunks.push(Chunk::FinishStep);
    }
    chunks
}
