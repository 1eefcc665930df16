//! What the handlers of the model server share: the scripts to play and the record of what was
//! asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::TITLE_MODEL;
use super::record::{Ending, RecordedRequest};
use super::script::Script;

pub(super) type Responder = Arc<dyn Fn(&RecordedRequest) -> Script + Send + Sync>;

#[derive(Default)]
pub(super) struct Stage {
    inner: Mutex<Inner>,
    /// Counts changes of the record, so that tests wait for them instead of sleeping.
    changes: watch::Sender<u64>,
    closing: CancellationToken,
}

#[derive(Default)]
struct Inner {
    scripts: VecDeque<Script>,
    responder: Option<Responder>,
    requests: Vec<RecordedRequest>,
    violations: Vec<String>,
}

impl Stage {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it holds this lock")
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn enqueue(&self, script: Script) {
        self.inner().scripts.push_back(script);
    }

    pub(super) fn respond_with(&self, responder: Responder) {
        self.inner().responder = Some(responder);
    }

    pub(super) fn script_for(&self, request: &RecordedRequest) -> Script {
        if request.model() == TITLE_MODEL {
            return Script::text("A scripted title");
        }
        let mut inner = self.inner();
        if let Some(script) = inner.scripts.pop_front() {
            return script;
        }
        let responder = inner.responder.clone();
        // The responder may ask the server about its record, so it runs without the lock.
        drop(inner);
        match responder {
            Some(responder) => responder(request),
            None => Script::error(500, "no_script", "no script left"),
        }
    }

    /// Answers the number under which the request is kept.
    pub(super) fn record(&self, request: RecordedRequest) -> usize {
        let mut inner = self.inner();
        inner.requests.push(request);
        let number = inner.requests.len() - 1;
        drop(inner);
        self.changed();
        number
    }

    pub(super) fn ended(&self, number: usize, ending: Ending) {
        self.inner().requests[number].ending = ending;
        self.changed();
    }

    pub(super) fn violated(&self, violation: String) {
        self.inner().violations.push(violation);
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        self.inner().requests.clone()
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.inner().violations.clone()
    }

    pub(super) fn scripts_left(&self) -> usize {
        self.inner().scripts.len()
    }

    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }
}
