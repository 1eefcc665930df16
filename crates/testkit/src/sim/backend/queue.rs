//! The job queue that all nodes share, and the deliveries that are not settled yet.

use std::collections::BTreeMap;

use protocol::Job;

use super::SimTime;

#[derive(Default)]
pub struct JobQueue {
    next: u64,
    waiting: BTreeMap<u64, QueuedJob>,
    unsettled: BTreeMap<u64, UnsettledJob>,
}

struct QueuedJob {
    job: Job,
    ready_at: SimTime,
}

struct UnsettledJob {
    job: Job,
    holder: u32,
}

/// The result of a pop.
pub(crate) enum QueuePop {
    Found {
        tag: u64,
        job: Job,
    },
    /// No job is ready now; the first delayed one is ready at this time.
    Later(Option<SimTime>),
}

impl JobQueue {
    /// Adds a job at the end.
    pub(crate) fn push(&mut self, job: Job, ready_at: SimTime) {
        let position = self.position();
        self.waiting.insert(position, QueuedJob { job, ready_at });
    }

    /// Adds a job at the front, as a broker that reorders may.
    pub(crate) fn push_front(&mut self, job: Job, ready_at: SimTime) {
        self.push(job, ready_at);
        let back = self.next - 1;
        let front = self.waiting.first_key_value().map_or(back, |(position, _)| *position);
        // Swap the newest and the oldest.
        if front != back
            && let (Some(new), Some(old)) =
                (self.waiting.remove(&back), self.waiting.remove(&front))
        {
            self.waiting.insert(front, new);
            self.waiting.insert(back, old);
        }
    }

    pub(crate) fn take(&mut self, now: SimTime, holder: u32) -> QueuePop {
        let ready_at = self.waiting.iter().find(|(_, waiting)| waiting.ready_at <= now);
        let Some(tag) = ready_at.map(|(position, _)| *position) else {
            return QueuePop::Later(self.waiting.values().map(|waiting| waiting.ready_at).min());
        };
        let Some(QueuedJob { job, .. }) = self.waiting.remove(&tag) else {
            return QueuePop::Later(None);
        };
        self.unsettled.insert(tag, UnsettledJob { job: job.clone(), holder });
        QueuePop::Found { tag, job }
    }

    pub(crate) fn ack(&mut self, tag: u64) {
        self.unsettled.remove(&tag);
    }

    pub(crate) fn requeue_last(&mut self, tag: u64, ready_at: SimTime) {
        if let Some(UnsettledJob { job, .. }) = self.unsettled.remove(&tag) {
            self.push(job, ready_at);
        }
    }

    pub(crate) fn return_job(&mut self, tag: u64, now: SimTime) {
        if let Some(UnsettledJob { job, .. }) = self.unsettled.remove(&tag) {
            self.waiting.insert(tag, QueuedJob { job, ready_at: now });
        }
    }

    /// Returns the unsettled jobs of a closed connection.
    pub(crate) fn return_all(&mut self, holder: u32, now: SimTime) {
        let tags: Vec<u64> = self
            .unsettled
            .iter()
            .filter(|(_, unsettled)| unsettled.holder == holder)
            .map(|(tag, _)| *tag)
            .collect();
        for tag in tags {
            self.return_job(tag, now);
        }
    }

    /// Removes everything, as a broker that lost its data.
    pub fn purge(&mut self) {
        self.waiting.clear();
        self.unsettled.clear();
    }

    pub fn depth(&self) -> usize {
        self.waiting.len()
    }

    fn position(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}
