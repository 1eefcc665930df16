//! The stream of an execution: its node events with their numbers, and its row whenever that changes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{ExecutionFollower, ExecutionUpdate};
use ports::PortError;
use protocol::execution::{Execution, ExecutionStatus, NodeEvent, node_execution_id};
use protocol::{ExecutionId, GraphId, NodeId, ReviewId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ExecutionMeta;
use crate::http::stream::event_stream::{
    EventSource, POLL, SourceUpdate, StreamAborted, StreamConnection,
};

const NODE_EVENT: &str = "node_execution_event";
const GRAPH_EVENT: &str = "graph_execution_event";

/// What changed in a node execution since the previous event. Absent fields are unchanged.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct NodeUpdate {
    /// Always `node_execution_update`.
    event_type: &'static str,
    graph_id: GraphId,
    graph_version: u32,
    graph_exec_id: ExecutionId,
    node_exec_id: ReviewId,
    node_id: NodeId,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ExecutionStatus>,
    /// By pin: the values emitted since the previous event, in order.
    output_data: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Credits.
    cost: u64,
    /// Milliseconds since 1970.
    at: i64,
}

#[derive(Serialize)]
struct ExecutionEventBody {
    event_type: &'static str,
    #[serde(flatten)]
    execution: ExecutionMeta,
}

/// The events of one execution.
pub(crate) struct ExecutionStream {
    execution: ExecutionRef,
    follower: ExecutionFollower,
}

/// What the events of an execution have in common.
struct ExecutionRef {
    id: ExecutionId,
    graph_id: GraphId,
    graph_version: u32,
}

impl ExecutionStream {
    pub(crate) fn new(execution: Execution, follower: ExecutionFollower) -> Self {
        let execution = ExecutionRef {
            id: execution.id,
            graph_id: execution.graph_id,
            graph_version: execution.graph_version,
        };
        Self { execution, follower }
    }
}

impl EventSource for ExecutionStream {
    async fn next(
        &mut self,
        connection: &StreamConnection,
        max_wait: Duration,
    ) -> Result<SourceUpdate, StreamAborted> {
        match connection.or_shutdown(self.follower.next(max_wait)).await? {
            // An unavailable store does not end the stream.
            Err(PortError::Unavailable(_)) => {
                connection.or_shutdown(tokio::time::sleep(POLL.min(max_wait))).await?;
                Ok(SourceUpdate::Silent)
            }
            Err(error) => Err(error.into()),
            Ok(ExecutionUpdate::Events(events)) if !events.is_empty() => {
                let events = events
                    .into_iter()
                    .map(|(number, event)| numbered(number, &self.execution.update(event)));
                Ok(SourceUpdate::Events(Bytes::from(events.collect::<String>())))
            }
            Ok(ExecutionUpdate::Row(execution)) => {
                Ok(SourceUpdate::Events(Bytes::from(row(*execution))))
            }
            Ok(ExecutionUpdate::Events(_) | ExecutionUpdate::Silent) => Ok(SourceUpdate::Silent),
            Ok(ExecutionUpdate::End) => Ok(SourceUpdate::End),
            Ok(ExecutionUpdate::Gone) => Err(StreamAborted::Gone),
        }
    }

    fn log_abort(&self, reason: &StreamAborted) {
        tracing::debug!(execution.id = %self.execution.id, %reason, "a stream was aborted");
    }
}

impl ExecutionRef {
    fn update(&self, event: NodeEvent) -> NodeUpdate {
        let outputs = event.outputs.into_iter();
        let emitted = outputs.map(|(pin, value)| (pin, Arc::unwrap_or_clone(value)));
        NodeUpdate {
            event_type: "node_execution_update",
            graph_id: self.graph_id.clone(),
            graph_version: self.graph_version,
            graph_exec_id: self.id.clone(),
            node_exec_id: node_execution_id(&self.id, event.run),
            node_id: event.node,
            status: event.status,
            output_data: by_pin(emitted),
            error: event.error,
            cost: event.cost,
            at: event.at,
        }
    }
}

/// Every pin with its values, in order.
pub(crate) fn by_pin(outputs: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut pins: Map<String, Value> = Map::new();
    for (pin, value) in outputs {
        match pins.get_mut(&pin).and_then(Value::as_array_mut) {
            Some(values) => values.push(value),
            None => {
                pins.insert(pin, Value::Array(vec![value]));
            }
        }
    }
    pins
}

fn numbered(number: u64, update: &NodeUpdate) -> String {
    format!("id: {number}\nevent: {NODE_EVENT}\ndata: {}\n\n", json!(update))
}

/// An execution event has no id: a reconnecting client gets the newest one anyway.
fn row(execution: Execution) -> String {
    let update =
        ExecutionEventBody { event_type: "graph_execution_update", execution: execution.into() };
    format!("event: {GRAPH_EVENT}\ndata: {}\n\n", json!(update))
}

#[cfg(test)]
mod tests {
    use protocol::sse::SseDecoder;

    use super::*;

    #[test]
    fn a_node_event_is_one_event_with_its_number() {
        let execution = ExecutionRef { id: "e".into(), graph_id: "g".into(), graph_version: 2 };
        let outputs = [("line", json!("a\nb")), ("sum", json!(1)), ("line", json!("c"))];
        let event = NodeEvent {
            run: 3,
            node: "n".into(),
            outputs: outputs.map(|(pin, value)| (pin.to_owned(), Arc::new(value))).into(),
            status: Some(ExecutionStatus::Completed),
            at: 5,
            error: None,
            decision: None,
            cost: 0,
        };
        let mut decoder = SseDecoder::new(1 << 20);
        decoder.push(numbered(17, &execution.update(event)).as_bytes());
        let event = decoder.next_event().expect("text").expect("an event");
        assert_eq!((event.id.as_deref(), event.name.as_deref()), (Some("17"), Some(NODE_EVENT)));
        let data: Value = serde_json::from_str(&event.data).expect("JSON");
        assert_eq!(data["node_exec_id"], "e:3");
        assert_eq!(data["status"], "COMPLETED");
        assert_eq!(data["output_data"], json!({"line": ["a\nb", "c"], "sum": [1]}));
        assert!(data.get("error").is_none(), "absent values are omitted");
    }
}
