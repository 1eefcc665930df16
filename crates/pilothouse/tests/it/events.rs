//! Reads a stream response event by event, with a timeout on every read.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::sse::{SseDecoder, SseEvent};
use reqwest::{Response, header::HeaderMap};
use serde_json::Value;

use crate::server::TEST_TIMEOUT;

pub(crate) struct EventStream {
    pub(crate) headers: HeaderMap,
    body: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    decoder: SseDecoder,
    /// All bytes so far, SSE comments included.
    raw: Vec<u8>,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// `[DONE]`, then the body closed.
    Complete,
    /// The body closed without `[DONE]`, which a client takes for complete.
    ClosedEarly,
    /// The connection broke, which a client notices.
    Broken,
}

/// One chunk with its id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReceivedEvent {
    pub(crate) id: u64,
    pub(crate) chunk: Value,
}

impl EventStream {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200, "a stream was expected");
        Self {
            headers: response.headers().clone(),
            body: response.bytes_stream().boxed(),
            decoder: SseDecoder::new(64 << 20),
            raw: Vec::new(),
        }
    }

    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// The next chunk, or how the stream ended.
    pub(crate) async fn next(&mut self) -> Result<ReceivedEvent, Ending> {
        tokio::time::timeout(TEST_TIMEOUT, self.event())
            .await
            .expect("the stream sends something in time")
    }

    /// Reads until a chunk of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> ReceivedEvent {
        loop {
            let got = self.next().await.expect("the stream continues");
            if got.chunk["type"] == kind {
                return got;
            }
        }
    }

    /// Everything up to and including a chunk of this type.
    pub(crate) async fn until_seen(&mut self, kind: &str) -> Vec<ReceivedEvent> {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|got: &ReceivedEvent| got.chunk["type"] != kind) {
            seen.push(self.next().await.expect("the stream continues"));
        }
        seen
    }

    /// Reads until this text was received, in an event or an SSE comment.
    pub(crate) async fn until_raw(&mut self, part: &str, timeout: Duration) {
        let reading = async {
            while !self.raw().contains(part) {
                let piece =
                    self.body.next().await.expect("the stream continues").expect("unbroken");
                self.raw.extend_from_slice(&piece);
                self.decoder.push(&piece);
            }
        };
        tokio::time::timeout(timeout, reading).await.expect("in time");
    }

    /// Everything up to the end.
    pub(crate) async fn rest(&mut self) -> (Vec<ReceivedEvent>, Ending) {
        let mut all = Vec::new();
        loop {
            match self.next().await {
                Ok(got) => all.push(got),
                Err(ending) => return (all, ending),
            }
        }
    }

    /// All events of a stream that must be complete.
    pub(crate) async fn all(mut self) -> Vec<ReceivedEvent> {
        let (all, ending) = self.rest().await;
        assert_eq!(ending, Ending::Complete);
        all
    }

    async fn event(&mut self) -> Result<ReceivedEvent, Ending> {
        loop {
            match self.decoder.next_event().expect("an event stream") {
                Some(SseEvent { data, .. }) if data == "[DONE]" => {
                    return Err(match self.body.next().await {
                        None => Ending::Complete,
                        Some(more) => panic!("something follows [DONE]: {more:?}"),
                    });
                }
                Some(event) => {
                    let id = event.id.expect("every chunk has an id");
                    return Ok(ReceivedEvent {
                        id: id.parse().expect("a plain number"),
                        chunk: serde_json::from_str(&event.data).expect("a chunk"),
                    });
                }
                None => match self.body.next().await {
                    Some(Ok(piece)) => {
                        self.raw.extend_from_slice(&piece);
                        self.decoder.push(&piece);
                    }
                    Some(Err(_)) => return Err(Ending::Broken),
                    None => return Err(Ending::ClosedEarly),
                },
            }
        }
    }
}

/// The text that a client would show.
pub(crate) fn text_of(events: &[ReceivedEvent]) -> String {
    events.iter().filter_map(|got| got.chunk["delta"].as_str()).collect()
}

pub(crate) fn kinds(events: &[ReceivedEvent]) -> Vec<&str> {
    events.iter().filter_map(|got| got.chunk["type"].as_str()).collect()
}

/// The turn that a stream belongs to.
pub(crate) fn turn_of(events: &EventStream) -> String {
    events.headers["x-turn-id"].to_str().expect("text").to_owned()
}

/// The first chunk of a type.
pub(crate) fn first<'a>(events: &'a [ReceivedEvent], kind: &str) -> &'a Value {
    let found = events.iter().find(|got| got.chunk["type"] == kind);
    &found.unwrap_or_else(|| panic!("no {kind} in {events:?}")).chunk
}

/// The output of a call, by call id.
pub(crate) fn output<'a>(events: &'a [ReceivedEvent], call: &str) -> &'a Value {
    let found = events.iter().find(|got| {
        got.chunk["type"] == "tool-output-available" && got.chunk["toolCallId"] == call
    });
    &found.unwrap_or_else(|| panic!("no output of {call} in {events:?}")).chunk["output"]
}
