//! What a tool declares about itself. The model's tool list, the permission list and the client's labels are derived from
//! this.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The effect of running a call twice, which determines what happens to it after a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolEffect {
    /// Reads only: run again.
    None,
    /// Safe to repeat under the same key: run again with it.
    Idempotent,
    /// Must not be repeated: a call without a result becomes `interrupted`.
    #[default]
    Once,
}

#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub name: &'static str,
    pub description: &'static str,
    /// JSON schema of the arguments, an object.
    pub parameters: Value,
    pub requires_auth: bool,
    pub budget: TimeBudget,
    pub effect: ToolEffect,
    /// Whether a call is an operation: it does not block its step, and another service may report its result.
    pub long_running: bool,
}

/// How long a call may block its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBudget {
    /// The server's limit.
    Default,
    /// At most this long, within the server's limit; afterward it continues in the background.
    AtMost(Duration),
    /// It limits its waits itself and never continues in the background.
    Own,
}
