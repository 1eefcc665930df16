//! Following a run: every event of its journal in order, and its row whenever that has changed.

use std::sync::Arc;
use std::time::Duration;

use ports::{BusSignal, PortResult};
use protocol::execution::{Execution, ExecutionStatus, NodeEvent};
use protocol::{ExecutionId, UserId};
use tokio::sync::broadcast::Receiver;
use tokio::time::{Instant, timeout_at};

use super::wait_for_execution::signal_about;
use crate::{Engine, EngineInner};

/// How much of a journal is read at once.
const READ_BYTES: usize = 256 * 1024;

/// What a follower hears.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionUpdate {
    /// Events with their numbers, from 1.
    Events(Vec<(u64, NodeEvent)>),
    /// The row: once at the beginning, and whenever its status has changed.
    Row(Box<Execution>),
    /// Nothing new within the time.
    Silent,
    /// It has ended, and everything was given.
    End,
    /// The user has no such run.
    Gone,
}

pub struct ExecutionFollower {
    inner: Arc<EngineInner>,
    user: UserId,
    id: ExecutionId,
    after: u64,
    shown: Option<ExecutionStatus>,
    signals: Receiver<BusSignal>,
}

impl Engine {
    /// From the event after the one with this number on.
    pub fn follow_execution(
        &self,
        user: &UserId,
        id: &ExecutionId,
        after: u64,
    ) -> ExecutionFollower {
        ExecutionFollower {
            inner: self.inner.clone(),
            user: user.clone(),
            id: id.clone(),
            after,
            shown: None,
            // Listening before the first look: a change in between is not missed.
            signals: self.inner.ports.bus.subscribe(),
        }
    }
}

impl ExecutionFollower {
    pub async fn next(&mut self, at_most: Duration) -> PortResult<ExecutionUpdate> {
        let deadline = Instant::now() + at_most;
        loop {
            let executions = &self.inner.ports.executions;
            let Some(row) = executions.get(&self.user, &self.id).await? else {
                return Ok(ExecutionUpdate::Gone);
            };
            let is_first = self.shown.is_none();
            // A final row comes after all events, any other before those that follow it.
            let changed = self.shown != Some(row.status);
            if is_first || (changed && !row.status.is_final()) {
                let shown =
                    if row.status.is_final() { ExecutionStatus::Running } else { row.status };
                self.shown = Some(shown);
                if !row.status.is_final() {
                    return Ok(ExecutionUpdate::Row(Box::new(row)));
                }
            }
            // A number beyond the end is one of another run, or of nobody's: everything is given.
            if self.after > row.events {
                self.after = 0;
            }
            if row.events > self.after {
                return Ok(ExecutionUpdate::Events(self.read().await?));
            }
            if row.status.is_final() {
                if self.shown == Some(row.status) {
                    return Ok(ExecutionUpdate::End);
                }
                self.shown = Some(row.status);
                return Ok(ExecutionUpdate::Row(Box::new(row)));
            }
            if Instant::now() >= deadline {
                return Ok(ExecutionUpdate::Silent);
            }
            let next_look = deadline.min(Instant::now() + self.inner.options.poll);
            let _ = timeout_at(next_look, signal_about(&mut self.signals, &self.id)).await;
        }
    }

    async fn read(&mut self) -> PortResult<Vec<(u64, NodeEvent)>> {
        let executions = &self.inner.ports.executions;
        let batches = executions.journal(&self.user, &self.id, self.after, READ_BYTES).await?;
        let mut given = Vec::new();
        for batch in batches {
            let events: Vec<NodeEvent> = serde_json::from_slice(&batch.events).unwrap_or_default();
            for (at, event) in events.into_iter().enumerate() {
                let number = batch.first + at as u64 + 1;
                if number > self.after {
                    given.push((number, event));
                }
            }
            self.after = self.after.max(batch.first + batch.count);
        }
        Ok(given)
    }
}
