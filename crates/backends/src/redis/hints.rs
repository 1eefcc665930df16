//! The hints that a job has ended and that a run has moved on, from and to all processes. Here they are heard at once,
//! elsewhere as soon as Redis says them.

use std::sync::Arc;

use ports::BusSignal;
use protocol::{ExecutionId, Job};
use tokio::sync::broadcast;

use super::backlog::Backlog;
use super::keys;

pub(crate) struct Hints {
    pub(super) backlog: Arc<Backlog>,
    pub(super) signals: broadcast::Sender<BusSignal>,
    pub(super) deaf: bool,
}

impl Hints {
    /// Never waits and never fails.
    pub(crate) fn ended(&self, job: Job) {
        if self.say(BusSignal::Ended(job.clone())) {
            self.backlog.ended(job);
        }
    }

    /// Never waits and never fails. Of what is said of a run before Redis has been told, it is told once.
    pub(crate) fn moved(&self, run: ExecutionId) {
        if self.say(BusSignal::Moved(run.clone())) {
            self.backlog.moved(run);
        }
    }

    /// Whether the other processes are to hear it, too.
    fn say(&self, signal: BusSignal) -> bool {
        if !self.deaf {
            // No receivers is not a failure: nobody wanted the hint.
            let _ = self.signals.send(signal);
        }
        !self.deaf
    }
}

/// What is said on a channel: who says it, and of what.
pub(super) fn word(origin: &str, subject: impl std::fmt::Display) -> String {
    format!("{origin} {subject}")
}

/// The hint that another process has given, if this is one. What `origin` itself said it has heard already.
pub(super) fn heard(channel: &str, word: &[u8], origin: &str) -> Option<BusSignal> {
    let (said_by, subject) = std::str::from_utf8(word).ok()?.split_once(' ')?;
    if said_by == origin {
        return None;
    }
    match channel {
        keys::ENDED => Some(BusSignal::Ended(Job::parse(subject))),
        keys::MOVED => Some(BusSignal::Moved(subject.into())),
        _ => None,
    }
}
