//! The response of the service to a call.

use http::StatusCode;
use serde_json::Value;

use crate::model_server::Gate;

#[derive(Clone, Debug)]
pub struct ServiceResponse {
    pub(crate) status: StatusCode,
    pub(crate) body: ServiceResponseBody,
    /// The response is sent when all of these are open.
    pub(crate) gates: Vec<Gate>,
}

#[derive(Clone, Debug)]
pub(crate) enum ServiceResponseBody {
    Json(Value),
    Text(String),
    Empty,
}

impl ServiceResponse {
    /// Status 200 with a JSON result.
    pub fn json(body: Value) -> Self {
        Self::new(StatusCode::OK, ServiceResponseBody::Json(body))
    }

    /// Status 200 with a text result.
    pub fn text(body: &str) -> Self {
        Self::new(StatusCode::OK, ServiceResponseBody::Text(body.to_owned()))
    }

    /// Status 202: the result follows later through the callback.
    pub fn accepted() -> Self {
        Self::new(StatusCode::ACCEPTED, ServiceResponseBody::Empty)
    }

    /// Any status, with a text body.
    pub fn status(status: u16, words: &str) -> Self {
        let status = StatusCode::from_u16(status).expect("a valid HTTP status");
        Self::new(status, ServiceResponseBody::Text(words.to_owned()))
    }

    /// Delays the response until the test opens the gate.
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.gates.push(gate.clone());
        self
    }

    /// Never responds: the call stays open until the caller disconnects.
    pub fn never() -> Self {
        Self::new(StatusCode::OK, ServiceResponseBody::Empty).held_by(&Gate::closed())
    }

    fn new(status: StatusCode, body: ServiceResponseBody) -> Self {
        Self { status, body, gates: Vec::new() }
    }
}
