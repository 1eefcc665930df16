//! Hints that a job has ended or an execution has advanced, from and to all processes. Delivered at once in this
//! process, and through Redis in the others.

use std::sync::Arc;

use ports::BusSignal;
use protocol::{ExecutionId, Job};
use tokio::sync::broadcast;

use super::backlog::PublishBacklog;
use super::keys;

pub(crate) struct RedisHints {
    pub(crate) backlog: Arc<PublishBacklog>,
    pub(crate) signals: broadcast::Sender<BusSignal>,
    pub(crate) deaf: bool,
}

impl RedisHints {
    /// Never waits and never fails.
    pub(crate) fn ended(&self, job: Job) {
        if self.deliver(BusSignal::Ended(job.clone())) {
            self.backlog.ended(job);
        }
    }

    /// Never waits and never fails. Repeated hints about one execution are sent to Redis once.
    pub(crate) fn moved(&self, run: ExecutionId) {
        if self.deliver(BusSignal::Moved(run.clone())) {
            self.backlog.moved(run);
        }
    }

    /// Delivers the hint in this process. Returns whether the other processes should receive it, too.
    fn deliver(&self, signal: BusSignal) -> bool {
        if !self.deaf {
            // Without receivers this fails, which is not an error.
            let _ = self.signals.send(signal);
        }
        !self.deaf
    }
}

/// Payload of a hint: the origin process and the subject.
pub(crate) fn payload(origin: &str, subject: impl std::fmt::Display) -> String {
    format!("{origin} {subject}")
}

/// The hint of another process, if this is one. Hints from `origin` itself were delivered already.
pub(crate) fn parse(channel: &str, word: &[u8], origin: &str) -> Option<BusSignal> {
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
