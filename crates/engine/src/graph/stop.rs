//! Stopping a run and all that it has started: a fact in the rows, a hint on the bus, and a wait for the end.

use std::time::Duration;

use ports::{BusSignal, PortResult};
use protocol::execution::Execution;
use protocol::{ExecutionId, Job, UserId};
use tokio::time::Instant;

use super::wait::{self, Until};
use crate::turn::registry::StopReason;
use crate::{Engine, Inner};

/// How long a stop waits for the run to end before it answers.
const CONFIRM: Duration = Duration::from_secs(15);

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
        marked.iter().for_each(|execution| tell(inner, execution));
        let deadline = Some(Instant::now() + CONFIRM);
        wait::for_execution(inner, user, id, deadline, Until::Ended).await
    }
}

/// Stops what a run has started, before it ends for another reason than that it is done.
pub(super) async fn children(inner: &Inner, execution: &Execution) {
    match inner.ports.executions.request_stop(&execution.user_id, &execution.id).await {
        Ok(marked) => {
            let below = marked.iter().flatten().filter(|marked| marked.id != execution.id);
            below.for_each(|marked| tell(inner, marked));
        }
        // They are asked again when their parent is taken over, or find it ended.
        Err(error) => tracing::warn!(%error, "the children of a run could not be told to stop"),
    }
}

fn tell(inner: &Inner, execution: &Execution) {
    let job = Job::from(&execution.id);
    if execution.status.is_final() {
        inner.ports.bus.publish(BusSignal::Ended(job));
        inner.ports.bus.publish(BusSignal::Moved(execution.id.clone()));
        return;
    }
    // Ours are told directly, whatever becomes of the hint to the other processes.
    inner.registry.stop(&job, StopReason::Cancelled);
    inner.ports.bus.publish(BusSignal::Cancel(job));
}
