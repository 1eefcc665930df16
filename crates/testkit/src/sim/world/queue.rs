//! The line of jobs that wait for a worker, shared by all processes, and what each has in its hands.

use std::collections::BTreeMap;

use protocol::Job;

use super::Moment;

#[derive(Default)]
pub struct Line {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    in_hand: BTreeMap<u64, InHand>,
}

struct Waiting {
    job: Job,
    ready: Moment,
}

struct InHand {
    job: Job,
    holder: u32,
}

/// What a look at the line gives.
pub(in super::super) enum Look {
    Found {
        tag: u64,
        job: Job,
    },
    /// Nothing now; the first that was put off is ready then.
    Later(Option<Moment>),
}

impl Line {
    /// At the end.
    pub(in super::super) fn push(&mut self, job: Job, ready: Moment) {
        let place = self.place();
        self.waiting.insert(place, Waiting { job, ready });
    }

    /// In front of everything, as a broker that reorders may.
    pub(in super::super) fn push_in(&mut self, job: Job, ready: Moment) {
        self.push(job, ready);
        let back = self.next - 1;
        let front = self.waiting.first_key_value().map_or(back, |(place, _)| *place);
        // The newest and the oldest change places.
        if front != back
            && let (Some(new), Some(old)) =
                (self.waiting.remove(&back), self.waiting.remove(&front))
        {
            self.waiting.insert(front, new);
            self.waiting.insert(back, old);
        }
    }

    pub(in super::super) fn take(&mut self, now: Moment, holder: u32) -> Look {
        let ready = self.waiting.iter().find(|(_, waiting)| waiting.ready <= now);
        let Some(tag) = ready.map(|(place, _)| *place) else {
            return Look::Later(self.waiting.values().map(|waiting| waiting.ready).min());
        };
        let Some(Waiting { job, .. }) = self.waiting.remove(&tag) else {
            return Look::Later(None);
        };
        self.in_hand.insert(tag, InHand { job: job.clone(), holder });
        Look::Found { tag, job }
    }

    pub(in super::super) fn ack(&mut self, tag: u64) {
        self.in_hand.remove(&tag);
    }

    pub(in super::super) fn put_last(&mut self, tag: u64, ready: Moment) {
        if let Some(InHand { job, .. }) = self.in_hand.remove(&tag) {
            self.push(job, ready);
        }
    }

    pub(in super::super) fn give_back(&mut self, tag: u64, now: Moment) {
        if let Some(InHand { job, .. }) = self.in_hand.remove(&tag) {
            self.waiting.insert(tag, Waiting { job, ready: now });
        }
    }

    /// A connection is gone: what it had not settled comes back.
    pub(in super::super) fn give_back_all(&mut self, holder: u32, now: Moment) {
        let tags: Vec<u64> = self
            .in_hand
            .iter()
            .filter(|(_, in_hand)| in_hand.holder == holder)
            .map(|(tag, _)| *tag)
            .collect();
        for tag in tags {
            self.give_back(tag, now);
        }
    }

    /// The broker has lost everything it had.
    pub fn purge(&mut self) {
        self.waiting.clear();
        self.in_hand.clear();
    }

    pub fn depth(&self) -> usize {
        self.waiting.len()
    }

    fn place(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}
