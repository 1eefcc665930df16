//! The recorded calls of the service, how each ended, and the configured responses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use http::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::ServiceResponse;

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct ReceivedCall {
    pub tool: String,
    pub body: Value,
    pub headers: HeaderMap,
    pub at: Instant,
    pub ending: ReceivedCallEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedCallEnd {
    /// Not answered yet.
    Open,
    Answered,
    /// The caller disconnected before the response.
    CallerLeft,
}

impl ReceivedCall {
    pub fn key(&self) -> &str {
        let key = self.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
        key.expect("every call has an idempotency key")
    }

    pub fn arguments(&self) -> &Value {
        &self.body["arguments"]
    }

    /// The `work` argument.
    pub fn work(&self) -> &str {
        self.body["arguments"]["work"].as_str().unwrap_or_default()
    }

    pub fn operation_id(&self) -> &str {
        self.body["operation_id"].as_str().expect("a call of an operation")
    }

    pub fn task_id(&self) -> &str {
        self.body["task_id"].as_str().expect("a call of an operation")
    }

    pub fn callback_url(&self) -> &str {
        self.body["callback_url"].as_str().expect("a call of an operation")
    }
}

pub(crate) type CallResponder = Arc<dyn Fn(&ReceivedCall) -> ServiceResponse + Send + Sync>;

#[derive(Default)]
pub(crate) struct CallLog {
    records: Mutex<CallRecords>,
    /// Counts changes, so that tests can wait for them without polling.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct CallRecords {
    received: Vec<ReceivedCall>,
    responders: BTreeMap<String, CallResponder>,
}

impl CallLog {
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn answer_with(&self, tool: &str, responders: CallResponder) {
        self.records().responders.insert(tool.to_owned(), responders);
    }

    pub(crate) fn answer_to(&self, received: &ReceivedCall) -> ServiceResponse {
        // Called without the lock: the responder may read the call log.
        let responders = self.records().responders.get(&received.tool).cloned();
        responders
            .map_or_else(|| ServiceResponse::json(json!({"done": true})), |answer| answer(received))
    }

    /// Records a call and returns its index.
    pub(crate) fn record(&self, received: ReceivedCall) -> usize {
        let mut records = self.records();
        records.received.push(received);
        let number = records.received.len() - 1;
        drop(records);
        self.changed();
        number
    }

    pub(crate) fn ended(&self, number: usize, ending: ReceivedCallEnd) {
        self.records().received[number].ending = ending;
        self.changed();
    }

    pub(crate) fn calls(&self, tool: &str) -> Vec<ReceivedCall> {
        self.records().received.iter().filter(|call| call.tool == tool).cloned().collect()
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn records(&self) -> MutexGuard<'_, CallRecords> {
        self.records.lock().expect("no code panics while it holds this lock")
    }
}
