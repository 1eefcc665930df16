//! Following a run to its end, through lost connections and restarts of the server.

use futures::StreamExt;
use protocol::execution::ExecutionStatus;
use protocol::sse::{SseDecoder, SseEvent};
use protocol::{NodeId, cursor};
use reqwest::Response;
use serde::Deserialize;

use super::super::absence::{Absence, Answers, Then};
use super::super::client::{Client, Failure};
use super::super::terminal::{note, shortened};
use super::execution::Execution;
use super::names::Names;

/// Larger events are not ours.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// Shows every step of a run until it has ended or waits for a person.
pub(super) async fn to_the_end(
    client: &Client,
    execution: &Execution,
    names: Names,
) -> Result<(), Failure> {
    let path = ["graphs", &execution.graph_id, "executions", &execution.id, "stream"];
    let mut progress = Progress { names, last_event: None, asks_after: None };
    let mut absence = Absence::none();
    loop {
        let mut request = client.get(&path);
        if let Some(last) = &progress.last_event {
            request = request.header("last-event-id", last);
        }
        match client.send(request).await {
            Ok(response) => {
                if absence.answers() == Answers::Again {
                    note("(connected again)");
                }
                match progress.read(response).await {
                    Read::Done => return Ok(()),
                    Read::Cut => {}
                }
            }
            Err(Failure::Unreachable) => {}
            Err(refused) => return Err(refused),
        }
        let pause = match absence.goes_on() {
            Then::GiveUp => return Err(Failure::Unreachable),
            Then::Tell(pause) => {
                note("(the connection is lost, trying again)");
                pause
            }
            Then::Wait(pause) => pause,
        };
        tokio::time::sleep(pause).await;
    }
}

struct Progress {
    names: Names,
    last_event: Option<String>,
    /// With which event the run has come to where only a person can go on.
    asks_after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Done,
    /// The connection broke: come back to the same place.
    Cut,
}

#[derive(Deserialize)]
struct NodeUpdate {
    node_id: NodeId,
    status: Option<ExecutionStatus>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct GraphUpdate {
    status: ExecutionStatus,
    event_count: u64,
}

impl Progress {
    async fn read(&mut self, response: Response) -> Read {
        let mut decoder = SseDecoder::new(EVENT_BYTES);
        let mut body = response.bytes_stream();
        while let Some(Ok(piece)) = body.next().await {
            decoder.push(&piece);
            loop {
                match decoder.next_event() {
                    Ok(None) => break,
                    Ok(Some(event)) if event.data == "[DONE]" => return Read::Done,
                    Ok(Some(event)) => {
                        if let Some(line) = self.line(&event) {
                            note(&line);
                        }
                        if self.needs_a_person(event) {
                            return Read::Done;
                        }
                    }
                    Err(_) => return Read::Cut,
                }
            }
        }
        Read::Cut
    }

    /// Whether this event is the last before somebody decides. The row may come before the events that led to it.
    fn needs_a_person(&mut self, event: SseEvent) -> bool {
        if event.name.as_deref() == Some("graph_execution_event")
            && let Ok(update) = serde_json::from_str::<GraphUpdate>(&event.data)
        {
            let asks = update.status == ExecutionStatus::Review;
            self.asks_after = asks.then_some(update.event_count);
        }
        self.last_event = event.id.or(self.last_event.take());
        let seen = self.last_event.as_deref().and_then(cursor::parse).unwrap_or(0);
        self.asks_after.is_some_and(|after| seen >= after)
    }

    /// One line for every status of a node. What newer servers say besides is left out.
    fn line(&self, event: &SseEvent) -> Option<String> {
        if event.name.as_deref() != Some("node_execution_event") {
            return None;
        }
        let update: NodeUpdate = serde_json::from_str(&event.data).ok()?;
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
        let progress = Progress { names: Names::default(), last_event: None, asks_after: None };
        let line = |data| progress.line(&event("node_execution_event", &data));
        let begun = json!({"node_exec_id": "e:0", "node_id": "adder", "status": "RUNNING"});
        assert_eq!(line(begun).as_deref(), Some("RUNNING    adder"));
        assert_eq!(line(json!({"node_id": "adder", "output_data": {"n": [1]}})), None);
        let failed = json!({"node_id": "adder", "status": "FAILED", "error": "no\nnumber"});
        assert_eq!(line(failed).as_deref(), Some("FAILED     adder: no number"));
    }

    #[test]
    fn a_run_that_asks_is_followed_to_its_question() {
        let mut progress = Progress { names: Names::default(), last_event: None, asks_after: None };
        let row = |status: &str| {
            event("graph_execution_event", &json!({"status": status, "event_count": 2}))
        };
        let numbered = |id: &str| SseEvent {
            id: Some(id.to_owned()),
            ..event("node_execution_event", &json!({"node_id": "n"}))
        };
        assert!(!progress.needs_a_person(row("REVIEW")), "its events are still to come");
        assert!(!progress.needs_a_person(numbered("1")));
        assert!(progress.needs_a_person(numbered("2")));
        assert!(!progress.needs_a_person(row("RUNNING")), "somebody has decided");
        assert!(progress.needs_a_person(row("REVIEW")));
    }
}
