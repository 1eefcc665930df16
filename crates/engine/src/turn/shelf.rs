//! Calls that took longer than their budget and go on in the background, until they end, are cancelled, or their turn
//! ends. What is here is a cache of the journal, and the work itself.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{BackgroundCalls, BackgroundView};
use ports::store::{BackgroundEnd, JournalEntry};
use protocol::chunk::{BackgroundData, Chunk};
use protocol::limits::PARKED_CALLS;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{BackgroundStatus, BackgroundTool, ToolResponse};
use protocol::{BackgroundId, CallId};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::call::{Ended, Work};
use super::desk::Desk;
use super::output;
use crate::tasks::Kind;

/// How long a call that was told to stop may take to do so by itself.
pub(super) const GRACE: Duration = Duration::from_millis(500);

pub(crate) struct Shelf {
    desk: Desk,
    calls: Mutex<Vec<Shelved>>,
    /// What was ended to make room, for the moment it takes to write that down.
    evicted: Mutex<Vec<Shelved>>,
    /// Counts what has ended.
    ends: watch::Sender<u64>,
}

/// The attempt's own hold on its shelf: without it everything on the shelf ends.
pub(crate) struct Owned(Arc<Shelf>);

impl Owned {
    pub(super) fn new(desk: Desk) -> Self {
        let (calls, evicted) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Shelf { desk, calls, evicted, ends: watch::Sender::new(0) }))
    }

    pub(super) fn shared(&self) -> Arc<Shelf> {
        self.0.clone()
    }
}

impl Deref for Owned {
    type Target = Arc<Shelf>;

    fn deref(&self) -> &Arc<Shelf> {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // What is on the shelf holds the shelf, too.
        self.0.drop_all();
    }
}

struct Shelved {
    id: BackgroundId,
    call: ToolCall,
    since: Instant,
    state: State,
}

enum State {
    Running { cancel: CancellationToken, keeper: Option<AbortOnDropHandle<()>> },
    Ended { outcome: ToolOutcome, output: Value },
}

impl Shelf {
    /// Takes the work over. What is too much ends the oldest.
    pub(super) fn put(self: &Arc<Self>, id: BackgroundId, call: ToolCall, work: Work) {
        let cancel = work.cancel.clone();
        let state = State::Running { cancel: cancel.clone(), keeper: None };
        let evicted = {
            let mut calls = self.calls();
            let evicted = (calls.len() >= PARKED_CALLS).then(|| calls.remove(0));
            calls.push(Shelved {
                id: id.clone(),
                call: call.clone(),
                since: Instant::now(),
                state,
            });
            evicted
        };
        if let Some(evicted) = evicted {
            self.evict(evicted);
        }
        let keeping = keep(self.clone(), id.clone(), call, work);
        let keeper = AbortOnDropHandle::new(self.desk.inner.tasks.spawn(Kind::Tool, keeping));
        if let Some(shelved) = self.calls().iter_mut().find(|shelved| shelved.id == id)
            && matches!(shelved.state, State::Running { .. })
        {
            shelved.state = State::Running { cancel, keeper: Some(keeper) };
        }
    }

    fn evict(&self, oldest: Shelved) {
        let State::Running { cancel, .. } = &oldest.state else { return };
        tracing::info!(background.id = %oldest.id, "the oldest parked call is ended to make room");
        cancel.cancel();
        let mut evicted = lock(&self.evicted);
        evicted.retain(Shelved::is_kept);
        evicted.push(oldest);
    }

    /// One that had ended before this attempt, as the journal says.
    pub(super) fn put_ended(&self, id: BackgroundId, call: ToolCall, end: &BackgroundEnd) {
        let output = serde_json::from_str(&end.output).unwrap_or(Value::Null);
        let state = State::Ended { outcome: end.outcome, output };
        self.calls().push(Shelved { id, call, since: Instant::now(), state });
    }

    /// The call behind a handle, if it has ended.
    pub(super) fn ended_call(&self, id: &BackgroundId) -> Option<CallId> {
        let calls = self.calls();
        let found = calls.iter().find(|shelved| shelved.id == *id)?;
        matches!(found.state, State::Ended { .. }).then(|| found.call.id.clone())
    }

    /// The model has its result: the entry is consumed.
    pub(super) fn take(&self, call: &CallId) {
        self.calls().retain(|shelved| shelved.call.id != *call);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls().is_empty()
    }

    /// The tools that still run.
    pub(super) fn running(&self) -> Vec<String> {
        let calls = self.calls();
        let running = calls.iter().filter(|shelved| matches!(shelved.state, State::Running { .. }));
        running.map(|shelved| shelved.call.name.clone()).collect()
    }

    /// Ends everything, with a moment to do so in an orderly way.
    pub(super) async fn close(&self) {
        let mut ends = self.ends.subscribe();
        for shelved in self.calls().iter() {
            if let State::Running { cancel, .. } = &shelved.state {
                cancel.cancel();
            }
        }
        let all_ended = async {
            while !self.running().is_empty() {
                let _ = ends.changed().await;
            }
        };
        let _ = tokio::time::timeout(2 * GRACE, all_ended).await;
        self.drop_all();
    }

    /// Ends everything at once, and writes nothing.
    pub(super) fn drop_all(&self) {
        // Outside the lock: what is dropped may look at the shelf.
        let dropped =
            (std::mem::take(&mut *self.calls()), std::mem::take(&mut *lock(&self.evicted)));
        drop(dropped);
    }

