//! What a tool declares about itself. The model's tool list, the permission list and the client's
//! labels are all derived from this.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What running a call twice would do, which decides what happens to it after a crash.
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
    /// Whether a call is an operation: it does not hold its step, and its result may come from outside.
    pub long_running: bool,
}

/// How long a call may hold its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBudget {
    /// As long as the server allows.
    Default,
    /// At most so long, and no longer than the server allows; then it goes on in the background.
    AtMost(Duration),
    /// Its waits are bounded by itself; it never goes to the background.
    Own,
}
