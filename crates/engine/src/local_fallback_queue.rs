//! Due jobs that this process could not push: its own workers take them without the queue. An unavailable broker then
//! delays a job by one sweep and nothing else.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use protocol::Job;
use tokio::sync::Notify;

/// Further jobs stay in the outbox.
const CAPACITY: usize = 500;

#[derive(Default)]
pub(crate) struct LocalFallbackQueue {
    jobs: Mutex<VecDeque<Job>>,
    added: Notify,
}

impl LocalFallbackQueue {
    /// Adds a job unless it is already in the queue. If the queue is full, the job stays in the outbox.
    pub(crate) fn offer(&self, job: Job) {
        let mut jobs = self.jobs();
        if jobs.len() < CAPACITY && !jobs.contains(&job) {
            jobs.push_back(job);
            self.added.notify_one();
        }
    }

    /// Waits for the next job. Cancel-safe.
    pub(crate) async fn next(&self) -> Job {
        loop {
            if let Some(job) = self.take() {
                return job;
            }
            self.added.notified().await;
        }
    }

    fn take(&self) -> Option<Job> {
        let mut jobs = self.jobs();
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            // One notification may stand for several added jobs.
            self.added.notify_one();
        }
        job
    }

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.jobs.lock().expect("no code panics while it holds this lock")
    }
}
