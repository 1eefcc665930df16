//! Stops an execution and its child executions: sets a flag in their rows, sends hints on the bus, and waits for the
//! end.

use std::time::Duration;

use ports::{BusSignal, PortResult};
use protocol::execution::Execution;
use protocol::{ExecutionId, Job, UserId};
use tokio::time::Instant;

use super::wait_for_execution::{WaitUntil, wait_for_execution};
use crate::{Engine, EngineInner};

/// How long a stop waits for the execution to end.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(15);

impl Engine {
    /// Returns the execution when it has ended or after `CONFIRM_TIMEOUT`. `None` if the user has no such execution.
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

/// Stops the child executions of an execution that ends early.
pub(crate) async fn stop_children(inner: &EngineInner, execution: &Execution) {
    match inner.ports.executions.request_stop(&execution.user_id, &execution.id).await {
        Ok(marked) => {
            let below = marked.iter().flatten().filter(|marked| marked.id != execution.id);
            below.for_each(|marked| signal_stop(inner, marked));
        }
        // They are stopped again when their parent is taken over, or find that it has ended.
        Err(error) => tracing::warn!(%error, "could not request the stop of child executions"),
    }
}

fn signal_stop(inner: &EngineInner, execution: &Execution) {
    let job = Job::from(&execution.id);
    if execution.status.is_final() {
        inner.ports.bus.publish(BusSignal::Ended(job));
        inner.ports.bus.publish(BusSignal::Moved(execution.id.clone()));
        return;
    }
    inner.signal_stop(job);
}
