//! Services offered to tool calls besides sub-sessions and background calls: operation lookup and progress reports.

use std::sync::{Arc, Mutex};
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

use super::leased_turn::LeasedTurn;
use super::recorder::ChunkWriter;
use super::turn_writer::TurnWriter;

/// Reports within this interval are dropped.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);
/// Larger reports are dropped; the result contains everything anyway.
const MAX_REPORT_BYTES: usize = 16 * 1024;

pub(crate) struct OperationLookup {
    leased: Arc<LeasedTurn>,
}

impl OperationLookup {
    pub(crate) fn new(leased: Arc<LeasedTurn>) -> Self {
        Self { leased }
    }
}

#[async_trait]
impl OperationStates for OperationLookup {
    async fn get(&self, which: &OperationKey) -> Result<Option<Operation>, ToolError> {
        let LeasedTurn { inner, workspace, .. } = &*self.leased;
        Ok(inner.ports.operations.get(&workspace.owner, which).await?)
    }
}

pub(crate) struct ProgressReporter {
    chunks: ChunkWriter,
    call: CallId,
    last: Mutex<Option<Instant>>,
}

impl ProgressReporter {
    pub(crate) fn new(writer: &TurnWriter, call: &ToolCall) -> Self {
        Self { chunks: writer.chunks.clone(), call: call.id.clone(), last: Mutex::new(None) }
    }
}

impl ProgressReports for ProgressReporter {
    fn show(&self, so_far: &ToolResponse) {
        let mut last = self.last.lock().expect("no code panics while it holds this lock");
        if last.is_none_or(|last| last.elapsed() >= REPORT_INTERVAL) && self.emit(so_far) {
            *last = Some(Instant::now());
        }
    }

    fn show_stage(&self, so_far: &ToolResponse) {
        self.emit(so_far);
    }
}

impl ProgressReporter {
    /// `false`: it is too large.
    fn emit(&self, so_far: &ToolResponse) -> bool {
        let output = scrub(json!(so_far));
        if output.to_string().len() > MAX_REPORT_BYTES {
            return false;
        }
        self.chunks.emit_if_room(&Chunk::ToolOutputAvailable {
            tool_call_id: self.call.clone(),
            output,
            preliminary: true,
        });
        true
    }
}
