//! What calls are offered besides sub-sessions and the shelf: a look at operations, and a way to show how far they are.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{OperationStates, ProgressReports};
use ports::store::OperationKey;
use ports::tool::ToolError;
use protocol::CallId;
use protocol::chunk::Chunk;
use protocol::message::ToolCall;
use protocol::operation::Operation;
use protocol::response::ToolResponse;
use protocol::text::scrub;
use serde_json::json;
use tokio::time::Instant;

use super::desk::Desk;
use super::recorder::Pen;

/// Reports that come faster are left out.
const BETWEEN_REPORTS: Duration = Duration::from_millis(200);
/// Larger reports are left out: the result will say it all.
const REPORT_BYTES: usize = 16 * 1024;

pub(super) struct States {
    desk: Desk,
}

impl States {
    pub(super) fn new(desk: &Desk) -> Self {
        Self { desk: desk.clone() }
    }
}

#[async_trait]
impl OperationStates for States {
    async fn get(&self, which: &OperationKey) -> Result<Option<Operation>, ToolError> {
        let found = self.desk.inner.ports.operations.get(&self.desk.place.owner, which).await;
        found.map_err(|error| {
            tracing::warn!(%error, "an operation could not be looked up");
            ToolError::tell("store_unavailable", "The server could not reach its store. Try again.")
        })
    }
}

pub(super) struct Report {
    pen: Pen,
    call: CallId,
    last: Mutex<Option<Instant>>,
}

impl Report {
    pub(super) fn new(desk: &Desk, call: &ToolCall) -> Self {
        Self { pen: desk.pen.clone(), call: call.id.clone(), last: Mutex::new(None) }
    }
}

impl ProgressReports for Report {
    fn show(&self, so_far: &ToolResponse) {
        let mut last = self.last.lock().expect("no code panics while it holds this lock");
        if last.is_some_and(|last| last.elapsed() < BETWEEN_REPORTS) {
            return;
        }
        let output = scrub(json!(so_far));
        if output.to_string().len() > REPORT_BYTES {
            return;
        }
        *last = Some(Instant::now());
        self.pen.hint(&Chunk::ToolOutputAvailable {
            tool_call_id: self.call.clone(),
            output,
            preliminary: true,
        });
    }
}
