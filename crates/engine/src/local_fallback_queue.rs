//! Jobs that this process found due and could not push: its own workers take them without the queue. So a broker that
//! is down costs a sweep of latency and nothing else.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use protocol::Job;
use tokio::sync::Notify;

/// More than this wait in the outbox.
const CAPACITY: usize = 500;

#[derive(Default)]
pub(crate) struct LocalFallbackQueue {
    jobs: Mutex<VecDeque<Job>>,
    added: Notify,
}

impl LocalFallbackQueue {
    /// One that waits here already is not added again. What finds no room stays in the outbox.
    pub(crate) fn offer(&self, job: Job) {
        let mut jobs = self.jobs();
        if jobs.len() < CAPACITY && !jobs.contains(&job) {
            jobs.push_back(job);
            self.added.notify_one();
        }
    }

    /// Waits for one. Dropping the future loses nothing.
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
            // A single notice may stand for several offers.
            self.added.notify_one();
        }
        job
    }

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.jobs.lock().expect("no code panics while it holds this lock")
    }
}
