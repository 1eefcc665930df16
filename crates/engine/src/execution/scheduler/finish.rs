//! How the scheduler finishes: done, aborted, waiting for a review, or handed to another worker.

use ports::store::{AfterAdvance, ExecutionAdvanced};
use protocol::execution::{ExecutionError, ExecutionStatus};

use super::ExecutionScheduler;
use crate::execution::AUTOPILOT;
use crate::execution::plan::NodeAt;
use crate::job::halt::ExecutionHalt;
use graphs::AGENT_EXECUTOR;

impl ExecutionScheduler {
    /// Ends the execution with this status.
    pub(crate) async fn finish(
        &mut self,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    ) -> Result<(), ExecutionHalt> {
        self.update_duration();
        self.journal.close(&self.stats, AfterAdvance::End { status, error }).await?;
        Ok(())
    }

    /// Releases the execution until a review is decided; `Decided` if that has happened meanwhile.
    pub(crate) async fn wait_for_review(&mut self) -> Result<ExecutionAdvanced, ExecutionHalt> {
        self.update_duration();
        self.journal.close(&self.stats, AfterAdvance::AwaitReviews).await
    }

    /// Stops all node runs and journals them as terminated. No limit applies to these events.
    pub(crate) fn terminate(&mut self) {
        self.drop_work();
        let open: Vec<(u64, NodeAt)> =
            self.plan.open().map(|(run, open)| (run, open.node)).collect();
        for (run, at) in open {
            let mut event = self.event(run, at);
            event.status = Some(ExecutionStatus::Terminated);
            self.journal.add(event, 0);
        }
    }

    /// Stores everything that happened so far, for the next attempt.
    pub(crate) async fn save(&mut self) -> Result<(), ExecutionHalt> {
        self.update_duration();
        self.journal.close(&self.stats, AfterAdvance::Continue).await?;
        Ok(())
    }

    /// Open node runs that have asked the copilot.
    pub(crate) fn copilot_runs(&self) -> Vec<u64> {
        self.open_runs_of(AUTOPILOT)
    }

    /// Whether open node runs may have started other executions.
    pub(crate) fn may_have_children(&self) -> bool {
        !self.open_runs_of(AGENT_EXECUTOR).is_empty()
    }

    fn open_runs_of(&self, block: &str) -> Vec<u64> {
        let is_it = |at: NodeAt| self.plan.node(at).block.spec().id == block;
        self.plan.open().filter(|(_, open)| is_it(open.node)).map(|(run, _)| run).collect()
    }

    /// Drops all running work of this attempt.
    pub(crate) fn drop_work(&mut self) {
        self.node_futures.clear();
        self.running_nodes.clear();
        self.node_order.clear();
        self.unstored_starts.clear();
    }
}
