//! The background calls of a turn, until they end, are canceled, or the turn ends. The list is a cache of the journal
//! plus the running calls themselves.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{BackgroundCalls, BackgroundView};
use ports::store::{BackgroundEnd, JournalEntry};
use protocol::limits::BACKGROUND_CALLS;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{BackgroundStatus, BackgroundTool};
use protocol::{BackgroundId, CallId};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::call_end::{CANCEL_GRACE, end_chunk, status, wait_for_outcome};
use crate::tasks::TaskKind;
use crate::turn::output;
use crate::turn::tool_call::RunningCall;
use crate::turn::turn_writer::TurnWriter;

pub(crate) struct BackgroundCallList {
    writer: TurnWriter,
    calls: Mutex<Vec<BackgroundCall>>,
    /// Calls that were canceled to make room, kept until their end is stored.
    evicted: Mutex<Vec<BackgroundCall>>,
    /// Increases whenever a call ends.
    end_count: watch::Sender<u64>,
}

/// Held by the attempt: all background calls end when this is dropped.
pub(crate) struct OwnedBackgroundCalls(Arc<BackgroundCallList>);

impl OwnedBackgroundCalls {
    pub(crate) fn new(writer: TurnWriter) -> Self {
        let (calls, evicted) = (Mutex::default(), Mutex::default());
        Self(Arc::new(BackgroundCallList {
            writer,
            calls,
            evicted,
            end_count: watch::Sender::new(0),
        }))
    }

    pub(crate) fn shared(&self) -> Arc<BackgroundCallList> {
        self.0.clone()
    }
}

impl Deref for OwnedBackgroundCalls {
    type Target = Arc<BackgroundCallList>;

    fn deref(&self) -> &Arc<BackgroundCallList> {
        &self.0
    }
}

impl Drop for OwnedBackgroundCalls {
    fn drop(&mut self) {
        // The watcher tasks hold the list too, so it would not be dropped by itself.
        self.0.drop_all();
    }
}

struct BackgroundCall {
    id: BackgroundId,
    call: ToolCall,
    since: Instant,
    state: BackgroundCallState,
}

enum BackgroundCallState {
    Running { cancel: CancellationToken, watcher: Option<AbortOnDropHandle<()>> },
    Ended { outcome: ToolOutcome, output: Value },
}

