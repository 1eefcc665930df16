//! State shared by the handlers of the model server: queued scripts and recorded requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::TITLE_MODEL;
use super::record::{RecordedRequest, ResponseEnd};
use super::script::Script;

pub(crate) type ScriptResponder = Arc<dyn Fn(&RecordedRequest) -> Script + Send + Sync>;

#[derive(Default)]
pub(crate) struct ModelServerState {
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

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn enqueue(&self, script: Script) {
        self.inner().scripts.push_back(script);
    }

    pub(crate) fn respond_with(&self, responder: ScriptResponder) {
        self.inner().responder = Some(responder);
    }

    pub(crate) fn script_for(&self, request: &RecordedRequest) -> Script {
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
    pub(crate) fn record(&self, request: RecordedRequest) -> usize {
        let mut inner = self.inner();
        inner.requests.push(request);
        let number = inner.requests.len() - 1;
        drop(inner);
        self.changed();
        number
    }

    pub(crate) fn ended(&self, number: usize, ending: ResponseEnd) {
        self.inner().requests[number].ending = ending;
        self.changed();
    }

    pub(crate) fn violated(&self, violation: String) {
        self.inner().violations.push(violation);
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.inner().requests.clone()
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.inner().violations.clone()
    }

    pub(crate) fn scripts_left(&self) -> usize {
        self.inner().scripts.len()
    }

    pub(crate) fn close(&self) {
        self.closing.cancel();
    }

    pub(crate) async fn closed(&self) {
        self.closing.cancelled().await;
    }
}
