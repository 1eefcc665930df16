//! First-in, first-out queue whose items are each held until a deadline.

use std::collections::VecDeque;

use tokio::time::Instant;

pub(crate) struct HoldQueue<T>(VecDeque<(Instant, T)>);

impl<T> Default for HoldQueue<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> HoldQueue<T> {
    pub(crate) fn push_back(&mut self, item: T, until: Instant) {
        self.0.push_back((until, item));
    }

    pub(crate) fn push_front(&mut self, item: T, until: Instant) {
        self.0.push_front((until, item));
    }

    pub(crate) fn pop_front(&mut self) -> Option<T> {
        self.0.pop_front().map(|(_, item)| item)
    }

    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<T> {
        let index = self.0.iter().position(|(until, _)| *until <= now)?;
        self.0.remove(index).map(|(_, item)| item)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().map(|(until, _)| *until).min()
    }
}
