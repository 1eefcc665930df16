//! Moves a run along: begins what can begin, lets outputs flow in order, journals both, until nothing is left to do.

mod again;
mod begin;
mod closing;
mod ended;
mod in_flight;
mod lanes;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use ports::block::BlockError;
use protocol::execution::{Execution, ExecutionError, ExecutionStats, NodeEvent, node_run_id};
use tokio::time::Instant;

use self::in_flight::{InFlight, RunFuture};
use self::lanes::Lanes;
use super::halt::Halt;
use super::journal::Journal;
use super::plan::{NodeAt, Plan};
use super::slot::Slots;
use super::waiting::Waiting;
use crate::Inner;
use crate::turn::registry::{Stop, StopReason};

/// Node runs that work at the same time within one run.
const AT_WORK: usize = 64;
/// Complete sets of inputs from which on nothing more flows: what there is begins first.
const READY: usize = 64;
/// Values that may wait for others of their set.
const MOST_WAITING: usize = 100_000;
/// A node run that takes longer is journaled as running, for people to see.
const ANNOUNCE: Duration = Duration::from_millis(200);
/// How many times a node run begins or its outputs flow before others of this thread get their turn.
const AT_ONCE: usize = 128;

/// One attempt's work on one run.
pub(super) struct Flow {
    pub(super) inner: Arc<Inner>,
    pub(super) execution: Arc<Execution>,
    pub(super) stop: Arc<Stop>,
    pub(super) plan: Plan,
    pub(super) journal: Journal,
    pub(super) stats: ExecutionStats,
    /// Seconds of the attempts before.
    pub(super) worked_before: f64,
    pub(super) began: Instant,
    pub(super) waiting: Arc<Waiting>,
    pub(super) slots: Slots,
    running: FuturesUnordered<RunFuture>,
    in_flight: HashMap<u64, InFlight>,
    lanes: Lanes,
    /// Begun, but not before their beginning is stored: under which number it will be.
    held: VecDeque<(u64, u64)>,
    bytes: u64,
    fatal: Option<ExecutionError>,
}

/// How a flow came to rest.
pub(super) enum Settled {
    /// Nothing is left to do.
    Done,
    /// Only a person can get it on.
    InReview,
}

/// What a flow begins with.
pub(super) struct Beginning {
    pub(super) plan: Plan,
    pub(super) journal: Journal,
    pub(super) stats: ExecutionStats,
    pub(super) bytes: u64,
}

impl Flow {
    pub(super) fn new(
        inner: Arc<Inner>,
        execution: Arc<Execution>,
        stop: Arc<Stop>,
        slots: Slots,
        beginning: Beginning,
    ) -> Self {
        let Beginning { plan, journal, stats, bytes } = beginning;
        Self {
            worked_before: execution.stats.duration,
            inner,
            execution,
            stop,
            plan,
            journal,
            stats,
            began: Instant::now(),
            waiting: Arc::default(),
            slots,
            running: FuturesUnordered::new(),
            in_flight: HashMap::new(),
            lanes: Lanes::default(),
            held: VecDeque::new(),
            bytes,
            fatal: None,
        }
    }

