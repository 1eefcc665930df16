//! Runs an execution: starts nodes, passes their outputs along links in order and journals both, until nothing is left
//! to do.

mod finish;
mod node_order;
mod resume;
mod running_node;
mod settle_outputs;
mod start_nodes;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use ports::block::{BlockError, NodePlace};
use protocol::execution::{ExecutionError, ExecutionStats, NodeEvent, node_execution_id};
use tokio::time::Instant;

use self::node_order::NodeOrder;
use self::running_node::{NodeFuture, RunningNode};
use super::journal::ExecutionJournal;
use super::leased_execution::LeasedExecution;
use super::plan::{ExecutionPlan, NodeAt};
use super::rehearsal::NodeAnswers;
use super::waiting_nodes::WaitingNodes;
use crate::job::execution_permit::ExecutionPermit;
use crate::job::halt::ExecutionHalt;
use crate::job::stop::StopCause;

/// How many node runs may work at the same time within one execution.
const MAX_WORKING: usize = 64;
/// When this many input sets are complete, no more outputs are passed on until some have started.
const MAX_READY: usize = 64;
/// How many values may wait for the other inputs of their set.
const MAX_WAITING_VALUES: usize = 100_000;
/// A node run that takes longer than this is journaled as running, so that users see it.
const ANNOUNCE_AFTER: Duration = Duration::from_millis(200);
/// How many node runs are started or settled before other tasks of this thread get their turn.
const MAX_MOVES: usize = 128;

/// One attempt at one execution.
pub(crate) struct ExecutionScheduler {
    pub(crate) leased: Arc<LeasedExecution>,
    pub(crate) plan: ExecutionPlan,
    pub(crate) journal: ExecutionJournal,
    pub(crate) stats: ExecutionStats,
    /// Seconds that earlier attempts worked.
    pub(crate) worked_before: f64,
    pub(crate) began: Instant,
    pub(crate) waiting: Arc<WaitingNodes>,
    pub(crate) permit: ExecutionPermit,
    answers: Option<Arc<NodeAnswers>>,
    node_futures: FuturesUnordered<NodeFuture>,
    running_nodes: HashMap<u64, RunningNode>,
    node_order: NodeOrder,
    /// Node runs that may launch once the event with this number is stored, as (event number, run).
    unstored_starts: VecDeque<(u64, u64)>,
    bytes: u64,
    fatal: Option<ExecutionError>,
}

/// Why the scheduler stopped.
pub(crate) enum SchedulerOutcome {
    /// Nothing is left to do.
    Done,
    /// Only a review decision can continue the execution.
    InReview,
}

/// The state that recovery hands to the scheduler.
pub(crate) struct RecoveredState {
    pub(crate) plan: ExecutionPlan,
    pub(crate) journal: ExecutionJournal,
    pub(crate) stats: ExecutionStats,
    pub(crate) bytes: u64,
    /// How a rehearsal answers for nodes.
    pub(crate) answers: Option<NodeAnswers>,
}

impl ExecutionScheduler {
    pub(crate) fn new(
        leased: Arc<LeasedExecution>,
        permit: ExecutionPermit,
        recovered: RecoveredState,
    ) -> Self {
        let RecoveredState { plan, journal, stats, bytes, answers } = recovered;
        Self {
            worked_before: leased.execution.stats.duration,
            answers: answers.map(Arc::new),
            leased,
            plan,
            journal,
            stats,
            began: Instant::now(),
            waiting: Arc::default(),
            permit,
            node_futures: FuturesUnordered::new(),
            running_nodes: HashMap::new(),
            node_order: NodeOrder::default(),
            unstored_starts: VecDeque::new(),
            bytes,
            fatal: None,
        }
    }

