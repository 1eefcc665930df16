//! Messages from outside that say what an operation came to, and who has taken which.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Moment;

/// How long a message may be out before it comes back.
const OUT: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Arrivals {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    body: String,
    /// Who has it, and until when.
    out: Option<(u32, Moment)>,
}

impl Waiting {
    fn is_here(&self, now: Moment) -> bool {
        self.out.is_none_or(|(_, until)| until <= now)
    }
}

impl Arrivals {
    pub fn send(&mut self, body: String) {
        self.waiting.insert(self.next, Waiting { body, out: None });
        self.next += 1;
    }

    pub(in super::super) fn take(&mut self, now: Moment, taker: u32) -> Option<(u64, String)> {
        let mut waiting = self.waiting.iter_mut();
        let (tag, message) = waiting.find(|(_, message)| message.is_here(now))?;
        message.out = Some((taker, now + OUT));
        Some((*tag, message.body.clone()))
    }

    pub(in super::super) fn ack(&mut self, tag: u64) {
        self.waiting.remove(&tag);
    }

    /// A process is gone: what it had in its hands comes back.
    pub(in super::super) fn give_back_all(&mut self, taker: u32) {
        for message in self.waiting.values_mut() {
            message.out.take_if(|(holder, _)| *holder == taker);
        }
    }

    /// Whether there is one that nobody has in his hands.
    pub(in super::super) fn any(&self, now: Moment) -> bool {
        self.waiting.values().any(|message| message.is_here(now))
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
