//! What the service was asked, how each call ended, and how it is told to answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use http::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Answer;

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct Received {
    pub tool: String,
    pub body: Value,
    pub headers: HeaderMap,
    pub at: Instant,
    pub ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Still held.
    Open,
    Answered,
    /// The caller hung up before the answer.
    CallerLeft,
}

impl Received {
    pub fn key(&self) -> &str {
        let key = self.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
        key.expect("every call has a key")
    }

    pub fn arguments(&self) -> &Value {
        &self.body["arguments"]
    }

    /// What the arguments say is to be done.
    pub fn work(&self) -> &str {
        self.body["arguments"]["work"].as_str().unwrap_or_default()
    }

    pub fn operation_id(&self) -> &str {
        self.body["operation_id"].as_str().expect("the call of an operation")
    }

    pub fn task_id(&self) -> &str {
        self.body["task_id"].as_str().expect("the call of an operation")
    }

    pub fn callback_url(&self) -> &str {
        self.body["callback_url"].as_str().expect("the call of an operation")
    }
}

pub(super) type Answering = Arc<dyn Fn(&Received) -> Answer + Send + Sync>;

#[derive(Default)]
pub(super) struct Book {
    pages: Mutex<Pages>,
    /// Counts changes, so that tests wait for them instead of sleeping.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Pages {
    received: Vec<Received>,
    answering: BTreeMap<String, Answering>,
}

impl Book {
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn answer_with(&self, tool: &str, answering: Answering) {
        self.pages().answering.insert(tool.to_owned(), answering);
    }

    pub(super) fn answer_to(&self, received: &Received) -> Answer {
        // Called without the lock: it may look at the record.
        let answering = self.pages().answering.get(&received.tool).cloned();
        answering.map_or_else(|| Answer::json(json!({"done": true})), |answer| answer(received))
    }

    /// Answers the number under which the call is kept.
    pub(super) fn record(&self, received: Received) -> usize {
        let mut pages = self.pages();
        pages.received.push(received);
        let number = pages.received.len() - 1;
        drop(pages);
        self.changed();
        number
    }

    pub(super) fn ended(&self, number: usize, ending: Ending) {
        self.pages().received[number].ending = ending;
        self.changed();
    }

    pub(super) fn calls(&self, tool: &str) -> Vec<Received> {
        self.pages().received.iter().filter(|call| call.tool == tool).cloned().collect()
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().expect("nothing panics while it holds this lock")
    }
}
