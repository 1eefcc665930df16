//! What a tool declares about itself. The model's tool list, the permission list, the labels on the page and the table of
//! tools in the guide are derived from this.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::text_enum::text_enum;
use crate::tool_labels::ToolLabels;

text_enum! {
    /// The effect of running a call twice, which determines what happens to it after a crash.
    #[derive(Default, utoipa::ToSchema)]
    pub enum ToolEffect {
        /// Reads only: run again.
        None = "none",
        /// Safe to repeat under the same key: run again with it.
        Idempotent = "idempotent",
        /// Must not be repeated: a call without a result becomes `interrupted`.
        #[default]
        Once = "once",
    }
}

#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub name: &'static str,
    /// Tells the model what the tool does and when to use it.
    pub description: &'static str,
    /// Tells people what the tool does, as the rest of a sentence about it: "reads a page of the public web".
    pub summary: &'static str,
    /// JSON schema of the arguments, an object.
    pub parameters: Value,
    pub requires_auth: bool,
    pub budget: TimeBudget,
    pub effect: ToolEffect,
    pub long_running: LongRunning,
    pub reported_result: ReportedResult,
    pub labels: ToolLabels,
}

impl ToolSpec {
    /// A tool that takes any arguments, needs no sign-in, has the server's time limit, and must not be repeated. The
    /// methods below change that.
    pub fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            summary: description,
            parameters: json!({ "type": "object" }),
            requires_auth: false,
            budget: TimeBudget::Default,
            effect: ToolEffect::default(),
            long_running: LongRunning::Never,
            reported_result: ReportedResult::Kept,
            labels: ToolLabels::generic(name),
        }
    }

    pub fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    pub fn requires_sign_in(self) -> Self {
        Self { requires_auth: true, ..self }
    }

    pub fn budget(self, budget: TimeBudget) -> Self {
        Self { budget, ..self }
    }

    pub fn effect(self, effect: ToolEffect) -> Self {
        Self { effect, ..self }
    }

    pub fn long_running(self, when: LongRunning) -> Self {
        Self { long_running: when, ..self }
    }

    pub fn reported_result(self, reported_result: ReportedResult) -> Self {
        Self { reported_result, ..self }
    }

    /// Whether a call with these arguments is an operation.
    pub fn is_long_running(&self, arguments: &Value) -> bool {
        match self.long_running {
            LongRunning::Never => false,
            LongRunning::Always => true,
            LongRunning::With(argument) => {
                arguments.get(argument).is_some_and(|given| !given.is_null())
            }
        }
    }

    pub fn labels(self, labels: ToolLabels) -> Self {
        Self { labels, ..self }
    }

    pub fn describe(&self) -> ToolDescription {
        ToolDescription {
            name: self.name,
            description: self.description,
            summary: self.summary,
            requires_sign_in: self.requires_auth,
            labels: self.labels.clone(),
        }
    }
}

/// Which calls of a tool are operations: they do not block their step, and another service may report their result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongRunning {
    Never,
    Always,
    /// Calls that give this argument.
    With(&'static str),
}

/// What becomes of a result that another service reports for an operation of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedResult {
    /// It is the result of the call.
    Kept,
    /// Its `agent_json` is checked and saved as a new agent.
    NewAgent,
    /// Its `agent_json` is checked and saved as a new version of the agent that this argument names.
    NewVersion(&'static str),
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

/// A tool as clients show it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ToolDescription {
    pub name: &'static str,
    /// What the model is told.
    pub description: &'static str,
    /// What the tool does, for people; the description if the tool has no text of its own for them.
    pub summary: &'static str,
    /// Anonymous users get `need_login` instead of a result.
    pub requires_sign_in: bool,
    pub labels: ToolLabels,
}
