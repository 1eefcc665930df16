//! The response of the model server to one request: how it starts, then its steps. A script is independent of the wire
//! format; the same one works for chat completions and messages.

use std::time::Duration;

use bytes::Bytes;
use ports::model::StopReason;
use serde_json::Value;

use super::gate::Gate;

#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) opening: ResponseStart,
    pub(crate) steps: Vec<ScriptStep>,
}

#[derive(Clone, Debug)]
pub(crate) enum ResponseStart {
    /// Status 200 and an event stream.
    Stream,
    Error(ScriptedError),
    /// The request is read and never gets a response.
    Hang,
}

/// A response with an error status.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedError {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: ScriptedErrorBody,
}

#[derive(Clone, Debug)]
pub(crate) enum ScriptedErrorBody {
    /// Written in the error format of the dialect.
    Error {
        kind: String,
        message: String,
    },
    Raw(Bytes),
}

#[derive(Clone, Debug)]
pub(crate) enum ScriptStep {
    Text { text: String, pieces: usize },
    Reasoning { text: String, pieces: usize },
    Calls { calls: Vec<ScriptedCall>, pieces: usize },
    Usage(ScriptedUsage),
    Finish(StopReason),
    Error { kind: String, message: String },
    Wait(Gate),
    Delay(Duration),
    Hang,
    Cut(ConnectionCut),
    Raw(Bytes),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedCall {
    pub id: String,
    pub name: String,
    /// JSON text, valid or not.
    pub arguments: String,
}

impl ScriptedCall {
    pub fn new(id: &str, name: &str, arguments: &Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.to_string() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptedUsage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Part of the prompt tokens.
    pub cache_read_tokens: u64,
}

impl Default for ScriptedUsage {
    fn default() -> Self {
        Self { prompt_tokens: 10, completion_tokens: 5, cache_read_tokens: 0 }
    }
}

/// How a connection ends in the middle of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionCut {
    /// Closed without the end of the body.
    Close,
    /// Closed with a TCP reset.
    Reset,
    /// The body ends normally, but before the response is complete.
    EndOfBody,
}

impl Default for Script {
    fn default() -> Self {
        Self { opening: ResponseStart::Stream, steps: Vec::new() }
    }
}

/// Whole responses.
impl Script {
    /// Streams `text` and stops.
    pub fn text(text: &str) -> Self {
        Self::default().say(text)
    }

    /// Calls one tool.
    pub fn tool(id: &str, name: &str, arguments: &Value) -> Self {
        Self::default().call(&[ScriptedCall::new(id, name, arguments)])
    }

    /// Finishes without text and without a tool call.
    pub fn empty() -> Self {
        Self::default()
    }

    /// An error in the dialect's own format.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = ScriptedErrorBody::Error { kind: kind.into(), message: message.into() };
        Self::opened(ResponseStart::Error(ScriptedError { status, headers: Vec::new(), body }))
    }

    /// Any status with any body.
    pub fn status(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::opened(ResponseStart::Error(ScriptedError {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            body: ScriptedErrorBody::Raw(body.into()),
        }))
    }

    pub fn rate_limited(retry_after: &str) -> Self {
        Self::error(429, "rate_limit_error", "Too many requests.")
            .header("retry-after", retry_after)
    }

    pub fn server_error() -> Self {
        Self::error(500, "server_error", "The server had an error.")
    }

    pub fn overloaded() -> Self {
        Self::error(529, "overloaded_error", "Overloaded.")
    }

    pub fn unauthorized() -> Self {
        Self::error(401, "authentication_error", "Invalid API key.")
    }

    pub fn context_too_long() -> Self {
        Self::error(400, "context_length_exceeded", "The prompt is too long: 300000 tokens.")
    }

    pub fn hang_before_headers() -> Self {
        Self::opened(ResponseStart::Hang)
    }

    fn opened(opening: ResponseStart) -> Self {
        Self { opening, steps: Vec::new() }
    }

    /// Adds a header to an error response.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let ResponseStart::Error(refusal) = &mut self.opening {
            refusal.headers.push((name.into(), value.into()));
        }
        self
    }
}

/// Steps. A script without an explicit end finishes with the stop reason that fits its content.
impl Script {
    /// Streams `text` in two deltas.
    pub fn say(self, text: &str) -> Self {
        self.say_in(text, 2)
    }

    pub fn say_in(self, text: &str, pieces: usize) -> Self {
        self.step(ScriptStep::Text { text: text.into(), pieces })
    }

    pub fn think(self, text: &str) -> Self {
        self.step(ScriptStep::Reasoning { text: text.into(), pieces: 2 })
    }

    /// Makes one or more tool calls; the arguments of each come in three pieces.
    pub fn call(self, calls: &[ScriptedCall]) -> Self {
        self.call_in(calls, 3)
    }

    pub fn call_in(self, calls: &[ScriptedCall], pieces: usize) -> Self {
        self.step(ScriptStep::Calls { calls: calls.to_vec(), pieces })
    }

    pub fn usage(self, usage: ScriptedUsage) -> Self {
        self.step(ScriptStep::Usage(usage))
    }

    pub fn finish(self, reason: StopReason) -> Self {
        self.step(ScriptStep::Finish(reason))
    }

    /// An error in the middle of the stream.
    pub fn then_error(self, kind: &str, message: &str) -> Self {
        self.step(ScriptStep::Error { kind: kind.into(), message: message.into() })
    }

    /// Pauses until the test opens the gate.
    pub fn wait_for(self, gate: &Gate) -> Self {
        self.step(ScriptStep::Wait(gate.clone()))
    }

    pub fn delay(self, time: Duration) -> Self {
        self.step(ScriptStep::Delay(time))
    }

    /// Sends nothing more and keeps the connection open.
    pub fn hang(self) -> Self {
        self.step(ScriptStep::Hang)
    }

    pub fn cut(self, how: ConnectionCut) -> Self {
        self.step(ScriptStep::Cut(how))
    }

    /// Sends bytes as they are.
    pub fn raw(self, bytes: impl Into<Bytes>) -> Self {
        self.step(ScriptStep::Raw(bytes.into()))
    }

    /// Sends an event with truncated JSON.
    pub fn truncated_json(self) -> Self {
        self.raw("data: {\"choices\":[{\"delta\":{\"cont\n\n")
    }

    /// Sends one delta of that many bytes.
    pub fn huge_delta(self, bytes: usize) -> Self {
        self.say_in(&"x".repeat(bytes), 1)
    }

    fn step(mut self, step: ScriptStep) -> Self {
        self.steps.push(step);
        self
    }
}
