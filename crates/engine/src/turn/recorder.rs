//! The one pen. What a turn says is written out once, stored in the order it was said, and known to be
//! stored before anybody sees it. While one segment is being stored the next one grows; nothing ever
//! waits to collect more.

use std::convert::Infallible;
use std::future::Future;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ports::stream_log::SegmentAppended;
use ports::{PortError, StreamLog};
use protocol::chunk::Chunk;
use protocol::turn::TurnClaim;
use protocol::{CallId, Segment, SegmentBuilder, Seq, TaskId};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::closing::Closing;
use super::halt::Halt;
use super::open_parts::OpenParts;
use super::registry::{Stop, StopReason};
use crate::tasks::{Kind, Tasks};

/// What may wait for the disk; a turn that is faster than that waits too.
const UNSTORED_BYTES: usize = 1024 * 1024;
/// Between two tries to reach a log that does not answer.
const RETRY: Duration = Duration::from_millis(200);
/// Silence after which the person is told that work goes on.
const SILENCES: [(Duration, &str); 3] = [
    (Duration::from_secs(10), "Still working…"),
    (Duration::from_secs(30), "This takes a little longer than usual…"),
    (Duration::from_secs(60), "Still at it. The answer will appear here when it is ready…"),
];

pub(crate) struct Recorder {
    pen: Pen,
    flusher: JoinHandle<()>,
}

/// What writes. Calls that outlive their step, or have something to show before they end, have one of their own.
#[derive(Clone)]
pub(crate) struct Pen {
    shared: Arc<Shared>,
}

impl Deref for Recorder {
    type Target = Pen;

    fn deref(&self) -> &Pen {
        &self.pen
    }
}

struct Shared {
    log: Arc<dyn StreamLog>,
    task: TaskId,
    fence: u64,
    state: Mutex<State>,
    grown: Notify,
    /// The last chunk that is stored.
    stored: watch::Sender<Seq>,
    closing: CancellationToken,
    stop: Arc<Stop>,
}

struct State {
    builder: SegmentBuilder,
    parts: OpenParts,
    /// What the log had no room for.
    unsent: Option<Segment>,
    broken: Option<Halt>,
    spoke: Instant,
    silences_told: usize,
}

impl Recorder {
    /// Goes on after `last`, with what the log has left open.
    pub(crate) fn new(
        tasks: &Tasks,
        log: Arc<dyn StreamLog>,
        claim: &TurnClaim,
        stop: Arc<Stop>,
        last: Seq,
        parts: OpenParts,
    ) -> Self {
        let shared = Arc::new(Shared {
            log,
            task: claim.turn_id.task(),
            fence: claim.fence,
            state: Mutex::new(State {
                builder: SegmentBuilder::following(last),
                parts,
                unsent: None,
                broken: None,
                spoke: Instant::now(),
                silences_told: 0,
            }),
            grown: Notify::new(),
            stored: watch::Sender::new(last),
            closing: CancellationToken::new(),
            stop,
        });
        let flusher = tasks.spawn(Kind::Pen, flush(shared.clone()));
        Self { pen: Pen { shared }, flusher }
    }

    pub(crate) fn pen(&self) -> Pen {
        self.pen.clone()
    }

    /// Stops storing and hands out the rest, for the one transaction that ends the turn.
    pub(crate) async fn close(self) -> Closing {
        let shared = &self.pen.shared;
        shared.closing.cancel();
        if self.flusher.await.is_err() {
            tracing::error!("the task that stores a turn's chunks panicked");
        }
        let mut state = shared.state.lock().expect(LOCK);
        // A call that still runs must not write into what is being ended.
        state.broken.get_or_insert(Halt::Stop(StopReason::LeaseLost));
        let next = state.builder.next_seq();
        let rest = std::mem::replace(&mut state.builder, SegmentBuilder::following(next - 1));
        Closing::new(state.unsent.take(), rest, state.parts.clone())
    }
}

impl Pen {
    pub(crate) async fn emit(&self, chunk: Chunk) -> Result<(), Halt> {
        self.write(|state| state.say(&chunk)).await
    }

    pub(crate) async fn emit_all(&self, chunks: Vec<Chunk>) -> Result<(), Halt> {
        self.write(|state| chunks.iter().for_each(|chunk| state.say(chunk))).await
    }

    pub(crate) async fn text(&self, delta: String) -> Result<(), Halt> {
        self.write(|state| {
            if let Some(id) = state.parts.reasoning().map(str::to_owned) {
                state.say(&Chunk::ReasoningEnd { id });
            }
            let id = match state.parts.text() {
                Some(id) => id.to_owned(),
                None => {
                    let id = format!("t{}", state.builder.next_seq());
                    state.say(&Chunk::TextStart { id: id.clone() });
                    id
                }
            };
            state.say(&Chunk::TextDelta { id, delta });
        })
        .await
    }

    pub(crate) async fn reasoning(&self, delta: String) -> Result<(), Halt> {
        self.write(|state| {
            if let Some(id) = state.parts.text().map(str::to_owned) {
                state.say(&Chunk::TextEnd { id });
            }
            let id = match state.parts.reasoning() {
                Some(id) => id.to_owned(),
                None => {
                    let id = format!("r{}", state.builder.next_seq());
                    state.say(&Chunk::ReasoningStart { id: id.clone() });
                    id
                }
            };
            state.say(&Chunk::ReasoningDelta { id, delta });
        })
        .await
    }

