//! Continues node runs after a takeover or a review decision.

use protocol::execution::ExecutionStatus;
use protocol::review::ReviewDecision;
use serde_json::Value;
use std::sync::Arc;

use super::ExecutionScheduler;
use crate::execution::plan::NodeAt;
use crate::job::halt::ExecutionHalt;

/// Error of a node run that was interrupted by a crash and must not be repeated.
const INTERRUPTED: &str = "The server stopped while this was running. It may or may not have taken effect; it \
                           was not repeated.";

impl ExecutionScheduler {
    /// Runs a node again under the same key. The first `emitted` outputs were already passed on.
    pub(crate) fn relaunch(&mut self, run: u64, at: NodeAt, emitted: u64) {
        self.node_order.push(at, run);
        self.launch(run, at, emitted);
        if let Some(node_run) = self.running_nodes.get_mut(&run) {
            node_run.announced = true;
        }
    }

    pub(crate) fn interrupt(&mut self, run: u64, at: NodeAt) -> Result<(), ExecutionHalt> {
        let mut event = self.event(run, at);
        event.status = Some(ExecutionStatus::Failed);
        event.error = Some(INTERRUPTED.to_owned());
        event.outputs.push(("error".to_owned(), Arc::new(Value::String(INTERRUPTED.to_owned()))));
        self.stats.node_count += 1;
        self.stats.node_error_count += 1;
        self.record(event)?;
        Ok(())
    }

    /// Runs a node again with the review decision, once the decision is stored.
    pub(crate) fn resume_decided(
        &mut self,
        run: u64,
        at: NodeAt,
        decision: ReviewDecision,
    ) -> Result<(), ExecutionHalt> {
        let mut event = self.event(run, at);
        event.status = Some(ExecutionStatus::Running);
        event.decision = Some(decision);
        let number = self.record(event)?;
        self.node_order.push(at, run);
        self.unstored_starts.push_back((number, run));
        Ok(())
    }
}
