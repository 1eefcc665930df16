//! Stopping a run and all that it has started: a fact in the rows, a hint on the bus, and a wait for the end.

use std::time::Duration;

use ports::{BusSignal, PortResult};
use protocol::execution::Execution;
use protocol::{ExecutionId, Job, UserId};
use tokio::time::Instant;

use super::wait_for_execution::{WaitUntil, wait_for_execution};
use crate::turn::registry::StopCause;
use crate::{Engine, EngineInner};

/// How long a stop waits for the run to end before it answers.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(15);

impl Engine {
    /// Returns when it has ended, or when it takes longer than a stop should; gives it as it is then. `None`: the user
    /// has no such run.
    pub async fn stop_execution(
        &self,
        user: &UserId,
        id: &ExecutionId,
    ) -> PortResult<Option<Execution>> {
        let inner = &self.inner;
        let Some(marked) = inner.ports.executions.request_stop(user, id).await? else {
            return Ok(None);
        };
        marked.iter().for_each(|execution| signal_stop(inner, execution));
        let deadline = Some(Instant::now() + CONFIRM_TIMEOUT);
        wait_for_execution(inner, user, id, deadline, WaitUntil::Ended).await
    }
}

/// Stops what a run has started, before it ends for another reason than that it is done.
pub(super) async fn stop_children(inner: &EngineInner, execution: &Execution) {
    match inner.ports.executions.request_stop(&execution.user_id, &execution.id).await {
        Ok(marked) => {
            let below = marked.iter().flatten().filter(|marked| marked.id != execution.id);
            below.for_each(|marked| signal_stop(inner, marked));
        }
        // They are asked again when their parent is taken over, or find it ended.
        Err(error) => tracing::warn!(%error, "the children of a run could not be told to stop"),
    }
}

fn signal_stop(inner: &EngineInner, execution: &Execution) {
    let job = Job::from(&execution.id);
    if execution.status.is_final() {
        inner.ports.bus.publish(BusSignal::Ended(job));
        inner.ports.bus.publish(BusSignal::Moved(execution.id.clone()));
        return;
    }
    // Ours are told directly, whatever becomes of the hint to the other processes.
    inner.registry.stop(&job, StopCause::Cancelled);
    inner.ports.bus.publish(BusSignal::Cancel(job));
}
