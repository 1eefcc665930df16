//! The outputs of an earlier execution, by node.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ports::PortResult;
use protocol::NodeId;
use protocol::execution::{Execution, NodeEvent};
use serde_json::Value;

use crate::EngineInner;
use crate::execution::execution_view::read_journal;
use crate::execution::output_buffer::json_size;

/// How much of an execution is kept. What comes after it is answered for in other ways.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The outputs of the first time that each node ran, in order.
pub(crate) type Recording = HashMap<NodeId, Vec<(String, Arc<Value>)>>;

pub(crate) async fn load_recording(
    inner: &EngineInner,
    execution: &Execution,
) -> PortResult<Recording> {
    let mut reader = RecordingReader::default();
    read_journal(inner, execution, |event| reader.take(event)).await?;
    let RecordingReader { mut outputs, failed, .. } = reader;
    outputs.retain(|node, outputs| !outputs.is_empty() && !failed.contains(node));
    Ok(outputs)
}

#[derive(Default)]
struct RecordingReader {
    outputs: Recording,
    /// The node execution that is recorded for each node.
    first_runs: HashMap<NodeId, u64>,
    failed: HashSet<NodeId>,
    bytes: usize,
}

impl RecordingReader {
    fn take(&mut self, event: NodeEvent) {
        let first = *self.first_runs.entry(event.node.clone()).or_insert(event.run);
        if first != event.run {
            return;
        }
        if event.error.is_some() {
            self.failed.insert(event.node.clone());
        }
        self.bytes += event.outputs.iter().map(|(_, value)| json_size(value)).sum::<usize>();
        if self.bytes > MAX_BYTES {
            // Half of the outputs would be no answer.
            self.failed.insert(event.node);
            return;
        }
        self.outputs.entry(event.node).or_default().extend(event.outputs);
    }
}
