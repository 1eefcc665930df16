//! The only writer of a turn's chunks: each is serialized once, stored in order, and stored before anyone sees it.
//! While one segment is being stored the next one collects; nothing is delayed to collect more.

mod flush;

use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ports::StreamLog;
use protocol::chunk::Chunk;
use protocol::{CallId, Segment, SegmentBuilder, Seq, TaskId};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::job::halt::TurnHalt;
use crate::job::stop::{StopCause, StopSignal};
use crate::tasks::TaskKind;
use crate::turn::leased_turn::LeasedTurn;
use crate::turn::log_ending::LogEnding;
use crate::turn::open_parts::OpenParts;

/// Limit on bytes waiting to be stored; a faster turn is slowed down.
const MAX_UNSTORED_BYTES: usize = 1024 * 1024;
/// Silences after which the user is told that the turn is still running.
const SILENCE_NOTICES: [(Duration, &str); 3] = [
    (Duration::from_secs(10), "Still working…"),
    (Duration::from_secs(30), "This takes a little longer than usual…"),
    (Duration::from_secs(60), "Still working. The answer will appear here when it is ready…"),
];

pub(crate) struct Recorder {
    chunks: ChunkWriter,
    flusher: JoinHandle<()>,
}

/// Handle for writing chunks. Calls that outlive their step or report progress hold a clone.
#[derive(Clone)]
pub(crate) struct ChunkWriter {
    shared: Arc<RecorderShared>,
}

struct RecorderShared {
    log: Arc<dyn StreamLog>,
    task: TaskId,
    fence: u64,
    state: Mutex<RecorderState>,
    added: Notify,
    /// Sequence number of the last stored chunk.
    stored: watch::Sender<Seq>,
    closing: CancellationToken,
    stop: Arc<StopSignal>,
}

struct RecorderState {
    builder: SegmentBuilder,
    parts: OpenParts,
    /// A segment that the log did not accept.
    unsent: Option<Segment>,
    halted: Option<TurnHalt>,
    last_output: Instant,
    notices_sent: usize,
}

impl Recorder {
    /// Continues after `last`, with the open parts of the log.
    pub(crate) fn new(leased: &LeasedTurn, last: Seq, parts: OpenParts) -> Self {
        let LeasedTurn { inner, claim, stop, .. } = leased;
        let shared = Arc::new(RecorderShared {
            log: inner.ports.log.clone(),
            task: claim.turn_id.task(),
            fence: claim.fence,
            state: Mutex::new(RecorderState {
                builder: SegmentBuilder::following(last),
                parts,
                unsent: None,
                halted: None,
                last_output: Instant::now(),
                notices_sent: 0,
            }),
            added: Notify::new(),
            stored: watch::Sender::new(last),
            closing: CancellationToken::new(),
            stop: stop.clone(),
        });
        let flusher = inner.tasks.spawn(TaskKind::ChunkWriter, flush::flush(shared.clone()));
        Self { chunks: ChunkWriter { shared }, flusher }
    }

    pub(crate) fn chunk_writer(&self) -> ChunkWriter {
        self.chunks.clone()
    }

    /// Stops storing and returns the rest, for the transaction that ends the turn.
    pub(crate) async fn close(self) -> LogEnding {
        let shared = &self.chunks.shared;
        shared.closing.cancel();
        if self.flusher.await.is_err() {
            tracing::error!("the task that stores a turn's chunks panicked");
        }
        let mut state = shared.state.lock().expect(LOCK);
        // A call that still runs must not write while the turn is being ended.
        state.halted.get_or_insert(TurnHalt::Stop(StopCause::LeaseLost));
        let next = state.builder.next_seq();
        let rest = std::mem::replace(&mut state.builder, SegmentBuilder::following(next - 1));
        LogEnding::new(state.unsent.take(), rest, state.parts.clone())
    }
}

impl ChunkWriter {
    pub(crate) async fn emit(&self, chunk: Chunk) -> Result<(), TurnHalt> {
        self.write(|state| state.push(&chunk)).await
    }

    pub(crate) async fn emit_all(&self, chunks: Vec<Chunk>) -> Result<(), TurnHalt> {
        self.write(|state| chunks.iter().for_each(|chunk| state.push(chunk))).await
    }