    async fn end(&self, id: &BackgroundId, call: &ToolCall, outcome: ToolOutcome, output: Value) {
        let end = BackgroundEnd { outcome, output: output.to_string() };
        let mut entries = vec![JournalEntry::ParkedEnded { call_id: call.id.clone(), end }];
        if self.view(id).is_none() {
            // It had to make room: nobody can ask for it any more, after a crash either.
            entries.push(JournalEntry::ParkedTaken { call_id: call.id.clone() });
        }
        let shown = how_it_ended(id, call, outcome, &output);
        if let Err(halt) = self.desk.record_and_show(entries, shown).await {
            tracing::debug!(?halt, background.id = %id, "the end of a parked call could not be kept");
            return;
        }
        if let Some(shelved) = self.calls().iter_mut().find(|shelved| shelved.id == *id) {
            shelved.state = State::Ended { outcome, output };
        }
        self.ends.send_modify(|ends| *ends += 1);
    }

    fn view(&self, id: &BackgroundId) -> Option<BackgroundView> {
        let calls = self.calls();
        let shelved = calls.iter().find(|shelved| shelved.id == *id)?;
        let (status, output) = match &shelved.state {
            State::Running { .. } => (BackgroundStatus::StillRunning, None),
            State::Ended { outcome, output } => (status(*outcome), Some(output.clone())),
        };
        Some(BackgroundView { tool: shelved.call.name.clone(), status, output })
    }

    async fn until_ended(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView> {
        let mut ends = self.ends.subscribe();
        let deadline = Instant::now() + at_most;
        loop {
            let view = self.view(id)?;
            if view.status != BackgroundStatus::StillRunning || Instant::now() >= deadline {
                return Some(view);
            }
            let _ = tokio::time::timeout_at(deadline, ends.changed()).await;
        }
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Shelved>> {
        lock(&self.calls)
    }
}

impl Shelved {
    /// Whether somebody still works on its end.
    fn is_kept(&self) -> bool {
        matches!(&self.state, State::Running { keeper: Some(keeper), .. } if !keeper.is_finished())
    }
}

fn lock(calls: &Mutex<Vec<Shelved>>) -> MutexGuard<'_, Vec<Shelved>> {
    calls.lock().expect("no code panics while it holds this lock")
}

#[async_trait]
impl BackgroundCalls for Shelf {
    fn list(&self) -> Vec<BackgroundTool> {
        let calls = self.calls();
        let listed = calls.iter().map(|shelved| BackgroundTool {
            background_id: shelved.id.clone(),
            tool: shelved.call.name.clone(),
            age_seconds: shelved.since.elapsed().as_secs(),
            done: matches!(shelved.state, State::Ended { .. }),
        });
        listed.collect()
    }

    async fn wait(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView> {
        self.until_ended(id, at_most).await
    }

    async fn cancel(&self, id: &BackgroundId) -> Option<BackgroundView> {
        let cancel = {
            let calls = self.calls();
            match &calls.iter().find(|shelved| shelved.id == *id)?.state {
                State::Running { cancel, .. } => Some(cancel.clone()),
                State::Ended { .. } => None,
            }
        };
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
        self.until_ended(id, 4 * GRACE).await
    }
}

/// Waits for the work and writes down how it ended.
async fn keep(shelf: Arc<Shelf>, id: BackgroundId, call: ToolCall, mut work: Work) {
    let cancel = work.cancel.clone();
    let stopped = async {
        cancel.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    let (response, outcome) = tokio::select! {
        biased;
        ended = work.ended() => match ended {
            // One that was told to stop and has done its work all the same says so.
            Ended::Answer(response, ToolOutcome::Ok) => (response, ToolOutcome::Ok),
            _ if work.cancel.is_cancelled() => cancelled(),
            Ended::Answer(response, outcome) => (response, outcome),
            Ended::Fatal => {
                let words = format!("The tool {} cannot work here.", work.tool);
                (ToolResponse::error("tool_unusable", words), ToolOutcome::Error)
            }
        },
        () = stopped => cancelled(),
    };
    drop(work);
    let desk = &shelf.desk;
    let output = output::bounded(&*desk.inner.ports.files, &desk.place, &call, &response).await;
    shelf.end(&id, &call, outcome, output).await;
}

/// The end of a parked call, as a client is told.
pub(super) fn how_it_ended(
    id: &BackgroundId,
    call: &ToolCall,
    outcome: ToolOutcome,
    output: &Value,
) -> Chunk {
    Chunk::DataBackground {
        id: id.clone(),
        data: BackgroundData {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            status: status(outcome),
            output: Some(output.clone()),
        },
    }
}

fn cancelled() -> (ToolResponse, ToolOutcome) {
    (ToolResponse::error("cancelled", "The call was cancelled."), ToolOutcome::Cancelled)
}

fn status(outcome: ToolOutcome) -> BackgroundStatus {
    match outcome {
        ToolOutcome::Ok => BackgroundStatus::Completed,
        ToolOutcome::Cancelled => BackgroundStatus::Cancelled,
        ToolOutcome::Error | ToolOutcome::Denied | ToolOutcome::Interrupted => {
            BackgroundStatus::Error
        }
    }
}
