//! The response body that streams an execution. It reads only when the socket accepts bytes, so a slow client costs one
//! read.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use engine::{ExecutionFollower, ExecutionUpdate};
use futures::stream;
use ports::PortError;
use protocol::execution::{Execution, ExecutionStatus, NodeEvent, node_execution_id};
use protocol::{ExecutionId, GraphId, NodeId, ReviewId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::AppState;
use super::super::auth::CallerIdentity;
use super::super::event_stream::{
    self, DONE, EventStream, HEARTBEAT, NextAction, OPENING, POLL, StreamAborted,
};
use super::super::stream_permits::StreamPermit;
use super::ExecutionMeta;

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

pub(super) fn respond(
    app: Arc<AppState>,
    identity: CallerIdentity,
    execution: Execution,
    follower: ExecutionFollower,
    permit: StreamPermit,
) -> Response {
    let execution = ExecutionRef {
        id: execution.id,
        graph_id: execution.graph_id,
        graph_version: execution.graph_version,
    };
    let events = EventStream::new(app, identity, permit);
    let execution_stream =
        ExecutionStream { events, execution, follower, stage: ExecutionStreamStage::Opening };
    let pieces = stream::unfold(execution_stream, |mut execution_stream| async move {
        let piece = execution_stream.next().await?;
        if let Err(reason) = &piece {
            tracing::debug!(execution.id = %execution_stream.execution.id, %reason, "a stream was aborted");
        }
        Some((piece, execution_stream))
    });
    event_stream::event_stream_response(Body::from_stream(pieces))
}

struct ExecutionStream {
    events: EventStream,
    execution: ExecutionRef,
    follower: ExecutionFollower,
    stage: ExecutionStreamStage,
}

/// What the events of an execution have in common.
struct ExecutionRef {
    id: ExecutionId,
    graph_id: GraphId,
    graph_version: u32,
}

enum ExecutionStreamStage {
    Opening,
    Following,
    Over,
}

impl ExecutionStream {
    /// The next bytes to send; `None` closes the body cleanly.
    async fn next(&mut self) -> Option<Result<Bytes, StreamAborted>> {
        match self.stage {
            ExecutionStreamStage::Over => return None,
            // Sent at once, so that the client has the response headers before the first event.
            ExecutionStreamStage::Opening => {
                self.stage = ExecutionStreamStage::Following;
                return Some(Ok(Bytes::from_static(OPENING.as_bytes())));
            }
            ExecutionStreamStage::Following => {}
        }
        let piece = self.follow().await;
        if piece.is_err() {
            self.stage = ExecutionStreamStage::Over;
        }
        self.events.mark_sent();
        Some(piece)
    }

    async fn follow(&mut self) -> Result<Bytes, StreamAborted> {
        loop {
            let max_wait = match self.events.next_action().await? {
                NextAction::Heartbeat => return Ok(HEARTBEAT),
                NextAction::Wait(max_wait) => max_wait,
            };
            match self.events.or_shutdown(self.follower.next(max_wait)).await? {
                // An unavailable store does not end the stream.
                Err(PortError::Unavailable(_)) => {
                    self.events.or_shutdown(tokio::time::sleep(POLL.min(max_wait))).await?;
                }
                Err(error) => return Err(error.into()),
                Ok(ExecutionUpdate::Events(events)) if !events.is_empty() => {
                    let events = events
                        .into_iter()
                        .map(|(number, event)| numbered(number, &self.execution.update(event)));
                    return Ok(Bytes::from(events.collect::<String>()));
                }
                Ok(ExecutionUpdate::Row(execution)) => return Ok(Bytes::from(row(*execution))),
                Ok(ExecutionUpdate::Events(_) | ExecutionUpdate::Silent) => {}
                Ok(ExecutionUpdate::End) => {
                    self.stage = ExecutionStreamStage::Over;
                    return Ok(Bytes::from_static(DONE.as_bytes()));
                }
                Ok(ExecutionUpdate::Gone) => return Err(StreamAborted::Gone),
            }
        }
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
pub(in super::super) fn by_pin(
    outputs: impl IntoIterator<Item = (String, Value)>,
) -> Map<String, Value> {
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
