//! Follows an execution: yields every event of its journal in order, and its row whenever its status changes.

use std::sync::Arc;
use std::time::Duration;

use ports::{BusSignal, PortResult};
use protocol::execution::{Execution, ExecutionStatus, NodeEvent};
use protocol::{ExecutionId, UserId};
use tokio::sync::broadcast::Receiver;
use tokio::time::{Instant, timeout_at};

use super::wait_for_execution::signal_about;
use crate::{Engine, EngineInner};

/// How many bytes of the journal are read at once.
const READ_BYTES: usize = 256 * 1024;

/// One update of a followed execution.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionUpdate {
    /// Events with their numbers, starting at 1.
    Events(Vec<(u64, NodeEvent)>),
    /// The row: once at the start, and whenever its status has changed.
    Row(Box<Execution>),
    /// Nothing new within the time limit.
    Silent,
    /// The execution has ended and all events were returned.
    End,
    /// The user has no such execution.
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
    /// Follows the execution from the event after number `after`.
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
            // Subscribe before the first read, so that a change in between is not missed.
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
            // A final row is returned after all events, any other row before the events that follow it.
            let changed = self.shown != Some(row.status);
            if is_first || (changed && !row.status.is_final()) {
                let shown =
                    if row.status.is_final() { ExecutionStatus::Running } else { row.status };
                self.shown = Some(shown);
                if !row.status.is_final() {
                    return Ok(ExecutionUpdate::Row(Box::new(row)));
                }
            }
            // A number beyond the end is not from this execution: start from the first event.
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
