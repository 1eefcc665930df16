//! Reads the stream of an execution: node events, which are numbered, and rows of the execution, which are not.

use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::sse::{SseDecoder, SseEvent};
use reqwest::Response;
use serde_json::Value;

use crate::events::Ending;
use crate::server::TEST_TIMEOUT;

pub(crate) struct ExecutionStream {
    body: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    decoder: SseDecoder,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExecutionEvent {
    /// An event of a node.
    Node { number: u64, data: Value },
    /// The changed row of the execution.
    Execution(Value),
}

impl ExecutionStream {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200, "a stream was expected");
        Self { body: response.bytes_stream().boxed(), decoder: SseDecoder::new(64 << 20) }
    }

    /// The next event, or how the stream ended.
    pub(crate) async fn next(&mut self) -> Result<ExecutionEvent, Ending> {
        let next = tokio::time::timeout(TEST_TIMEOUT, self.event()).await;
        next.expect("the stream sends something in time")
    }

    /// Reads until an event of this node and returns the number of that event.
    pub(crate) async fn until_node(&mut self, node: &str) -> u64 {
        loop {
            match self.next().await.expect("the stream continues") {
                ExecutionEvent::Node { number, data } if data["node_id"] == node => return number,
                _ => {}
            }
        }
    }

    /// Everything up to the end.
    pub(crate) async fn rest(&mut self) -> (Vec<ExecutionEvent>, Ending) {
        let mut all = Vec::new();
        loop {
            match self.next().await {
                Ok(event) => all.push(event),
                Err(ending) => return (all, ending),
            }
        }
    }

    /// All events of a stream that must be complete.
    pub(crate) async fn all(mut self) -> Vec<ExecutionEvent> {
        let (all, ending) = self.rest().await;
        assert_eq!(ending, Ending::Complete);
        all
    }

    async fn event(&mut self) -> Result<ExecutionEvent, Ending> {
        loop {
            match self.decoder.next_event().expect("an event stream") {
                Some(event) if event.data == "[DONE]" => {
                    return Err(match self.body.next().await {
                        None => Ending::Complete,
                        Some(more) => panic!("something follows [DONE]: {more:?}"),
                    });
                }
                Some(event) => return Ok(ExecutionEvent::read(event)),
                None => match self.body.next().await {
                    Some(Ok(piece)) => self.decoder.push(&piece),
                    Some(Err(_)) => return Err(Ending::Broken),
                    None => return Err(Ending::ClosedEarly),
                },
            }
        }
    }
}

impl ExecutionEvent {
    fn read(event: SseEvent) -> Self {
        let data = serde_json::from_str(&event.data).expect("JSON");
        match (event.name.as_deref(), event.id) {
            (Some("node_execution_event"), Some(id)) => {
                Self::Node { number: id.parse().expect("a plain number"), data }
            }
            (Some("graph_execution_event"), None) => Self::Execution(data),
            (name, id) => panic!("an event {name:?} with the id {id:?}"),
        }
    }
}

/// Only the numbered events: they are the same for every reader, while execution rows depend on when a reader connects.
pub(crate) fn numbered(events: &[ExecutionEvent]) -> Vec<(u64, Value)> {
    let numbered = |event: &ExecutionEvent| match event {
        ExecutionEvent::Node { number, data } => Some((*number, data.clone())),
        ExecutionEvent::Execution(_) => None,
    };
    events.iter().filter_map(numbered).collect()
}
