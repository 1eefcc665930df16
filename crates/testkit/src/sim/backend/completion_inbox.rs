//! Completion messages from external services, and the node that has taken each.

use std::collections::BTreeMap;
use std::time::Duration;

use super::SimTime;

/// How long a taken message stays invisible before it becomes available again.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct CompletionInbox {
    next: u64,
    messages: BTreeMap<u64, InboxMessage>,
}

struct InboxMessage {
    body: String,
    /// The node that has taken it, and until when.
    taken_until: Option<(u32, SimTime)>,
}

impl InboxMessage {
    fn is_available(&self, now: SimTime) -> bool {
        self.taken_until.is_none_or(|(_, until)| until <= now)
    }
}

impl CompletionInbox {
    pub fn send(&mut self, body: String) {
        self.messages.insert(self.next, InboxMessage { body, taken_until: None });
        self.next += 1;
    }

    pub(crate) fn take(&mut self, now: SimTime, taker: u32) -> Option<(u64, String)> {
        let mut messages = self.messages.iter_mut();
        let (tag, message) = messages.find(|(_, message)| message.is_available(now))?;
        message.taken_until = Some((taker, now + VISIBILITY_TIMEOUT));
        Some((*tag, message.body.clone()))
    }

    pub(crate) fn ack(&mut self, tag: u64) {
        self.messages.remove(&tag);
    }

    /// Makes the messages of a crashed node available again.
    pub(crate) fn return_all(&mut self, taker: u32) {
        for message in self.messages.values_mut() {
            message.taken_until.take_if(|(holder, _)| *holder == taker);
        }
    }

    /// Whether a message is available.
    pub(crate) fn has_available(&self, now: SimTime) -> bool {
        self.messages.values().any(|message| message.is_available(now))
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}
