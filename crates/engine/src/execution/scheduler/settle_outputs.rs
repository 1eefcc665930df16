//! Passes the outputs of node runs on and ends finished runs.

use std::sync::Arc;

use ports::block::{BlockError, ReviewRequest};
use protocol::block::MeteredUsage;
use protocol::credit::CreditCharge;
use protocol::execution::{ExecutionError, ExecutionStatus, NodeEvent, node_execution_id};
use protocol::review::Review;
use serde_json::Value;

use super::{ExecutionScheduler, MAX_READY};
use crate::execution::billing;
use crate::execution::leased_execution::LeasedExecution;
use crate::execution::plan::NodeAt;
use crate::execution::reviews::waiting_review;
use crate::job::halt::ExecutionHalt;

/// One credit is charged per this many node runs of an execution.
const NODE_RUNS_PER_CREDIT: u64 = 100;
/// How many characters of an error are kept.
const ERROR_CHARS: usize = 4_000;

impl ExecutionScheduler {
    /// Takes the outputs of the first run of every node, the latest first, as long as more input sets may become ready.
    /// Returns how many runs were settled.
    pub(crate) fn settle_first_runs(&mut self) -> Result<usize, ExecutionHalt> {
        let mut flowed = 0;
        for at in self.node_order.latest_first() {
            while let Some(run) = self.node_order.first(at).filter(|_| self.may_settle(at)) {
                if !self.settle(run, at)? {
                    break;
                }
                flowed += 1;
                // A run that keeps emitting lets others go first.
                if self.node_order.first(at) == Some(run) {
                    break;
                }
            }
        }
        Ok(flowed)
    }

    /// Ready nodes start before more become ready. If they cannot start because too many runs of their node are open,
    /// only the first of those runs is settled: anything else would pile up behind it.
    fn may_settle(&self, at: NodeAt) -> bool {
        if self.journal.is_full() {
            return false;
        }
        if self.plan.ready() < MAX_READY {
            return true;
        }
        self.next_to_start().is_none() && self.plan.next_ready(|_| true) == Some(at)
    }

    fn settle(&mut self, run: u64, at: NodeAt) -> Result<bool, ExecutionHalt> {
        let Some(node_run) = self.running_nodes.get_mut(&run) else {
            return Ok(false);
        };
        let (mut outputs, all) = node_run.outputs.take(MAX_READY);
        let again = node_run.skip.min(outputs.len() as u64);
        node_run.skip -= again;
        outputs.drain(..again as usize);
        let ended = if all { node_run.ended.take() } else { None };
        if outputs.is_empty() && ended.is_none() {
            return Ok(again > 0);
        }
        node_run.announced = true;
        node_run.emitted |= !outputs.is_empty();
        let mut event = self.event(run, at);
        event.outputs = outputs.into_iter().map(|(pin, value)| (pin, Arc::new(value))).collect();
        if let Some(ended) = ended {
            self.end_run(run, at, ended, &mut event);
        }
        self.record(event)?;
        Ok(true)
    }

    /// Records in the event how the run ended, and removes the run.
    fn end_run(
        &mut self,
        run: u64,
        at: NodeAt,
        ended: Result<(), BlockError>,
        event: &mut NodeEvent,
    ) {
        let failed = match ended {
            Ok(()) => {
                event.status = Some(ExecutionStatus::Completed);
                None
            }
            Err(BlockError::Review(ask)) => {
                event.status = Some(ExecutionStatus::Review);
                let review = self.review(run, at, ask);
                self.journal.add_review(review);
                None
            }
            Err(BlockError::Stopped) => Some("It was stopped.".to_owned()),
            Err(BlockError::Failed(message)) => Some(message),
            Err(BlockError::Fatal { code, message }) => {
                let error = ExecutionError { code: code.to_owned(), message: message.clone() };
                self.fatal = Some(error);
                Some(message)
            }
        };
        if let Some(message) = failed {
            let message = protocol::text::cut_end(&message, ERROR_CHARS);
            event.status = Some(ExecutionStatus::Failed);
            event.outputs.push(("error".to_owned(), Arc::new(Value::String(message.clone()))));
            event.error = Some(message);
        }
        if event.status.is_some_and(ExecutionStatus::is_final) {
            self.stats.node_count += 1;
            self.stats.node_error_count += u64::from(event.error.is_some());
            self.bill(run, at, event);
        }
        self.running_nodes.remove(&run);
        self.node_order.remove(at, run);
    }

    /// Adds the charge of an ended run to the event and to the journal.
    fn bill(&mut self, run: u64, at: NodeAt, event: &mut NodeEvent) {
        let Some(node_run) = self.running_nodes.get(&run) else { return };
        if !self.leased.inner.options.credits || self.leased.execution.request.dry_run {
            return;
        }
        let spec = self.plan.node(at).block.spec();
        let seconds = node_run.began.elapsed().as_secs();
        let used = MeteredUsage { seconds, ..node_run.meter.total() };
        let amount = billing::run_price(spec, node_run.emitted, &used);
        // One credit is charged for every hundred node runs.
        let round = self.stats.node_count.is_multiple_of(NODE_RUNS_PER_CREDIT);
        let amount = amount + u64::from(round);
        if amount == 0 {
            return;
        }
        event.cost = amount;
        self.stats.cost += amount;
        let key = self.key(run);
        self.journal.add_charge(CreditCharge { key, amount, what: spec.name.to_owned() });
    }

    fn review(&self, run: u64, at: NodeAt, ask: ReviewRequest) -> Review {
        let LeasedExecution { inner, execution, .. } = &*self.leased;
        let id = node_execution_id(&execution.id, run);
        let now = inner.ports.clock.now();
        waiting_review(id, execution.user_id.clone(), self.place(at), ask, now)
    }
}
