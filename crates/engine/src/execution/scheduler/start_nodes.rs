//! Starts node runs, up to the concurrency limit. A run with side effects starts only after its start is stored.

use protocol::execution::ExecutionStatus;
use protocol::tool::ToolEffect;

use super::running_node::RunningNode;
use super::{ANNOUNCE_AFTER, ExecutionScheduler, MAX_WORKING};
use crate::execution::plan::NodeAt;
use crate::job::halt::ExecutionHalt;

impl ExecutionScheduler {
    /// Returns how many node runs started.
    pub(crate) fn start_ready(&mut self) -> Result<usize, ExecutionHalt> {
        let room = self.room_for_work();
        let mut began = 0;
        while began < room && !self.journal.is_full() {
            let Some(at) = self.next_to_start() else { break };
            if self.plan.next_run() >= self.leased.inner.options.node_runs {
                return Err(ExecutionHalt::fail(
                    "too_many_node_runs",
                    format!(
                        "An execution may have {} node runs.",
                        self.leased.inner.options.node_runs
                    ),
                ));
            }
            let Some(run) = self.plan.start(at) else { break };
            self.node_order.push(at, run);
            match self.plan.node(at).block.spec().effect {
                // A block without side effects can be run again, so its start need not be stored.
                ToolEffect::None => self.launch(run, at, 0),
                ToolEffect::Idempotent | ToolEffect::Once => {
                    let mut event = self.event(run, at);
                    event.status = Some(ExecutionStatus::Running);
                    let number = self.record(event)?;
                    self.unstored_starts.push_back((number, run));
                }
            }
            began += 1;
        }
        Ok(began)
    }

    /// How many node runs may start. A run that only waits for its outputs to be taken does not count: otherwise the
    /// nodes that would take them could not start.
    fn room_for_work(&self) -> usize {
        if self.leased.inner.shutdown_signal.is_stopping() || self.plan.ready() == 0 {
            return 0;
        }
        let working = self.running_nodes.values().filter(|run| run.is_working()).count();
        MAX_WORKING.saturating_sub(working + self.unstored_starts.len())
    }

    pub(crate) fn next_to_start(&self) -> Option<NodeAt> {
        self.plan.next_ready(|at| self.node_order.has_room(at))
    }

    /// Launches the node runs whose start is now stored.
    pub(crate) fn launch_stored(&mut self) {
        while let Some((number, run)) = self.unstored_starts.front().copied() {
            if !self.journal.has_stored(number) {
                return;
            }
            self.unstored_starts.pop_front();
            if let Some((at, emitted)) =
                self.plan.open_run(run).map(|open| (open.node, open.emitted))
            {
                self.launch(run, at, emitted);
            }
        }
    }

    /// Journals slow node runs as running, so that users see them.
    pub(crate) fn announce_slow(&mut self) -> Result<(), ExecutionHalt> {
        let slow = |node_run: &RunningNode| {
            !node_run.announced && node_run.began.elapsed() >= ANNOUNCE_AFTER
        };
        if !self.running_nodes.values().any(slow) {
            return Ok(());
        }
        // Announce all runs of a node in order: in the journal a later run must not start before an earlier one.
        let mut silent: Vec<u64> = self.running_nodes.keys().copied().collect();
        silent.retain(|run| !self.running_nodes[run].announced);
        silent.sort_unstable();
        for run in silent {
            let Some(at) = self.plan.open_run(run).map(|open| open.node) else { continue };
            let mut event = self.event(run, at);
            event.status = Some(ExecutionStatus::Running);
            self.record(event)?;
            if let Some(node_run) = self.running_nodes.get_mut(&run) {
                node_run.announced = true;
            }
        }
        Ok(())
    }
}
