//! Which consumers a process has open on the queue. Each may hold one message, so a process that has as many open as it has
//! workers waiting is never sent what it has no worker for. Decides only; the desk does.

use std::collections::HashMap;

pub(super) type ConsumerId = u64;

#[derive(Default)]
pub(super) struct Book {
    open: HashMap<ConsumerId, Credit>,
    idle: usize,
    next: ConsumerId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Credit {
    /// The broker may send it a message at any time.
    Idle,
    /// It has one that is not settled, and gets no other.
    Busy,
}

/// What becomes of a consumer whose message is about to be settled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Afterwards {
    /// A worker waits for the next message it brings.
    Stays,
    /// Nobody waits: it must be cancelled before its message is settled, or the broker would send the next at once.
    Leaves,
}

/// How a consumer came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Ours,
    /// The broker ended it: its queue was deleted, or the channel failed.
    Brokers,
}

impl Book {
    /// More workers wait than there are idle consumers.
    pub(super) fn short(&self, waiting: usize) -> bool {
        self.idle < waiting
    }

    /// The consumer to open, if there are too few.
    pub(super) fn wanted(&mut self, waiting: usize) -> Option<ConsumerId> {
        if !self.short(waiting) {
            return None;
        }
        let id = self.next;
        self.next += 1;
        self.idle += 1;
        self.open.insert(id, Credit::Idle);
        Some(id)
    }

    pub(super) fn delivered(&mut self, id: ConsumerId) {
        if let Some(credit @ Credit::Idle) = self.open.get_mut(&id) {
            *credit = Credit::Busy;
            self.idle -= 1;
        }
    }

    /// To be asked before a message is settled. One that has left already says that it stays: nothing is to be done.
    pub(super) fn settling(&mut self, id: ConsumerId, waiting: usize) -> Afterwards {
        if self.short(waiting) {
            if let Some(credit @ Credit::Busy) = self.open.get_mut(&id) {
                *credit = Credit::Idle;
                self.idle += 1;
            }
            return Afterwards::Stays;
        }
        match self.open.remove(&id) {
            Some(Credit::Busy) => Afterwards::Leaves,
            Some(Credit::Idle) => {
                self.idle -= 1;
                Afterwards::Leaves
            }
            None => Afterwards::Stays,
        }
    }

    /// Takes idle consumers out that no worker waits for. Each may still bring one last message.
    pub(super) fn dismiss(&mut self, waiting: usize) -> Vec<ConsumerId> {
        let surplus = self.idle.saturating_sub(waiting);
        let idle = self.open.iter().filter(|(_, credit)| **credit == Credit::Idle);
        let leaving: Vec<ConsumerId> = idle.map(|(id, _)| *id).take(surplus).collect();
        for id in &leaving {
            self.open.remove(id);
        }
        self.idle -= leaving.len();
        leaving
    }

    pub(super) fn surplus(&self, waiting: usize) -> bool {
        self.idle > waiting
    }

    pub(super) fn ended(&mut self, id: ConsumerId) -> End {
        match self.open.remove(&id) {
            Some(_) => End::Brokers,
            None => End::Ours,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_idle_consumers_as_workers_that_wait() {
        let mut book = Book::default();
        assert_eq!(book.wanted(0), None);
        assert_eq!(book.wanted(2), Some(0));
        assert_eq!(book.wanted(2), Some(1));
        assert_eq!(book.wanted(2), None);
        book.delivered(0);
        assert_eq!(book.wanted(1), None, "the other one is idle");
        assert_eq!(book.wanted(2), Some(2));
    }

    #[test]
    fn a_consumer_leaves_before_its_message_is_settled_unless_somebody_waits() {
        let mut book = Book::default();
        let first = book.wanted(1).expect("one");
        book.delivered(first);
        assert_eq!(book.settling(first, 1), Afterwards::Stays);
        assert_eq!(book.wanted(1), None, "it is idle again");
        book.delivered(first);
        assert_eq!(book.settling(first, 0), Afterwards::Leaves);
        assert_eq!(book.ended(first), End::Ours);
    }

    #[test]
    fn idle_consumers_are_dismissed_when_workers_gave_up() {
        let mut book = Book::default();
        let (first, second) = (book.wanted(2).expect("one"), book.wanted(2).expect("two"));
        assert!(book.surplus(1));
        let dismissed = book.dismiss(1);
        assert_eq!(dismissed.len(), 1);
        assert!(!book.surplus(1));
        let kept = if dismissed[0] == first { second } else { first };
        assert_eq!(book.ended(dismissed[0]), End::Ours);
        assert_eq!(book.ended(kept), End::Brokers);
    }

    #[test]
    fn the_last_message_of_a_dismissed_consumer_is_settled_without_it() {
        let mut book = Book::default();
        let id = book.wanted(1).expect("one");
        assert_eq!(book.dismiss(0), [id]);
        book.delivered(id);
        assert_eq!(book.settling(id, 0), Afterwards::Stays);
        assert_eq!(book.wanted(1), Some(1));
    }
}