impl BackgroundCallList {
    /// Takes over a running call. If the list is full, the oldest call is canceled.
    pub(crate) fn add(
        self: &Arc<Self>,
        id: BackgroundId,
        call: ToolCall,
        running_call: RunningCall,
    ) {
        let cancel = running_call.cancel.clone();
        let state = BackgroundCallState::Running { cancel: cancel.clone(), watcher: None };
        let evicted = {
            let mut calls = self.calls();
            let evicted = (calls.len() >= BACKGROUND_CALLS).then(|| calls.remove(0));
            calls.push(BackgroundCall {
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
        let watching = self.clone().store_end(id.clone(), call, running_call);
        let watcher =
            AbortOnDropHandle::new(self.writer.leased.inner.tasks.spawn(TaskKind::Tool, watching));
        if let Some(background) = self.calls().iter_mut().find(|background| background.id == id)
            && matches!(background.state, BackgroundCallState::Running { .. })
        {
            background.state = BackgroundCallState::Running { cancel, watcher: Some(watcher) };
        }
    }

    fn evict(&self, oldest: BackgroundCall) {
        let BackgroundCallState::Running { cancel, .. } = &oldest.state else { return };
        tracing::info!(background.id = %oldest.id, "the oldest background call is canceled to make room");
        cancel.cancel();
        let mut evicted = lock(&self.evicted);
        evicted.retain(BackgroundCall::is_ending);
        evicted.push(oldest);
    }

    /// Adds a call that ended in an earlier attempt.
    pub(crate) fn add_ended(&self, id: BackgroundId, call: ToolCall, end: &BackgroundEnd) {
        let output = serde_json::from_str(&end.output).unwrap_or(Value::Null);
        let state = BackgroundCallState::Ended { outcome: end.outcome, output };
        self.calls().push(BackgroundCall { id, call, since: Instant::now(), state });
    }

    /// The call with this background id, if it has ended.
    pub(crate) fn ended_call(&self, id: &BackgroundId) -> Option<CallId> {
        let calls = self.calls();
        let found = calls.iter().find(|background| background.id == *id)?;
        matches!(found.state, BackgroundCallState::Ended { .. }).then(|| found.call.id.clone())
    }

    /// Removes a call whose result was delivered to the model.
    pub(crate) fn remove(&self, call: &CallId) {
        self.calls().retain(|background| background.call.id != *call);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls().is_empty()
    }

    /// Names of the tools that are still running.
    pub(crate) fn running(&self) -> Vec<String> {
        let calls = self.calls();
        let running = calls
            .iter()
            .filter(|background| matches!(background.state, BackgroundCallState::Running { .. }));
        running.map(|background| background.call.name.clone()).collect()
    }

    /// Cancels all calls and waits briefly for them to end.
    pub(crate) async fn close(&self) {
        let mut end_count = self.end_count.subscribe();
        for background in self.calls().iter() {
            if let BackgroundCallState::Running { cancel, .. } = &background.state {
                cancel.cancel();
            }
        }
        let all_ended = async {
            while !self.running().is_empty() {
                let _ = end_count.changed().await;
            }
        };
        let _ = tokio::time::timeout(2 * CANCEL_GRACE, all_ended).await;
        self.drop_all();
    }

    /// Aborts all calls without writing anything.
    pub(crate) fn drop_all(&self) {
        // Drop outside the lock: what is dropped may access the list.
        let dropped =
            (std::mem::take(&mut *self.calls()), std::mem::take(&mut *lock(&self.evicted)));
        drop(dropped);
    }

    /// Waits for the call and stores how it ended.
    async fn store_end(self: Arc<Self>, id: BackgroundId, call: ToolCall, running: RunningCall) {
        let (response, outcome) = wait_for_outcome(running).await;
        let output = output::limit_output(&self.writer.leased, &call, &response).await;
        self.end(&id, &call, outcome, output).await;
    }

    async fn end(&self, id: &BackgroundId, call: &ToolCall, outcome: ToolOutcome, output: Value) {
        let end = BackgroundEnd { outcome, output: output.to_string() };
        let mut entries = vec![JournalEntry::BackgroundEnded { call_id: call.id.clone(), end }];
        if self.view(id).is_none() {
            // The call was evicted: its result cannot be requested any more, not even after a crash.
            entries.push(JournalEntry::BackgroundTaken { call_id: call.id.clone() });
        }
        let shown = end_chunk(id, call, outcome, &output);
        if let Err(halt) = self.writer.record_and_show(entries, shown).await {
            tracing::debug!(?halt, background.id = %id, "could not store the end of a background call");
            return;
        }
        if let Some(background) = self.calls().iter_mut().find(|background| background.id == *id) {
            background.state = BackgroundCallState::Ended { outcome, output };
        }
        self.end_count.send_modify(|end_count| *end_count += 1);
    }

    fn view(&self, id: &BackgroundId) -> Option<BackgroundView> {
        let calls = self.calls();
        let background = calls.iter().find(|background| background.id == *id)?;
        let (status, output) = match &background.state {
            BackgroundCallState::Running { .. } => (BackgroundStatus::StillRunning, None),
            BackgroundCallState::Ended { outcome, output } => {
                (status(*outcome), Some(output.clone()))
            }
        };
        Some(BackgroundView { tool: background.call.name.clone(), status, output })
    }

    async fn wait_for_end(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView> {
        let mut end_count = self.end_count.subscribe();
        let deadline = Instant::now() + at_most;
        loop {
            let view = self.view(id)?;
            if view.status != BackgroundStatus::StillRunning || Instant::now() >= deadline {
                return Some(view);
            }
            let _ = tokio::time::timeout_at(deadline, end_count.changed()).await;
        }
    }

    fn calls(&self) -> MutexGuard<'_, Vec<BackgroundCall>> {
        lock(&self.calls)
    }
}

impl BackgroundCall {
    /// Whether a task is still storing its end.
    fn is_ending(&self) -> bool {
        matches!(&self.state, BackgroundCallState::Running { watcher: Some(watcher), .. } if !watcher.is_finished())
    }
}

fn lock(calls: &Mutex<Vec<BackgroundCall>>) -> MutexGuard<'_, Vec<BackgroundCall>> {
    calls.lock().expect("no code panics while it holds this lock")
}

#[async_trait]
impl BackgroundCalls for BackgroundCallList {
    fn list(&self) -> Vec<BackgroundTool> {
        let calls = self.calls();
        let listed = calls.iter().map(|background| BackgroundTool {
            background_id: background.id.clone(),
            tool: background.call.name.clone(),
            age_seconds: background.since.elapsed().as_secs(),
            done: matches!(background.state, BackgroundCallState::Ended { .. }),
        });
        listed.collect()
    }

    async fn wait(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView> {
        self.wait_for_end(id, at_most).await
    }

    async fn cancel(&self, id: &BackgroundId) -> Option<BackgroundView> {
        let cancel = {
            let calls = self.calls();
            match &calls.iter().find(|background| background.id == *id)?.state {
                BackgroundCallState::Running { cancel, .. } => Some(cancel.clone()),
                BackgroundCallState::Ended { .. } => None,
            }
        };
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
        self.wait_for_end(id, 4 * CANCEL_GRACE).await
    }
}
