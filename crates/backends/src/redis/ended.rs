//! The hint that a turn has ended, from and to all processes. Here it is heard at once, elsewhere as soon as Redis says it.

use std::sync::Arc;

use ports::Signal;
use protocol::TurnId;
use tokio::sync::broadcast;

use super::backlog::Backlog;

pub(crate) struct Ended {
    pub(super) backlog: Arc<Backlog>,
    pub(super) signals: broadcast::Sender<Signal>,
    pub(super) deaf: bool,
}

impl Ended {
    /// Never waits and never fails.
    pub(crate) fn publish(&self, turn: TurnId) {
        if self.deaf {
            return;
        }
        // No receivers is not a failure: nobody wanted the hint.
        let _ = self.signals.send(Signal::Ended(turn.clone()));
        self.backlog.ended(turn);
    }
}

/// What is said on the channel: who says it, and which turn.
pub(super) fn word(origin: &str, turn: &TurnId) -> String {
    format!("{origin} {turn}")
}

/// The turn, unless `origin` itself said it and has heard it already.
pub(super) fn turn_of(word: &str, origin: &str) -> Option<TurnId> {
    let (said_by, turn) = word.split_once(' ')?;
    (said_by != origin).then(|| turn.into())
}
