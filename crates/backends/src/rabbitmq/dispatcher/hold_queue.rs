//! First-in, first-out queue whose items are each held until a deadline.

use std::collections::VecDeque;

use tokio::time::Instant;

pub(super) struct HoldQueue<T>(VecDeque<(Instant, T)>);

impl<T> Default for HoldQueue<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> HoldQueue<T> {
    pub(super) fn push_back(&mut self, item: T, until: Instant) {
        self.0.push_back((until, item));
    }

    pub(super) fn push_front(&mut self, item: T, until: Instant) {
        self.0.push_front((until, item));
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        self.0.pop_front().map(|(_, item)| item)
    }

    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<T> {
        let index = self.0.iter().position(|(until, _)| *until <= now)?;
        self.0.remove(index).map(|(_, item)| item)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().map(|(until, _)| *until).min()
    }
}
