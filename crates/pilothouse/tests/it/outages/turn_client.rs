//! A client that follows one turn and records its events. It reconnects when its connection breaks, and panics when a
//! body is closed without `[DONE]`, because a person would take that for the end.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::StreamExt;
use protocol::sse::SseDecoder;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::json;
use tokio::sync::watch;

use crate::events::ReceivedEvent;
use crate::server::{Api, TEST_TIMEOUT};

/// Pause between two attempts to reconnect.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The message, and the session it is sent to.
#[derive(Clone, Debug)]
pub(crate) struct SentMessage {
    pub(crate) session: String,
    pub(crate) message: String,
    pub(crate) text: String,
}

pub(crate) struct TurnClient {
    client: Client,
    base: String,
    question: SentMessage,
    seen: ReceivedTurn,
    progress: watch::Sender<ClientProgress>,
    /// Set as soon as the message was accepted; shared with the test.
    turn: Arc<OnceLock<String>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedTurn {
    pub(crate) turn: String,
    pub(crate) events: Vec<ReceivedEvent>,
    /// Status events about the connection, which have no id and are not in the stream log.
    pub(crate) notices: usize,
    pub(crate) heartbeats: usize,
    /// How often the connection broke.
    pub(crate) breaks: usize,
    /// How often the message was refused before it was accepted.
    pub(crate) refusals: usize,
    pub(crate) accepted_after: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientProgress {
    At(u64),
    Over,
}

/// The progress of a client, for the test that started it.
pub(crate) struct ClientHandle {
    pub(crate) progress: watch::Receiver<ClientProgress>,
    pub(crate) turn: Arc<OnceLock<String>>,
}

enum ReadOutcome {
    Done,
    Broken,
}

impl TurnClient {
    pub(crate) fn new(api: &Api, question: SentMessage) -> (Self, ClientHandle) {
        let (progress, watching) = watch::channel(ClientProgress::At(0));
        let (client, base) = (api.client.clone(), api.base().to_owned());
        let turn = Arc::new(OnceLock::new());
        let handle = ClientHandle { progress: watching, turn: turn.clone() };
        (Self { client, base, question, seen: ReceivedTurn::default(), progress, turn }, handle)
    }

    /// Sends the message until it is accepted, and follows its turn to the end.
    pub(crate) async fn run(mut self) -> ReceivedTurn {
        let began = Instant::now();
        let mut response = self.send_until_accepted().await;
        self.seen.accepted_after = began.elapsed();
        while let ReadOutcome::Broken = self.read(response).await {
            self.seen.breaks += 1;
            response = self.send_until_accepted().await;
        }
        self.progress.send_replace(ClientProgress::Over);
        self.seen
    }

    /// Sends the request until it is answered with a stream.
    async fn send_until_accepted(&mut self) -> Response {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            if let Ok(response) = self.request().send().await {
                match response.status().as_u16() {
                    200 => {
                        let turn = response.headers()["x-turn-id"].to_str().expect("text");
                        let known = std::mem::replace(&mut self.seen.turn, turn.to_owned());
                        assert!(known.is_empty() || known == self.seen.turn, "another turn");
                        self.turn.get_or_init(|| self.seen.turn.clone());
                        return response;
                    }
                    503 => self.seen.refusals += 1,
                    status => panic!("{status}: {}", response.text().await.unwrap_or_default()),
                }
            }
            assert!(Instant::now() < deadline, "no stream for {:?}", self.question);
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    /// Without events, the same message is sent again and joins its turn; otherwise the stream continues after the last
    /// event.
    fn request(&self) -> RequestBuilder {
        match self.seen.events.last() {
            None => post(&self.client, &self.base, &self.question),
            Some(last) => {
                let url = format!("{}/api/chat/tasks/{}/stream", self.base, self.seen.turn);
                self.client.get(url).header("last-event-id", last.id.to_string())
            }
        }
    }

    async fn read(&mut self, response: Response) -> ReadOutcome {
        let mut body = response.bytes_stream();
        let mut decoder = SseDecoder::new(1 << 20);
        loop {
            while let Some(event) = decoder.next_event().expect("an event stream") {
                if event.data == "[DONE]" {
                    return ReadOutcome::Done;
                }
                let chunk = serde_json::from_str(&event.data).expect("a chunk");
                match event.id {
                    None => self.seen.notices += 1,
                    Some(id) => {
                        let id = id.parse().expect("a plain number");
                        self.seen.events.push(ReceivedEvent { id, chunk });
                        self.progress.send_replace(ClientProgress::At(id));
                    }
                }
            }
            let piece = tokio::time::timeout(TEST_TIMEOUT, body.next()).await;
            match piece.expect("a stream is never silent for that long") {
                Some(Ok(piece)) => {
                    self.seen.heartbeats += usize::from(piece.starts_with(b": heartbeat"));
                    decoder.push(&piece);
                }
                Some(Err(_)) => return ReadOutcome::Broken,
                None => panic!("closed without [DONE] after {:?}", self.seen.events.last()),
            }
        }
    }
}

pub(crate) fn post(client: &Client, base: &str, question: &SentMessage) -> RequestBuilder {
    let body = json!({"message": question.text, "message_id": question.message});
    client.post(format!("{base}/api/chat/sessions/{}/stream", question.session)).json(&body)
}