    pub(crate) async fn text(&self, delta: String) -> Result<(), TurnHalt> {
        self.write(|state| {
            if let Some(id) = state.parts.reasoning().map(str::to_owned) {
                state.push(&Chunk::ReasoningEnd { id });
            }
            let id = match state.parts.text() {
                Some(id) => id.to_owned(),
                None => {
                    let id = format!("t{}", state.builder.next_seq());
                    state.push(&Chunk::TextStart { id: id.clone() });
                    id
                }
            };
            state.push(&Chunk::TextDelta { id, delta });
        })
        .await
    }

    pub(crate) async fn reasoning(&self, delta: String) -> Result<(), TurnHalt> {
        self.write(|state| {
            if let Some(id) = state.parts.text().map(str::to_owned) {
                state.push(&Chunk::TextEnd { id });
            }
            let id = match state.parts.reasoning() {
                Some(id) => id.to_owned(),
                None => {
                    let id = format!("r{}", state.builder.next_seq());
                    state.push(&Chunk::ReasoningStart { id: id.clone() });
                    id
                }
            };
            state.push(&Chunk::ReasoningDelta { id, delta });
        })
        .await
    }

    /// Ends text and reasoning, so that what follows is a separate part.
    pub(crate) async fn end_text(&self) -> Result<(), TurnHalt> {
        self.write(|state| {
            for chunk in state.parts.end_text() {
                state.push(&chunk);
            }
        })
        .await
    }

    /// Whether this turn has used the call id before, in any attempt.
    pub(crate) fn has_seen(&self, call: &CallId) -> bool {
        self.state().parts.has_seen(call)
    }

    /// Whether the call was shown without its result.
    pub(crate) fn is_unanswered(&self, call: &CallId) -> bool {
        self.state().parts.unanswered().any(|open| open == call)
    }

    /// Returns when everything written so far is stored.
    pub(crate) async fn flushed(&self) -> Result<(), TurnHalt> {
        let last = self.state().builder.next_seq() - 1;
        self.wait_until(|shared| *shared.stored.borrow() >= last).await
    }

    /// Emits a status chunk during long silences. Runs beside the turn; never returns.
    pub(crate) fn report_silence(&self) -> impl Future<Output = Infallible> + use<> {
        let shared = self.shared.clone();
        async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if shared.state.lock().expect(LOCK).push_silence_notice() {
                    shared.added.notify_one();
                }
            }
        }
    }

    /// Emits the chunk if there is room, and drops it otherwise.
    pub(crate) fn emit_if_room(&self, chunk: &Chunk) {
        let mut state = self.state();
        if state.halted.is_some() || state.builder.len() > MAX_UNSTORED_BYTES / 2 {
            return;
        }
        state.push(chunk);
        drop(state);
        self.shared.added.notify_one();
    }

    async fn write(&self, push: impl FnOnce(&mut RecorderState)) -> Result<(), TurnHalt> {
        let over_limit = {
            let mut state = self.state();
            if let Some(halt) = &state.halted {
                return Err(halt.clone());
            }
            push(&mut state);
            state.last_output = Instant::now();
            state.notices_sent = 0;
            state.builder.len() > MAX_UNSTORED_BYTES
        };
        self.shared.added.notify_one();
        if over_limit {
            self.wait_until(|shared| {
                shared.state.lock().expect(LOCK).builder.len() <= MAX_UNSTORED_BYTES
            })
            .await?;
        }
        Ok(())
    }

    async fn wait_until(&self, reached: impl Fn(&RecorderShared) -> bool) -> Result<(), TurnHalt> {
        let mut stored = self.shared.stored.subscribe();
        loop {
            if let Some(halt) = &self.state().halted {
                return Err(halt.clone());
            }
            if reached(&self.shared) {
                return Ok(());
            }
            tokio::select! {
                biased;
                reason = self.shared.stop.stopped() => return Err(TurnHalt::Stop(reason)),
                _ = stored.changed() => {}
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.shared.state.lock().expect(LOCK)
    }
}

const LOCK: &str = "no code panics while it holds this lock";

impl RecorderState {
    /// A status chunk is not progress of the turn, so it does not reset the silence timer.
    fn push_silence_notice(&mut self) -> bool {
        let Some((after, words)) = SILENCE_NOTICES.get(self.notices_sent) else { return false };
        if self.last_output.elapsed() < *after {
            return false;
        }
        self.notices_sent += 1;
        self.push(&Chunk::status(*words));
        true
    }

    fn push(&mut self, chunk: &Chunk) {
        let seq = self.builder.push(chunk);
        self.parts.observe(chunk, seq);
    }
}
