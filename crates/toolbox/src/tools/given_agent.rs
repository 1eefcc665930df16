//! Agents as arguments of the tools that build them, the gate in front of these tools, and what they answer.

use std::borrow::Cow;

use ports::call_services::{AgentBuilt, GivenAgent};
use ports::tool::{ToolContext, ToolError};
use protocol::GraphId;
use protocol::graph::GraphProblem;
use protocol::graph_edit::GraphEdit;
use protocol::response::{ResponseBody, ToolResponse};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::get_agent_building_guide;

/// How large an agent may be as an argument, in bytes.
const MAX_BYTES: usize = 1_000_000;
/// Problems that an answer lists. A model repairs a few at a time.
const MAX_PROBLEMS: usize = 50;

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

/// Refuses until the guide was read in this session: models that skip it write agents that do not run.
pub(crate) fn check_guide_was_read(context: &ToolContext, tool: &str) -> Result<(), ToolError> {
    match context.services.building.was_called(get_agent_building_guide::NAME) {
        true => Ok(()),
        false => Err(ToolError::tell(
            "guide_not_read",
            format!("Call {} first, then call {tool} again.", get_agent_building_guide::NAME),
        )),
    }
}

/// The agent in the arguments: exactly one of graph JSON, a spec and a stored agent.
pub(crate) fn given_agent(
    agent_json: Option<AgentArgument>,
    spec: Option<AgentArgument>,
    agent_id: Option<String>,
) -> Result<GivenAgent, ToolError> {
    let agent = match (present(agent_json), present(spec), agent_id) {
        (Some(json), None, None) => GivenAgent::Graph(parsed(json)?),
        (None, Some(spec), None) => GivenAgent::Spec(spec),
        (None, None, Some(id)) => GivenAgent::Stored { id: GraphId(id), version: None },
        (None, None, None) => {
            let message = "Give the agent as spec or as agent_json.";
            return Err(ToolError::tell("empty_agent", message));
        }
        _ => {
            let message = "Give the agent in one form only: spec, agent_json or agent_id.";
            return Err(ToolError::tell("invalid_arguments", message));
        }
    };
    check_size(&agent)?;
    Ok(agent)
}

/// Edits of an agent, or its new form.
pub(crate) fn changed_agent(
    id: &GraphId,
    edits: Option<(u32, Vec<GraphEdit>)>,
    agent_json: Option<AgentArgument>,
    spec: Option<AgentArgument>,
) -> Result<GivenAgent, ToolError> {
    match edits {
        Some((base_version, edits)) if present(spec.clone()).is_none() && agent_json.is_none() => {
            Ok(GivenAgent::Edits { id: id.clone(), base_version, edits })
        }
        Some(_) => Err(ToolError::tell(
            "invalid_arguments",
            "Give the change in one form only: edits, spec or agent_json.",
        )),
        None => given_agent(agent_json, spec, None),
    }
}

/// Null, an empty text and an empty object are no agent.
fn present(agent: Option<AgentArgument>) -> Option<Value> {
    agent.map(|AgentArgument(agent)| agent).filter(|agent| match agent {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

/// Models often write JSON as a text.
fn parsed(json: Value) -> Result<Value, ToolError> {
    match json {
        Value::String(text) => serde_json::from_str(&text).map_err(|error| {
            ToolError::tell("invalid_arguments", format!("agent_json is not JSON: {error}."))
        }),
        other => Ok(other),
    }
}

fn check_size(agent: &GivenAgent) -> Result<(), ToolError> {
    let bytes = match agent {
        GivenAgent::Graph(value) | GivenAgent::Spec(value) => value.to_string().len(),
        GivenAgent::Edits { .. } | GivenAgent::Stored { .. } => 0,
    };
    match bytes > MAX_BYTES {
        true => Err(ToolError::tell(
            "agent_json_too_large",
            format!("The agent has {bytes} bytes; at most {MAX_BYTES} are allowed."),
        )),
        false => Ok(()),
    }
}

/// The answer of the tools that build agents.
pub(crate) fn built_response(built: AgentBuilt) -> ToolResponse {
    match built {
        AgentBuilt::Preview(preview) => {
            let message = format!(
                "This is a preview of “{}” ({}). Nothing was saved.",
                preview.summary.agent_name,
                preview.summary.state.as_str()
            );
            ToolResponse::new(message, ResponseBody::AgentPreview(preview))
        }
        AgentBuilt::Saved(saved) => {
            let ready = match saved.summary.state.is_ready() {
                true => "It is ready to run.",
                false => "It is not ready: tell the user what its state means.",
            };
            let message = format!(
                "Saved “{}” as version {} ({}). {ready}",
                saved.summary.agent_name,
                saved.graph_version,
                saved.summary.state.as_str()
            );
            ToolResponse::new(message, ResponseBody::AgentSaved(saved))
        }
        AgentBuilt::Invalid(problems) => invalid(&problems),
        AgentBuilt::Stale { newest, diff } => {
            let message = format!(
                "The agent was changed meanwhile; its newest version is {newest}. Read it again and apply your change to \
                 that version."
            );
            let body = ResponseBody::Error {
                error: Some("stale_version".into()),
                details: Some(json!({ "newest_version": newest, "diff": diff })),
                execution_id: None,
            };
            ToolResponse::new(message, body)
        }
        AgentBuilt::NotFound => ToolResponse::error(
            "agent_not_found",
            "The agent was not found among the user's own agents. find_library_agent lists them.",
        ),
        AgentBuilt::LibraryFull => ToolResponse::error(
            "library_full",
            "The library is full. The user must remove an agent first.",
        ),
    }
}

/// The answer for an agent with errors: each with its place and, where there is one, the edit that repairs it.
pub(crate) fn invalid(problems: &[GraphProblem]) -> ToolResponse {
    let listed = &problems[..problems.len().min(MAX_PROBLEMS)];
    let message = match problems.len() {
        1 => "The agent has an error. Repair it and try again.".to_owned(),
        count => format!("The agent has {count} errors. Repair them and try again."),
    };
    let body = ResponseBody::Error {
        error: Some("validation_failed".into()),
        details: Some(json!({ "errors": listed, "error_count": problems.len() })),
        execution_id: None,
    };
    ToolResponse::new(message, body)
}
