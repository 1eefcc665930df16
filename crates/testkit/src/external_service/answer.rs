//! What the service says to a call, and when.

use http::StatusCode;
use serde_json::Value;

use crate::model_server::Gate;

#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Body,
    /// The answer begins when all of these are open.
    pub(super) gates: Vec<Gate>,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Json(Value),
    Text(String),
    Empty,
}

impl Answer {
    /// A result.
    pub fn json(body: Value) -> Self {
        Self::new(StatusCode::OK, Body::Json(body))
    }

    /// A result in words.
    pub fn text(body: &str) -> Self {
        Self::new(StatusCode::OK, Body::Text(body.to_owned()))
    }

    /// The work is taken on; its result comes later.
    pub fn accepted() -> Self {
        Self::new(StatusCode::ACCEPTED, Body::Empty)
    }

    /// Any other status, with words.
    pub fn status(status: u16, words: &str) -> Self {
        let status = StatusCode::from_u16(status).expect("a status of HTTP");
        Self::new(status, Body::Text(words.to_owned()))
    }

    /// Comes when the test opens the gate.
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.gates.push(gate.clone());
        self
    }

    /// Never comes: the call is held until the caller hangs up.
    pub fn never() -> Self {
        Self::new(StatusCode::OK, Body::Empty).held_by(&Gate::closed())
    }

    fn new(status: StatusCode, body: Body) -> Self {
        Self { status, body, gates: Vec::new() }
    }
}
