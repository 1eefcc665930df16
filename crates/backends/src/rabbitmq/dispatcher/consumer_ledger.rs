//! Tracks the consumers that this process has open on the queue. Each may hold one message, so a process with as many
//! idle consumers as waiting workers never receives a message without a worker for it. Decides only; the dispatcher
//! acts.

use std::collections::HashMap;

pub(crate) type ConsumerId = u64;

#[derive(Default)]
pub(crate) struct ConsumerLedger {
    open: HashMap<ConsumerId, Credit>,
    idle: usize,
    next: ConsumerId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Credit {
    /// The broker may send it a message at any time.
    Idle,
    /// Holds an unsettled message and receives no other.
    Busy,
}

/// What to do with a consumer whose message is about to be settled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AfterSettle {
    /// A worker waits for its next message.
    Keep,
    /// No worker waits: cancel it before its message is settled, or the broker would send the next one at once.
    Cancel,
}

/// Who ended a consumer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConsumerEnd {
    Cancelled,
    /// The queue was deleted, or the channel failed.
    ByBroker,
}

impl ConsumerLedger {
    /// Whether more workers wait than there are idle consumers.
    pub(crate) fn is_short(&self, waiting: usize) -> bool {
        self.idle < waiting
    }

    /// Registers and returns a consumer to open, if there are too few.
    pub(crate) fn open_one(&mut self, waiting: usize) -> Option<ConsumerId> {
        if !self.is_short(waiting) {
            return None;
        }
        let id = self.next;
        self.next += 1;
        self.idle += 1;
        self.open.insert(id, Credit::Idle);
        Some(id)
    }

    pub(crate) fn record_delivery(&mut self, id: ConsumerId) {
        if let Some(credit @ Credit::Idle) = self.open.get_mut(&id) {
            *credit = Credit::Busy;
            self.idle -= 1;
        }
    }

    /// Called before a message is settled. Returns `Keep` for a consumer that was already cancelled: there is nothing
    /// to do.
    pub(crate) fn before_settle(&mut self, id: ConsumerId, waiting: usize) -> AfterSettle {
        if self.is_short(waiting) {
            if let Some(credit @ Credit::Busy) = self.open.get_mut(&id) {
                *credit = Credit::Idle;
                self.idle += 1;
            }
            return AfterSettle::Keep;
        }
        match self.open.remove(&id) {
            Some(Credit::Busy) => AfterSettle::Cancel,
            Some(Credit::Idle) => {
                self.idle -= 1;
                AfterSettle::Cancel
            }
            None => AfterSettle::Keep,
        }
    }

    /// Removes idle consumers that no worker waits for. Each may still deliver one last message.
    pub(crate) fn remove_surplus(&mut self, waiting: usize) -> Vec<ConsumerId> {
        let surplus = self.idle.saturating_sub(waiting);
        let idle = self.open.iter().filter(|(_, credit)| **credit == Credit::Idle);
        let leaving: Vec<ConsumerId> = idle.map(|(id, _)| *id).take(surplus).collect();
        for id in &leaving {
            self.open.remove(id);
        }
        self.idle -= leaving.len();
        leaving
    }

    pub(crate) fn has_surplus(&self, waiting: usize) -> bool {
        self.idle > waiting
    }

    pub(crate) fn record_end(&mut self, id: ConsumerId) -> ConsumerEnd {
        match self.open.remove(&id) {
            Some(_) => ConsumerEnd::ByBroker,
            None => ConsumerEnd::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_idle_consumers_as_waiting_workers() {
        let mut ledger = ConsumerLedger::default();
        assert_eq!(ledger.open_one(0), None);
        assert_eq!(ledger.open_one(2), Some(0));
        assert_eq!(ledger.open_one(2), Some(1));
        assert_eq!(ledger.open_one(2), None);
        ledger.record_delivery(0);
        assert_eq!(ledger.open_one(1), None, "the other one is idle");
        assert_eq!(ledger.open_one(2), Some(2));
    }

    #[test]
    fn a_consumer_is_cancelled_before_its_message_is_settled_unless_a_worker_waits() {
        let mut ledger = ConsumerLedger::default();
        let first = ledger.open_one(1).expect("one");
        ledger.record_delivery(first);
        assert_eq!(ledger.before_settle(first, 1), AfterSettle::Keep);
        assert_eq!(ledger.open_one(1), None, "it is idle again");
        ledger.record_delivery(first);
        assert_eq!(ledger.before_settle(first, 0), AfterSettle::Cancel);
        assert_eq!(ledger.record_end(first), ConsumerEnd::Cancelled);
    }

    #[test]
    fn idle_consumers_are_cancelled_when_workers_stop_waiting() {
        let mut ledger = ConsumerLedger::default();
        let (first, second) = (ledger.open_one(2).expect("one"), ledger.open_one(2).expect("two"));
        assert!(ledger.has_surplus(1));
        let removed = ledger.remove_surplus(1);
        assert_eq!(removed.len(), 1);
        assert!(!ledger.has_surplus(1));
        let kept = if removed[0] == first { second } else { first };
        assert_eq!(ledger.record_end(removed[0]), ConsumerEnd::Cancelled);
        assert_eq!(ledger.record_end(kept), ConsumerEnd::ByBroker);
    }

    #[test]
    fn the_last_message_of_a_cancelled_consumer_is_settled_without_it() {
        let mut ledger = ConsumerLedger::default();
        let id = ledger.open_one(1).expect("one");
        assert_eq!(ledger.remove_surplus(0), [id]);
        ledger.record_delivery(id);
        assert_eq!(ledger.before_settle(id, 0), AfterSettle::Keep);
        assert_eq!(ledger.open_one(1), Some(1));
    }
}
