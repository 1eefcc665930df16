//! What a run has done, on its way to the store: events gather while the batch before them is being written, so that a
//! busy store makes larger batches and not a longer queue.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use ports::BusSignal;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use protocol::credit::CreditCharge;
use protocol::execution::{ExecutionClaim, ExecutionStats, NodeEvent};
use protocol::review::Review;
use tokio::time::Instant;

use super::halt::Halt;
use crate::Inner;
use crate::turn::insist::insist_fenced;
use crate::turn::registry::Stop;

/// A run with so much to write waits until it is written.
const MOST_EVENTS: usize = 4_000;
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Hints that come faster than this are left out: whoever waits reads all that is new.
const BETWEEN_HINTS: Duration = Duration::from_millis(25);

pub(super) struct Journal {
    inner: Arc<Inner>,
    claim: ExecutionClaim,
    stop: Arc<Stop>,
    /// Events that are stored.
    stored: u64,
    /// Events that are stored or being written.
    given: u64,
    events: Vec<NodeEvent>,
    bytes: usize,
    charges: Vec<CreditCharge>,
    reviews: Vec<Review>,
    writing: Option<BoxFuture<'static, Result<ExecutionAdvanced, Halt>>>,
    hinted: Option<Instant>,
}

impl Journal {
    pub(super) fn new(inner: Arc<Inner>, claim: ExecutionClaim, stop: Arc<Stop>, at: u64) -> Self {
        Self {
            inner,
            claim,
            stop,
            stored: at,
            given: at,
            events: Vec::new(),
            bytes: 0,
            charges: Vec::new(),
            reviews: Vec::new(),
            writing: None,
            hinted: None,
        }
    }

    /// Gives the number under which the event will be stored.
    pub(super) fn add(&mut self, event: NodeEvent, bytes: usize) -> u64 {
        self.events.push(event);
        self.bytes += bytes;
        self.given + self.events.len() as u64
    }

    /// With the event that was added last.
    pub(super) fn charge(&mut self, charge: CreditCharge) {
        self.charges.push(charge);
    }

    pub(super) fn ask(&mut self, review: Review) {
        self.reviews.push(review);
    }

    pub(super) fn has_stored(&self, number: u64) -> bool {
        number <= self.stored
    }

    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= MOST_EVENTS || self.bytes >= MOST_BYTES
    }

    pub(super) fn is_clean(&self) -> bool {
        self.events.is_empty() && self.writing.is_none()
    }

    /// Begins to write what there is, unless something is being written.
    pub(super) fn begin(&mut self, stats: &ExecutionStats) -> Result<(), Halt> {
        if self.writing.is_none() && !self.events.is_empty() {
            self.write(stats, AfterAdvance::GoesOn)?;
        }
        Ok(())
    }

    /// Returns when what is being written is stored. Never returns while nothing is: to be waited for beside others.
    /// Dropping the future loses nothing.
    pub(super) async fn written(&mut self) -> Result<ExecutionAdvanced, Halt> {
        let Some(writing) = &mut self.writing else {
            return std::future::pending().await;
        };
        let answer = writing.await;
        self.writing = None;
        let advanced = answer?;
        self.stored = self.given;
        self.hint();
        Ok(advanced)
    }

    /// Writes all there is, and what is to become of the run then.
    pub(super) async fn close(
        &mut self,
        stats: &ExecutionStats,
        then: AfterAdvance,
    ) -> Result<ExecutionAdvanced, Halt> {
        while self.writing.is_some() {
            self.written().await?;
        }
        self.write(stats, then)?;
        self.hinted = None;
        self.written().await
    }

    fn write(&mut self, stats: &ExecutionStats, then: AfterAdvance) -> Result<(), Halt> {
        let events = std::mem::take(&mut self.events);
        self.bytes = 0;
        let body = match events.is_empty() {
            true => Bytes::new(),
            false => serde_json::to_vec(&events)
                .map_err(|_| Halt::fail("internal_error", "What a node did could not be written."))?
                .into(),
        };
        let advance = ExecutionAdvance {
            after: self.given,
            events: body,
            count: events.len() as u64,
            charges: std::mem::take(&mut self.charges),
            reviews: std::mem::take(&mut self.reviews),
            stats: stats.clone(),
            then,
        };
        self.given += advance.count;
        let (inner, claim, stop) = (self.inner.clone(), self.claim.clone(), self.stop.clone());
        let writing = async move {
            let executions = &inner.ports.executions;
            let written = insist_fenced(&stop, || executions.advance(&claim, advance.clone()));
            Ok(written.await?)
        };
        self.writing = Some(writing.boxed());
        Ok(())
    }

    fn hint(&mut self) {
        if self.hinted.is_some_and(|last| last.elapsed() < BETWEEN_HINTS) {
            return;
        }
        self.hinted = Some(Instant::now());
        self.inner.ports.bus.publish(BusSignal::Moved(self.claim.execution_id.clone()));
    }
}
