//! What the scripted model says to one request: how the answer opens, then step by step. A script
//! knows no wire format; the same one plays as chat completions and as messages.

use std::time::Duration;

use bytes::Bytes;
use ports::model::StopReason;
use serde_json::Value;

use super::gate::Gate;

#[derive(Clone, Debug)]
pub struct Script {
    pub(super) opening: Opening,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) enum Opening {
    /// Status 200 and an event stream.
    Stream,
    Refusal(Refusal),
    /// The request is read and nothing is ever answered.
    Hang,
}

/// An answer that is an error from its first line on.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: RefusalBody,
}

#[derive(Clone, Debug)]
pub(super) enum RefusalBody {
    /// Written in the error shape of the dialect.
    Error {
        kind: String,
        message: String,
    },
    Raw(Bytes),
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Text { text: String, pieces: usize },
    Reasoning { text: String, pieces: usize },
    Calls { calls: Vec<ScriptedCall>, pieces: usize },
    Usage(ScriptedUsage),
    Finish(StopReason),
    Error { kind: String, message: String },
    Wait(Gate),
    Delay(Duration),
    Hang,
    Cut(Cut),
    Raw(Bytes),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedCall {
    pub id: String,
    pub name: String,
    /// As the model writes it, valid or not.
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

/// How a connection ends in the middle of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Closed without the end of the body.
    Close,
    /// Torn down with a TCP reset.
    Reset,
    /// The body ends in good order, but before the answer is whole.
    EndOfBody,
}

impl Default for Script {
    fn default() -> Self {
        Self { opening: Opening::Stream, steps: Vec::new() }
    }
}

/// Whole answers.
impl Script {
    /// Says `text` and stops.
    pub fn text(text: &str) -> Self {
        Self::default().say(text)
    }

    /// Calls one tool.
    pub fn tool(id: &str, name: &str, arguments: &Value) -> Self {
        Self::default().call(&[ScriptedCall::new(id, name, arguments)])
    }

    /// Finishes without a word and without a call.
    pub fn empty() -> Self {
        Self::default()
    }

    /// An error in the dialect's own shape.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = RefusalBody::Error { kind: kind.into(), message: message.into() };
        Self::opened(Opening::Refusal(Refusal { status, headers: Vec::new(), body }))
    }

    /// Any status with any body.
    pub fn status(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::opened(Opening::Refusal(Refusal {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            body: RefusalBody::Raw(body.into()),
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
        Self::opened(Opening::Hang)
    }

    fn opened(opening: Opening) -> Self {
        Self { opening, steps: Vec::new() }
    }

    /// Adds a header to an error answer.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Opening::Refusal(refusal) = &mut self.opening {
            refusal.headers.push((name.into(), value.into()));
        }
        self
    }
}

/// Step by step. A script that neither finishes, hangs nor breaks off by itself finishes with the
/// reason that fits what it said.
impl Script {
    /// In two deltas.
    pub fn say(self, text: &str) -> Self {
        self.say_in(text, 2)
    }

    pub fn say_in(self, text: &str, pieces: usize) -> Self {
        self.step(Step::Text { text: text.into(), pieces })
    }

    pub fn think(self, text: &str) -> Self {
        self.step(Step::Reasoning { text: text.into(), pieces: 2 })
    }

    /// One call, or several at once; their arguments come in three pieces each.
    pub fn call(self, calls: &[ScriptedCall]) -> Self {
        self.call_in(calls, 3)
    }

    pub fn call_in(self, calls: &[ScriptedCall], pieces: usize) -> Self {
        self.step(Step::Calls { calls: calls.to_vec(), pieces })
    }

    pub fn usage(self, usage: ScriptedUsage) -> Self {
        self.step(Step::Usage(usage))
    }

    pub fn finish(self, reason: StopReason) -> Self {
        self.step(Step::Finish(reason))
    }

    /// An error in the middle of the stream.
    pub fn then_error(self, kind: &str, message: &str) -> Self {
        self.step(Step::Error { kind: kind.into(), message: message.into() })
    }

    /// Goes on when the test opens the gate.
    pub fn wait_for(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    pub fn delay(self, time: Duration) -> Self {
        self.step(Step::Delay(time))
    }

    /// Says nothing more, and keeps the connection open.
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    pub fn cut(self, how: Cut) -> Self {
        self.step(Step::Cut(how))
    }

    /// Bytes as they are.
    pub fn raw(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Raw(bytes.into()))
    }

    /// An event whose JSON breaks off.
    pub fn truncated_json(self) -> Self {
        self.raw("data: {\"choices\":[{\"delta\":{\"cont\n\n")
    }

    /// One delta of that many bytes.
    pub fn huge_delta(self, bytes: usize) -> Self {
        self.say_in(&"x".repeat(bytes), 1)
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
