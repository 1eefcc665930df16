//! State shared by the handlers of the model server: queued scripts and recorded requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::TITLE_MODEL;
use super::record::{RecordedRequest, ResponseEnd};
use super::script::Script;

pub(super) type ScriptResponder = Arc<dyn Fn(&RecordedRequest) -> Script + Send + Sync>;

#[derive(Default)]
pub(super) struct ModelServerState {
    inner: Mutex<ScriptsAndRequests>,
    /// Counts changes of the recorded requests, so that tests can wait for them without polling.
    changes: watch::Sender<u64>,
    closing: CancellationToken,
}

#[derive(Default)]
struct ScriptsAndRequests {
    scripts: VecDeque<Script>,
    responder: Option<ScriptResponder>,
    requests: Vec<RecordedRequest>,
    violations: Vec<String>,
}

impl ModelServerState {
    fn inner(&self) -> MutexGuard<'_, ScriptsAndRequests> {
        self.inner.lock().expect("no code panics while it holds this lock")
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

    pub(super) fn respond_with(&self, responder: ScriptResponder) {
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
        // Called without the lock: the responder may read the recorded requests.
        drop(inner);
        match responder {
            Some(responder) => responder(request),
            None => Script::error(500, "no_script", "no script left"),
        }
    }

    /// Records a request and returns its index.
    pub(super) fn record(&self, request: RecordedRequest) -> usize {
        let mut inner = self.inner();
        inner.requests.push(request);
        let number = inner.requests.len() - 1;
        drop(inner);
        self.changed();
        number
    }

    pub(super) fn ended(&self, number: usize, ending: ResponseEnd) {
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
