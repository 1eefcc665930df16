//! A copilot whose model makes one scripted call per message.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use testkit::model_server::{Dialect, ScriptedCall};

use super::long_running::{finished, output_of};
use super::scripted::ScriptedServer;
use crate::events::EventStream;

pub(crate) struct Copilot {
    pub(crate) setup: ScriptedServer,
    pub(crate) session: String,
    /// The permissions sent with each message.
    permissions: Value,
    calls: AtomicU32,
}

impl Copilot {
    pub(crate) async fn start() -> Self {
        Self::with(&[], Value::Null).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)], permissions: Value) -> Self {
        let setup = ScriptedServer::with(Dialect::OpenAi, settings).await;
        let session = setup.server.session().await;
        Self { setup, session, permissions, calls: AtomicU32::new(0) }
    }

    /// Makes the model send this call and returns the final output of the tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let id = format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed));
        self.setup.calls(&[ScriptedCall::new(&id, tool, &arguments)]);
        let body = json!({"message": format!("Call {id}."), "permissions": self.permissions});
        let path = format!("/chat/sessions/{}/stream", self.session);
        let sent = self.setup.server.post(&path, &body).send().await;
        let events = finished(EventStream::of(sent.expect("an answer"))).await;
        output_of(&events, &id)
    }
}