    /// Runs until everything is done or only a review decision can continue the execution.
    pub(crate) async fn run(&mut self) -> Result<SchedulerOutcome, ExecutionHalt> {
        let mut announce = tokio::time::interval(ANNOUNCE_AFTER);
        announce.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.advance()?;
            self.update_duration();
            self.journal.start_write(&self.stats)?;
            if self.is_idle() && self.journal.is_flushed() {
                let in_review = self.plan.open().any(|(_, open)| open.in_review);
                return Ok(if in_review {
                    SchedulerOutcome::InReview
                } else {
                    SchedulerOutcome::Done
                });
            }
            self.check_shutdown()?;
            self.keep_permit().await?;
            tokio::select! {
                biased;
                reason = self.leased.stop.stopped() => return Err(ExecutionHalt::Stop(reason)),
                written = self.journal.written() => {
                    written?;
                    self.launch_stored();
                }
                Some((run, ended)) = self.node_futures.next(), if !self.node_futures.is_empty() => {
                    self.note_end(run, ended);
                    self.note_finished();
                }
                () = self.waiting.changed() => {}
                () = self.leased.inner.shutdown_signal.stopping(), if !self.leased.inner.shutdown_signal.is_stopping() => {}
                _ = announce.tick() => self.announce_slow()?,
            }
            // The lease is renewed by the same task, and other tasks need this thread too.
            tokio::task::yield_now().await;
        }
    }

    /// Whether nothing can progress without an external event.
    fn is_idle(&self) -> bool {
        self.running_nodes.is_empty() && self.unstored_starts.is_empty() && self.plan.ready() == 0
    }

    /// Passes outputs on and starts ready nodes until neither changes anything.
    fn advance(&mut self) -> Result<(), ExecutionHalt> {
        let mut moves = 0;
        while moves < MAX_MOVES {
            let moved = self.settle_first_runs()? + self.start_ready()?;
            if let Some(error) = self.fatal.take() {
                return Err(ExecutionHalt::Fail(error));
            }
            if moved == 0 {
                return Ok(());
            }
            moves += moved;
            self.note_finished();
        }
        // There is more to do: continue after other tasks had their turn.
        self.waiting.notify();
        Ok(())
    }

    fn update_duration(&mut self) {
        self.stats.duration = self.worked_before + self.began.elapsed().as_secs_f64();
    }

    fn note_end(&mut self, run: u64, ended: Result<(), BlockError>) {
        if let Some(node_run) = self.running_nodes.get_mut(&run) {
            node_run.ended = Some(ended);
        }
    }

    fn note_finished(&mut self) {
        while let Some(Some((run, ended))) = self.node_futures.next().now_or_never() {
            self.note_end(run, ended);
        }
    }

    /// An event of a node run, with the current time.
    fn event(&self, run: u64, at: NodeAt) -> NodeEvent {
        NodeEvent {
            run,
            node: self.plan.node(at).id.clone(),
            outputs: Vec::new(),
            status: None,
            error: None,
            decision: None,
            cost: 0,
            at: self.leased.inner.ports.clock.now().as_millisecond(),
        }
    }

    /// Applies an event to the plan and adds it to the journal. Returns its number.
    fn record(&mut self, event: NodeEvent) -> Result<u64, ExecutionHalt> {
        let size: usize = event
            .outputs
            .iter()
            .map(|(_, value)| super::output_buffer::json_size(value))
            .sum::<usize>()
            + 64;
        self.bytes += size as u64;
        if self.bytes > protocol::limits::EXECUTION_BYTES {
            return Err(ExecutionHalt::fail(
                "output_too_large",
                "The nodes of this execution have emitted too much.",
            ));
        }
        self.plan.apply(&event).map_err(journal_mismatch)?;
        if self.plan.waiting() > MAX_WAITING_VALUES {
            return Err(ExecutionHalt::fail(
                "too_many_waiting",
                "Too many values wait for another input of their node that never arrives.",
            ));
        }
        Ok(self.journal.add(event, size))
    }

    /// On shutdown, hands the execution over once no node works here; node runs that only wait can wait elsewhere.
    fn check_shutdown(&self) -> Result<(), ExecutionHalt> {
        if !self.leased.inner.shutdown_signal.is_stopping() || !self.journal.is_flushed() {
            return Ok(());
        }
        let working = self.running_nodes.values().filter(|node_run| node_run.is_working()).count();
        match working <= self.waiting.count() {
            true => Err(ExecutionHalt::Stop(StopCause::Shutdown)),
            false => Ok(()),
        }
    }

    /// Releases the permit while all node runs wait for other work, and reacquires it otherwise.
    async fn keep_permit(&mut self) -> Result<(), ExecutionHalt> {
        let working = self.running_nodes.values().filter(|node_run| node_run.is_working()).count();
        let only_waits =
            working > 0 && self.waiting.count() >= working && self.unstored_starts.is_empty();
        if only_waits {
            self.permit.release();
            return Ok(());
        }
        tokio::select! {
            biased;
            reason = self.leased.stop.stopped() => Err(ExecutionHalt::Stop(reason)),
            () = self.permit.reacquire() => Ok(()),
        }
    }

    fn place(&self, at: NodeAt) -> NodePlace {
        let execution = &self.leased.execution;
        NodePlace {
            graph_id: execution.graph_id.clone(),
            graph_version: execution.graph_version,
            execution_id: execution.id.clone(),
            node_id: self.plan.node(at).id.clone(),
        }
    }

    /// Idempotency key of a node run: the same in every attempt.
    fn key(&self, run: u64) -> String {
        node_execution_id(&self.leased.execution.id, run).0
    }
}

pub(crate) fn journal_mismatch(error: super::plan::PlanError) -> ExecutionHalt {
    tracing::error!(%error, "the journal of an execution does not match its graph");
    ExecutionHalt::fail(
        "broken_journal",
        "The stored journal of this execution does not match its agent.",
    )
}
