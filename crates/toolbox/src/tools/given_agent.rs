//! Agents as arguments of the tools that build them, and the gate in front of these tools.

use std::borrow::Cow;

use ports::call_services::GivenAgent;
use ports::tool::{ToolContext, ToolError};
use protocol::GraphId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use super::agent_files::{AgentFiles, named_file};
use super::arguments::non_empty;
use super::get_agent_building_guide;

/// How large an agent may be as an argument, in bytes.
pub(crate) const MAX_BYTES: usize = 1_000_000;

/// An agent as an argument: a text, or an object.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct AgentArgument(pub(crate) Value);

impl JsonSchema for AgentArgument {
    fn schema_name() -> Cow<'static, str> {
        "AgentArgument".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}

/// Refuses until the guide was read in this session: models that skip it write agents that do not run. An operation was
/// checked when it was started; it does not see the messages of its session.
pub(crate) fn check_guide_was_read(context: &ToolContext, tool: &str) -> Result<(), ToolError> {
    let was_read = context.operation.is_some()
        || context.services.building.was_called(get_agent_building_guide::NAME);
    match was_read {
        true => Ok(()),
        false => Err(ToolError::tell(
            "guide_not_read",
            format!("Call {} first, then call {tool} again.", get_agent_building_guide::NAME),
        )),
    }
}

/// The forms in which an agent can be given as a document. At most one is used.
#[derive(Default)]
pub(crate) struct AgentDocuments {
    pub(crate) spec: Option<AgentArgument>,
    pub(crate) agent_json: Option<AgentArgument>,
    /// A workspace file.
    pub(crate) agent_json_ref: Option<String>,
    /// A stored agent.
    pub(crate) agent_id: Option<String>,
}

impl AgentDocuments {
    pub(crate) fn are_given(&self) -> bool {
        let Self { spec, agent_json, agent_json_ref, agent_id } = self;
        present(spec.as_ref()).is_some()
            || present(agent_json.as_ref()).is_some()
            || non_empty(agent_json_ref.as_ref()).is_some()
            || agent_id.is_some()
    }

    /// The agent, read from its file if the arguments name one.
    pub(crate) async fn read(
        &self,
        context: &ToolContext,
        files: &AgentFiles,
    ) -> Result<GivenAgent, ToolError> {
        let (spec, json) = (present(self.spec.as_ref()), present(self.agent_json.as_ref()));
        let file = non_empty(self.agent_json_ref.as_ref());
        let agent = match (json, spec, file, &self.agent_id) {
            (Some(given), None, None, None) | (None, Some(given), None, None)
                if named_file(given).is_some() =>
            {
                files.read(context, named_file(given).unwrap_or_default()).await?
            }
            (None, None, Some(file), None) => {
                let file = file.strip_prefix("@@agptfile:").unwrap_or(file);
                files.read(context, file).await?
            }
            (Some(json), None, None, None) => GivenAgent::Graph(parsed(json)?),
            (None, Some(spec), None, None) => GivenAgent::Spec(spec.clone()),
            (None, None, None, Some(id)) => {
                GivenAgent::Stored { id: GraphId(id.clone()), version: None }
            }
            (None, None, None, None) => {
                let message = "Give the agent as spec or as agent_json.";
                return Err(ToolError::tell("empty_agent", message));
            }
            _ => {
                let message = "Give the agent in one form only: spec, agent_json, agent_json_ref or agent_id.";
                return Err(ToolError::tell("invalid_arguments", message));
            }
        };
        check_size(&agent)?;
        Ok(agent)
    }
}

/// Null, an empty text and an empty object are no agent.
fn present(agent: Option<&AgentArgument>) -> Option<&Value> {
    agent.map(|AgentArgument(agent)| agent).filter(|agent| match agent {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

/// Models often write JSON as a text.
fn parsed(json: &Value) -> Result<Value, ToolError> {
    match json {
        Value::String(text) => serde_json::from_str(text).map_err(|error| {
            ToolError::tell("invalid_arguments", format!("agent_json is not JSON: {error}."))
        }),
        other => Ok(other.clone()),
    }
}

pub(crate) fn check_size(agent: &GivenAgent) -> Result<(), ToolError> {
    let bytes = match agent {
        GivenAgent::Graph(value) | GivenAgent::Spec(value) => value.to_string().len(),
        GivenAgent::Edits { .. } | GivenAgent::Stored { .. } => 0,
    };
    match bytes > MAX_BYTES {
        true => Err(too_large(bytes)),
        false => Ok(()),
    }
}

pub(crate) fn too_large(bytes: usize) -> ToolError {
    ToolError::tell(
        "agent_json_too_large",
        format!("The agent has {bytes} bytes or more; at most {MAX_BYTES} are allowed."),
    )
}