    /// Ends text and reasoning, so that what follows stands apart.
    pub(crate) async fn end_words(&self) -> Result<(), Halt> {
        self.write(|state| {
            for chunk in state.parts.end_words() {
                state.say(&chunk);
            }
        })
        .await
    }

    /// Whether this turn has used the call id before, in any attempt.
    pub(crate) fn has_seen(&self, call: &CallId) -> bool {
        self.state().parts.has_seen(call)
    }

    /// Whether the call was shown and its result was not.
    pub(crate) fn awaits(&self, call: &CallId) -> bool {
        self.state().parts.unanswered().any(|open| open == call)
    }

    /// Returns when everything said so far is stored.
    pub(crate) async fn flushed(&self) -> Result<(), Halt> {
        let said = self.state().builder.next_seq() - 1;
        self.until(|shared| *shared.stored.borrow() >= said).await
    }

    /// Says now and then that work goes on. Runs beside the turn; never returns.
    pub(crate) fn break_silence(&self) -> impl Future<Output = Infallible> + use<> {
        let shared = self.shared.clone();
        async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if shared.state.lock().expect(LOCK).tell_silence() {
                    shared.grown.notify_one();
                }
            }
        }
    }

    /// Says it if there is room now, and nothing otherwise.
    pub(crate) fn hint(&self, chunk: &Chunk) {
        let mut state = self.state();
        if state.broken.is_some() || state.builder.len() > UNSTORED_BYTES / 2 {
            return;
        }
        state.say(chunk);
        drop(state);
        self.shared.grown.notify_one();
    }

    async fn write(&self, say: impl FnOnce(&mut State)) -> Result<(), Halt> {
        let crowded = {
            let mut state = self.state();
            if let Some(halt) = &state.broken {
                return Err(halt.clone());
            }
            say(&mut state);
            state.spoke = Instant::now();
            state.silences_told = 0;
            state.builder.len() > UNSTORED_BYTES
        };
        self.shared.grown.notify_one();
        if crowded {
            self.until(|shared| shared.state.lock().expect(LOCK).builder.len() <= UNSTORED_BYTES)
                .await?;
        }
        Ok(())
    }

    async fn until(&self, reached: impl Fn(&Shared) -> bool) -> Result<(), Halt> {
        let mut stored = self.shared.stored.subscribe();
        loop {
            if let Some(halt) = &self.state().broken {
                return Err(halt.clone());
            }
            if reached(&self.shared) {
                return Ok(());
            }
            tokio::select! {
                biased;
                reason = self.shared.stop.stopped() => return Err(Halt::Stop(reason)),
                _ = stored.changed() => {}
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().expect(LOCK)
    }
}

const LOCK: &str = "no code panics while it holds this lock";

impl State {
    /// A status is no sign of life of the work itself, so it does not count as speaking.
    fn tell_silence(&mut self) -> bool {
        let Some((after, words)) = SILENCES.get(self.silences_told) else { return false };
        if self.spoke.elapsed() < *after {
            return false;
        }
        self.silences_told += 1;
        self.say(&Chunk::status(*words));
        true
    }

    fn say(&mut self, chunk: &Chunk) {
        let seq = self.builder.push(chunk);
        self.parts.observe(chunk, seq);
    }
}

async fn flush(shared: Arc<Shared>) {
    let mut born = Some(Instant::now());
    loop {
        let segment = shared.state.lock().expect(LOCK).builder.take();
        let Some(segment) = segment else {
            tokio::select! {
                biased;
                () = shared.closing.cancelled() => return,
                () = shared.grown.notified() => continue,
            }
        };
        let last = segment.last;
        let count = last - segment.first + 1;
        match store(&shared, &segment).await {
            Ok(()) => {
                metrics::counter!("pilothouse_chunks_total").increment(count);
                if let Some(born) = born.take() {
                    metrics::histogram!("pilothouse_first_chunk_seconds").record(born.elapsed());
                }
                shared.stored.send_replace(last);
            }
            Err(halt) => {
                if let Halt::Stop(reason) = halt {
                    shared.stop.stop(reason);
                }
                let mut state = shared.state.lock().expect(LOCK);
                state.unsent = Some(segment);
                state.broken = Some(halt);
                drop(state);
                // Whoever waits for more to be stored must look again.
                shared.stored.send_modify(|_| {});
                return;
            }
        }
        if shared.closing.is_cancelled() {
            return;
        }
    }
}

async fn store(shared: &Shared, segment: &Segment) -> Result<(), Halt> {
    loop {
        match shared.log.append(&shared.task, shared.fence, segment.clone()).await {
            Ok(SegmentAppended::Stored) => return Ok(()),
            // An earlier try took effect without our hearing of it.
            Ok(SegmentAppended::Gap { last }) if last >= segment.last => return Ok(()),
            Ok(SegmentAppended::Stale | SegmentAppended::Sealed | SegmentAppended::Gap { .. }) => {
                metrics::counter!("pilothouse_fenced_appends_total").increment(1);
                return Err(Halt::Stop(StopReason::LeaseLost));
            }
            // The log may be fine and we too late: that is no failure of the turn.
            Err(PortError::Unavailable(_)) if shared.stop.is_lost() => {
                return Err(Halt::Stop(StopReason::LeaseLost));
            }
            Err(PortError::Unavailable(_)) if !shared.closing.is_cancelled() => {
                // The lease bounds this: a worker that cannot renew is stopped.
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
