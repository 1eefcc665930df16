//! Pushes jobs that have become due to the queue. The outbox has them too, so a failed push costs time only.

use std::time::Duration;

use protocol::{Job, TurnId};

use crate::EngineInner;

/// How long the outbox leaves a new job to the push that follows immediately.
pub(crate) const PUSH_GRACE: Duration = Duration::from_secs(5);
/// How long a push may delay the response. A silent broker must not hold up a response that does not depend on it.
const PUSH_TIMEOUT: Duration = Duration::from_millis(500);

impl EngineInner {
    pub(crate) async fn push(&self, job: impl Into<Job>) {
        let job = job.into();
        if self.try_push(&job).await {
            return;
        }
        // Clear the grace period, which was meant for the push that failed.
        if let Err(error) =
            self.ports.outbox.pushed(std::slice::from_ref(&job), Duration::ZERO).await
        {
            tracing::warn!(job = %job, %error, "could not clear the push grace of a job; the sweeper finds it later");
        }
    }

    /// Pushes turns that have become due.
    pub(crate) async fn push_turns(&self, due: &[TurnId]) {
        for turn in due {
            self.push(turn).await;
        }
    }

    /// Whether the queue accepted the job. If not, the sweeper pushes it later.
    async fn try_push(&self, job: &Job) -> bool {
        let pushing = self.ports.queue.push(job);
        match tokio::time::timeout(PUSH_TIMEOUT, pushing).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => {
                tracing::warn!(job = %job, %error, "could not push a job; the sweeper will");
            }
            Err(_) => {
                tracing::warn!(job = %job, "the queue did not accept a job in time; the sweeper will push it");
            }
        }
        false
    }
}
