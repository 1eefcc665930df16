//! Things that are kept for a while, each until its time, in the order in which they came.

use std::collections::VecDeque;

use tokio::time::Instant;

pub(super) struct Shelf<T>(VecDeque<(Instant, T)>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Shelf<T> {
    pub(super) fn put_last(&mut self, thing: T, until: Instant) {
        self.0.push_back((until, thing));
    }

    pub(super) fn put_in_front(&mut self, thing: T, until: Instant) {
        self.0.push_front((until, thing));
    }

    pub(super) fn take(&mut self) -> Option<T> {
        self.0.pop_front().map(|(_, thing)| thing)
    }

    pub(super) fn take_overdue(&mut self, now: Instant) -> Option<T> {
        let place = self.0.iter().position(|(until, _)| *until <= now)?;
        self.0.remove(place).map(|(_, thing)| thing)
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.0.iter().map(|(until, _)| *until).min()
    }
}