    /// Goes on until nothing but a person can get the run on, or it is over.
    pub(super) async fn run(&mut self) -> Result<Settled, Halt> {
        let mut announce = tokio::time::interval(ANNOUNCE);
        announce.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.progress()?;
            self.stats.duration = self.worked_before + self.began.elapsed().as_secs_f64();
            self.journal.begin(&self.stats)?;
            if self.is_idle() && self.journal.is_clean() {
                let in_review = self.plan.open().any(|(_, open)| open.in_review);
                return Ok(if in_review { Settled::InReview } else { Settled::Done });
            }
            self.check_shutdown()?;
            self.keep_a_slot().await?;
            tokio::select! {
                biased;
                reason = self.stop.stopped() => return Err(Halt::Stop(reason)),
                written = self.journal.written() => {
                    written?;
                    self.release_held();
                }
                Some((run, ended)) = self.running.next(), if !self.running.is_empty() => {
                    self.note_end(run, ended);
                    self.note_other_ends();
                }
                () = self.waiting.news() => {}
                () = self.inner.phase.stopping(), if !self.inner.phase.is_stopping() => {}
                _ = announce.tick() => self.announce_slow()?,
            }
            // The lease is kept by the same task, and others want this thread, too.
            tokio::task::yield_now().await;
        }
    }

    /// Whether nothing can move by itself.
    fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.held.is_empty() && self.plan.ready() == 0
    }

    /// Lets outputs flow and begins what can begin, as long as that changes anything.
    fn progress(&mut self) -> Result<(), Halt> {
        let mut moves = 0;
        while moves < AT_ONCE {
            let moved = self.settle_heads()? + self.begin_ready()?;
            if let Some(error) = self.fatal.take() {
                return Err(Halt::Fail(error));
            }
            if moved == 0 {
                return Ok(());
            }
            moves += moved;
            self.note_other_ends();
        }
        // There is more to do: the loop comes back to it after the others.
        self.waiting.tell();
        Ok(())
    }

    fn note_end(&mut self, run: u64, ended: Result<(), BlockError>) {
        if let Some(flight) = self.in_flight.get_mut(&run) {
            flight.ended = Some(ended);
        }
    }

    fn note_other_ends(&mut self) {
        while let Some(Some((run, ended))) = self.running.next().now_or_never() {
            self.note_end(run, ended);
        }
    }

    /// A change of a run, at this moment.
    fn event(&self, run: u64, at: NodeAt) -> NodeEvent {
        NodeEvent {
            run,
            node: self.plan.node(at).id.clone(),
            outputs: Vec::new(),
            status: None,
            error: None,
            decision: None,
            cost: 0,
            at: self.inner.ports.clock.now().as_millisecond(),
        }
    }

    /// Takes an event in and journals it. Gives its number.
    fn record(&mut self, event: NodeEvent) -> Result<u64, Halt> {
        let size: usize =
            event.outputs.iter().map(|(_, value)| super::outlet::size(value)).sum::<usize>() + 64;
        self.bytes += size as u64;
        if self.bytes > protocol::limits::EXECUTION_BYTES {
            return Err(Halt::fail(
                "output_too_large",
                "The nodes of this run have emitted too much.",
            ));
        }
        self.plan.apply(&event).map_err(broken)?;
        if self.plan.waiting() > MOST_WAITING {
            return Err(Halt::fail(
                "too_many_waiting",
                "Too many values wait for another input of their node, which does not come.",
            ));
        }
        Ok(self.journal.add(event, size))
    }

    /// A shutdown takes the run away once nothing works here any more; who only waits can wait elsewhere.
    fn check_shutdown(&self) -> Result<(), Halt> {
        if !self.inner.phase.is_stopping() || !self.journal.is_clean() {
            return Ok(());
        }
        let at_work = self.in_flight.values().filter(|flight| flight.is_at_work()).count();
        match at_work <= self.waiting.count() {
            true => Err(Halt::Stop(StopReason::Shutdown)),
            false => Ok(()),
        }
    }

    /// A run whose node runs all wait for other work lends its slot to others.
    async fn keep_a_slot(&mut self) -> Result<(), Halt> {
        let at_work = self.in_flight.values().filter(|flight| flight.is_at_work()).count();
        let only_waits = at_work > 0 && self.waiting.count() >= at_work && self.held.is_empty();
        if only_waits {
            self.slots.lend();
            return Ok(());
        }
        tokio::select! {
            biased;
            reason = self.stop.stopped() => Err(Halt::Stop(reason)),
            () = self.slots.take_back() => Ok(()),
        }
    }

    /// The key of a node run: the same in every attempt.
    fn key(&self, run: u64) -> String {
        node_run_id(&self.execution.id, run).0
    }
}

pub(super) fn broken(broken: super::plan::Broken) -> Halt {
    tracing::error!(%broken, "the journal of a run does not fit its graph");
    Halt::fail("broken_journal", "What is stored about this run does not fit its agent.")
}
