//! Due jobs that this process could not push: its own workers take them without the queue. An unavailable broker then
//! delays a job by one sweep and nothing else.

use protocol::Job;

use super::wake_queue::WakeQueue;

/// Further jobs stay in the outbox.
const CAPACITY: usize = 500;

#[derive(Default)]
pub(crate) struct LocalFallbackQueue {
    jobs: WakeQueue<Job>,
}

impl LocalFallbackQueue {
    /// Adds a job unless it is already in the queue. If the queue is full, the job stays in the outbox.
    pub(crate) fn offer(&self, job: Job) {
        self.jobs.push_if(job, |jobs, job| jobs.len() < CAPACITY && !jobs.contains(job));
    }

    /// Waits for the next job. Cancel-safe.
    pub(crate) async fn next(&self) -> Job {
        self.jobs.next().await
    }
}
