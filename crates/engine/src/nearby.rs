//! Turns that this process found due and could not push: its own workers take them without the queue. So a broker that
//! is down costs a sweep of latency and nothing else.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use protocol::TurnId;
use tokio::sync::Notify;

/// More than this wait in the outbox.
const ROOM: usize = 500;

#[derive(Default)]
pub(crate) struct Nearby {
    turns: Mutex<VecDeque<TurnId>>,
    grown: Notify,
}

impl Nearby {
    /// One that waits here already is not added again. What finds no room stays in the outbox.
    pub(crate) fn offer(&self, turn: &TurnId) {
        let mut turns = self.turns();
        if turns.len() < ROOM && !turns.contains(turn) {
            turns.push_back(turn.clone());
            self.grown.notify_one();
        }
    }

    /// Waits for one. Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> TurnId {
        loop {
            if let Some(turn) = self.take() {
                return turn;
            }
            self.grown.notified().await;
        }
    }

    fn take(&self) -> Option<TurnId> {
        let mut turns = self.turns();
        let turn = turns.pop_front();
        if !turns.is_empty() {
            // A single notice may stand for several offers.
            self.grown.notify_one();
        }
        turn
    }

    fn turns(&self) -> MutexGuard<'_, VecDeque<TurnId>> {
        self.turns.lock().expect("no code panics while it holds this lock")
    }
}
