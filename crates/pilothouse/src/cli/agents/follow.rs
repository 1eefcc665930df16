//! Follows an execution to its end, through lost connections and restarts of the server.

use futures::StreamExt;
use protocol::execution::ExecutionStatus;
use protocol::sse::{SseDecoder, SseEvent};
use protocol::{NodeId, cursor};
use reqwest::Response;
use serde::Deserialize;

use super::execution::ExecutionSummary;
use super::node_names::NodeNames;
use crate::cli::client::{ApiClient, ClientError};
use crate::cli::reconnect::{ReconnectPolicy, RetryDecision, ServerResponded};
use crate::cli::terminal::{note, shortened};

/// Larger than any event of the server.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// Shows every step of an execution until it has ended or needs approval.
pub(crate) async fn follow_to_end(
    client: &ApiClient,
    execution: &ExecutionSummary,
    names: NodeNames,
) -> Result<(), ClientError> {
    let path = ["graphs", &execution.graph_id, "executions", &execution.id, "stream"];
    let mut progress = ExecutionProgress { names, last_event: None, review_after: None };
    let mut policy = ReconnectPolicy::new();
    loop {
        let mut request = client.get(&path);
        if let Some(last) = &progress.last_event {
            request = request.header("last-event-id", last);
        }
        match client.send(request).await {
            Ok(response) => {
                if policy.responded() == ServerResponded::Again {
                    note("(reconnected)");
                }
                match progress.read(response).await {
                    EventsRead::Done => return Ok(()),
                    EventsRead::Cut => {}
                }
            }
            Err(ClientError::Unreachable) => {}
            Err(refused) => return Err(refused),
        }
        let pause = match policy.failed() {
            RetryDecision::GiveUp => return Err(ClientError::Unreachable),
            RetryDecision::Notify(pause) => {
                note("(connection lost; reconnecting…)");
                pause
            }
            RetryDecision::Wait(pause) => pause,
        };
        tokio::time::sleep(pause).await;
    }
}

struct ExecutionProgress {
    names: NodeNames,
    last_event: Option<String>,
    /// The number of the event after which the execution waits for a review.
    review_after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventsRead {
    Done,
    /// The connection broke: resume at the same position.
    Cut,
}

#[derive(Deserialize)]
struct NodeStatusUpdate {
    node_id: NodeId,
    status: Option<ExecutionStatus>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct ExecutionStatusUpdate {
    status: ExecutionStatus,
    event_count: u64,
}

impl ExecutionProgress {
    async fn read(&mut self, response: Response) -> EventsRead {
        let mut decoder = SseDecoder::new(EVENT_BYTES);
        let mut body = response.bytes_stream();
        while let Some(Ok(piece)) = body.next().await {
            decoder.push(&piece);
            loop {
                match decoder.next_event() {
                    Ok(None) => break,
                    Ok(Some(event)) if event.data == "[DONE]" => return EventsRead::Done,
                    Ok(Some(event)) => {
                        if let Some(line) = self.line(&event) {
                            note(&line);
                        }
                        if self.needs_review(event) {
                            return EventsRead::Done;
                        }
                    }
                    Err(_) => return EventsRead::Cut,
                }
            }
        }
        EventsRead::Cut
    }

    /// Whether this is the last event before a decision. The execution may be sent before the events that led to its state.
    fn needs_review(&mut self, event: SseEvent) -> bool {
        if event.name.as_deref() == Some("graph_execution_event")
            && let Ok(update) = serde_json::from_str::<ExecutionStatusUpdate>(&event.data)
        {
            let in_review = update.status == ExecutionStatus::Review;
            self.review_after = in_review.then_some(update.event_count);
        }
        self.last_event = event.id.or(self.last_event.take());
        let seen = self.last_event.as_deref().and_then(cursor::parse).unwrap_or(0);
        self.review_after.is_some_and(|after| seen >= after)
    }

    /// One line for every status of a node. Unknown events of newer servers are skipped.
    fn line(&self, event: &SseEvent) -> Option<String> {
        if event.name.as_deref() != Some("node_execution_event") {
            return None;
        }
        let update: NodeStatusUpdate = serde_json::from_str(&event.data).ok()?;
        let status = update.status?;
        let name = self.names.get(&update.node_id);
        let why = update.error.map(|error| format!(": {}", shortened(&error))).unwrap_or_default();
        Some(format!("{:<10} {name}{why}", status.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(name: &str, data: &Value) -> SseEvent {
        SseEvent { id: None, name: Some(name.to_owned()), data: data.to_string() }
    }

    #[test]
    fn every_status_of_a_node_is_one_line_with_its_name() {
        let progress =
            ExecutionProgress { names: NodeNames::default(), last_event: None, review_after: None };
        let line = |data| progress.line(&event("node_execution_event", &data));
        let begun = json!({"node_exec_id": "e:0", "node_id": "adder", "status": "RUNNING"});
        assert_eq!(line(begun).as_deref(), Some("RUNNING    adder"));
        assert_eq!(line(json!({"node_id": "adder", "output_data": {"n": [1]}})), None);
        let failed = json!({"node_id": "adder", "status": "FAILED", "error": "no\nnumber"});
        assert_eq!(line(failed).as_deref(), Some("FAILED     adder: no number"));
    }

    #[test]
    fn an_execution_is_followed_until_it_needs_a_review() {
        let mut progress =
            ExecutionProgress { names: NodeNames::default(), last_event: None, review_after: None };
        let row = |status: &str| {
            event("graph_execution_event", &json!({"status": status, "event_count": 2}))
        };
        let numbered = |id: &str| SseEvent {
            id: Some(id.to_owned()),
            ..event("node_execution_event", &json!({"node_id": "n"}))
        };
        assert!(!progress.needs_review(row("REVIEW")), "its events have not arrived yet");
        assert!(!progress.needs_review(numbered("1")));
        assert!(progress.needs_review(numbered("2")));
        assert!(!progress.needs_review(row("RUNNING")), "the review was decided");
        assert!(progress.needs_review(row("REVIEW")));
    }
}
