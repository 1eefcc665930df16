//! Writes the journal of an execution. Events collect while the previous batch is being written, so a slow store leads
//! to larger batches instead of a longer queue.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use ports::BusSignal;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::credit::CreditCharge;
use protocol::execution::{ExecutionStats, NodeEvent};
use protocol::review::Review;
use tokio::time::Instant;

use super::leased_execution::LeasedExecution;
use crate::job::halt::ExecutionHalt;
use crate::job::retry::retry_fenced;

/// An execution with this many unwritten events or bytes waits until they are written.
const MAX_EVENTS: usize = 4_000;
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Hints within this interval are dropped: a listener reads everything new anyway.
const HINT_INTERVAL: Duration = Duration::from_millis(25);

pub(crate) struct ExecutionJournal {
    leased: Arc<LeasedExecution>,
    /// Number of events that are stored.
    stored: u64,
    /// Number of events that are stored or being written.
    assigned: u64,
    events: Vec<NodeEvent>,
    bytes: usize,
    charges: Vec<CreditCharge>,
    reviews: Vec<Review>,
    writing: Option<BoxFuture<'static, Result<ExecutionAdvanced, ExecutionHalt>>>,
    hinted: Option<Instant>,
}

impl ExecutionJournal {
    /// Continues after the events that the claimed execution has.
    pub(crate) fn new(leased: Arc<LeasedExecution>) -> Self {
        let at = leased.execution.events;
        Self {
            leased,
            stored: at,
            assigned: at,
            events: Vec::new(),
            bytes: 0,
            charges: Vec::new(),
            reviews: Vec::new(),
            writing: None,
            hinted: None,
        }
    }

    /// Returns the number under which the event will be stored.
    pub(crate) fn add(&mut self, event: NodeEvent, bytes: usize) -> u64 {
        self.events.push(event);
        self.bytes += bytes;
        self.assigned + self.events.len() as u64
    }

    /// The charge is stored with the event that was added last.
    pub(crate) fn add_charge(&mut self, charge: CreditCharge) {
        self.charges.push(charge);
    }

    pub(crate) fn add_review(&mut self, review: Review) {
        self.reviews.push(review);
    }

    pub(crate) fn has_stored(&self, number: u64) -> bool {
        number <= self.stored
    }

    pub(crate) fn is_full(&self) -> bool {
        self.events.len() >= MAX_EVENTS || self.bytes >= MAX_BYTES
    }

    pub(crate) fn is_flushed(&self) -> bool {
        self.events.is_empty() && self.writing.is_none()
    }

    /// Starts writing the collected events, unless a write is in progress.
    pub(crate) fn start_write(&mut self, stats: &ExecutionStats) -> Result<(), ExecutionHalt> {
        if self.writing.is_none() && !self.events.is_empty() {
            self.write(stats, AfterAdvance::Continue)?;
        }
        Ok(())
    }

    /// Returns when the write in progress is stored. Never returns when there is none, so it can be one branch of a
    /// `select!`. Cancel-safe.
    pub(crate) async fn written(&mut self) -> Result<ExecutionAdvanced, ExecutionHalt> {
        let Some(writing) = &mut self.writing else {
            return std::future::pending().await;
        };
        let answer = writing.await;
        self.writing = None;
        let advanced = answer?;
        self.stored = self.assigned;
        self.hint();
        Ok(advanced)
    }

    /// Writes all remaining events and `then`, which decides the status of the execution.
    pub(crate) async fn close(
        &mut self,
        stats: &ExecutionStats,
        then: AfterAdvance,
    ) -> Result<ExecutionAdvanced, ExecutionHalt> {
        while self.writing.is_some() {
            self.written().await?;
        }
        self.write(stats, then)?;
        self.hinted = None;
        self.written().await
    }

    fn write(&mut self, stats: &ExecutionStats, then: AfterAdvance) -> Result<(), ExecutionHalt> {
        let events = std::mem::take(&mut self.events);
        self.bytes = 0;
        let body = match events.is_empty() {
            true => Bytes::new(),
            false => serde_json::to_vec(&events)
                .map_err(|_| {
                    ExecutionHalt::fail(
                        "internal_error",
                        "The events of a node could not be serialized.",
                    )
                })?
                .into(),
        };
        let advance = ExecutionAdvance {
            after: self.assigned,
            events: body,
            count: events.len() as u64,
            charges: std::mem::take(&mut self.charges),
            reviews: std::mem::take(&mut self.reviews),
            stats: stats.clone(),
            then,
        };
        self.assigned += advance.count;
        let leased = self.leased.clone();
        let writing = async move {
            let LeasedExecution { inner, claim, stop, .. } = &*leased;
            let executions = &inner.ports.executions;
            let written = retry_fenced(stop, || executions.advance(claim, advance.clone()));
            Ok(written.await?)
        };
        self.writing = Some(writing.boxed());
        Ok(())
    }

    fn hint(&mut self) {
        if self.hinted.is_some_and(|last| last.elapsed() < HINT_INTERVAL) {
            return;
        }
        self.hinted = Some(Instant::now());
        let LeasedExecution { inner, execution, .. } = &*self.leased;
        inner.ports.bus.publish(BusSignal::Moved(execution.id.clone()));
    }
}
