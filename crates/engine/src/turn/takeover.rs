//! Starts an attempt: takes over the log and, where another attempt has written to it, repairs it so that clients can
//! continue reading.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ports::store::TurnProgress;
use ports::stream_log::{LogRead, TakenOver};
use protocol::chunk::{AttemptData, Chunk};
use protocol::message::MessageRole;
use protocol::turn::{FailureCode, Turn, TurnClaim};
use protocol::{CallId, Seq};
use serde_json::Value;
use tokio::time::Instant;

use super::background::OwnedBackgroundCalls;
use super::halt::TurnHalt;
use super::log_ending::LogEnding;
use super::open_parts::OpenParts;
use super::recorder::Recorder;
use super::registry::{StopCause, StopSignal};
use super::turn_writer::TurnWriter;
use super::{PartialResponse, TurnAttempt, WindowEstimate, output};
use crate::EngineInner;
use crate::retry::retry_while_leased;
use crate::worker_permit::WorkerPermit;

const READ_BYTES: usize = 256 * 1024;
const SUPERSEDED: &str = "The server stopped before this call was made; the step is repeated.";

impl TurnAttempt {
    /// Reads the log without writing to it; `repair_log` writes, as part of the attempt itself.
    pub(super) async fn start(
        inner: Arc<EngineInner>,
        claim: TurnClaim,
        turn: Turn,
        log_at: Option<Seq>,
        stop: Arc<StopSignal>,
        permit: Option<WorkerPermit>,
    ) -> Result<Self, TurnHalt> {
        let (last, parts) = match log_at {
            Some(last) => (last, read_parts(&inner, &turn, &stop, last).await?),
            None => take_over(&inner, &claim, &turn, &stop).await?,
        };
        let log = inner.ports.log.clone();
        let recorder = Recorder::new(&inner.tasks, log, &claim, stop.clone(), last, parts.clone());
        let chunks = recorder.chunk_writer();
        let writer = TurnWriter::new(inner.clone(), claim.clone(), stop.clone(), chunks, &turn);
        let background_calls = OwnedBackgroundCalls::new(writer.clone());
        let turn_usage = turn.usage;
        Ok(Self {
            writer,
            background_calls,
            permit: Mutex::new(permit),
            yielded: AtomicBool::new(turn.aside),
            inner,
            claim,
            turn,
            stop,
            recorder,
            partial: PartialResponse::default(),
            journaled_now: HashSet::new(),
            used_calls: HashSet::new(),
            spent: turn_usage,
            inherited: parts,
            title_source: None,
            window_estimate: WindowEstimate::default(),
            started: Instant::now(),
        })
    }

    /// The first chunks of an attempt: a start, or the chunks that repair the log.
    pub(super) async fn repair_log(&self) -> Result<(), TurnHalt> {
        let parts = &self.inherited;
        if !parts.started {
            let message_id = self.turn.message_id.clone();
            return self.recorder.emit(Chunk::Start { message_id, message_metadata: None }).await;
        }
        if self.was_released() {
            return Ok(());
        }
        metrics::counter!("pilothouse_takeovers_total").increment(1);
        tracing::info!(attempt = self.claim.fence, "continuing a turn");
        let progress = self.writer.progress().await?;
        self.recorder.emit_all(repair_chunks(parts, &progress, &self.turn, self.claim.fence)).await
    }
}

impl TurnAttempt {
    /// Whether the previous claim of an operation's turn was released on purpose, between two steps or during its open
    /// call, so that nothing was cut off.
    fn was_released(&self) -> bool {
        let Some(operation) = &self.turn.operation else { return false };
        let crashed = self.turn.attempt > 1;
        let awaited = self.inherited.unanswered().any(|call| *call == operation.call_id);
        !crashed && (awaited || !self.inherited.in_step())
    }
}

/// The log ending of a turn whose attempt is gone.
pub(crate) async fn take_over_ending(
    inner: &EngineInner,
    claim: &TurnClaim,
    turn: &Turn,
    stop: &StopSignal,
) -> Result<LogEnding, TurnHalt> {
    let (last, parts) = take_over(inner, claim, turn, stop).await?;
    Ok(LogEnding::following(last, parts))
}

async fn take_over(
    inner: &EngineInner,
    claim: &TurnClaim,
    turn: &Turn,
    stop: &StopSignal,
) -> Result<(Seq, OpenParts), TurnHalt> {
    let task = turn.id.task();
    match retry_while_leased(stop, || inner.ports.log.take_over(&task, claim.fence)).await? {
        TakenOver::At { last, sealed: false } => {
            Ok((last, read_parts(inner, turn, stop, last).await?))
        }
        TakenOver::At { sealed: true, .. } | TakenOver::Stale => {
            Err(TurnHalt::Stop(StopCause::LeaseLost))
        }
    }
}

async fn read_parts(
    inner: &EngineInner,
    turn: &Turn,
    stop: &StopSignal,
    last: Seq,
) -> Result<OpenParts, TurnHalt> {
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
