//! The tools a turn may call, each with its compiled schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::Validator;
use ports::Tool;
use ports::model::ToolDefinition;
use protocol::limits::TOOL_INPUT_BYTES;
use protocol::message::ToolCall;
use protocol::permissions::Permissions;
use protocol::response::ToolResponse;
use protocol::tool::{ReportedResult, ToolEffect};
use serde_json::{Map, Value};

pub(crate) struct ToolList {
    tools: BTreeMap<&'static str, ListedTool>,
    definitions: Arc<[ToolDefinition]>,
}

struct ListedTool {
    tool: Arc<dyn Tool>,
    schema: Validator,
}

impl ToolList {
    /// Panics if a tool's schema is invalid: a bug that tests find.
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let entry = |tool: Arc<dyn Tool>| {
            let spec = tool.spec();
            let schema = jsonschema::validator_for(&spec.parameters)
                .unwrap_or_else(|error| panic!("the schema of {} is invalid: {error}", spec.name));
            (spec.name, ListedTool { tool, schema })
        };
        let tools: BTreeMap<_, _> = tools.into_iter().map(entry).collect();
        let definitions = tools.values().map(|entry| definition(&*entry.tool)).collect();
        Self { tools, definitions }
    }

    /// The tools that the permissions allow.
    pub(crate) fn definitions(&self, permissions: &Permissions) -> Arc<[ToolDefinition]> {
        if permissions.is_unlimited() {
            return self.definitions.clone();
        }
        let allowed = self.definitions.iter().filter(|tool| permissions.allow_tool(&tool.name));
        allowed.cloned().collect()
    }

    pub(crate) fn effect(&self, name: &str) -> ToolEffect {
        self.tools.get(name).map_or(ToolEffect::None, |entry| entry.tool.spec().effect)
    }

    pub(crate) fn reported_result(&self, name: &str) -> ReportedResult {
        let entry = self.tools.get(name);
        entry.map_or(ReportedResult::Kept, |entry| entry.tool.spec().reported_result)
    }

    /// The tool and its parsed arguments, or an error for the model.
    pub(crate) fn check(&self, call: &ToolCall) -> Result<(Arc<dyn Tool>, Value), ToolResponse> {
        let Some(entry) = self.tools.get(call.name.as_str()) else {
            let names: Vec<&str> = self.tools.keys().copied().collect();
            return Err(ToolResponse::error(
                "unknown_tool",
                format!(
                    "There is no tool named {:?}. The tools are: {}.",
                    call.name,
                    names.join(", ")
                ),
            ));
        };
        let arguments =
            arguments(call).map_err(|message| ToolResponse::error("invalid_arguments", message))?;
        let faults: Vec<String> = entry
            .schema
            .iter_errors(&arguments)
            .take(5)
            .map(|fault| {
                let place = fault.instance_path().to_string();
                let place = if place.is_empty() { "the arguments".to_owned() } else { place };
                protocol::text::cut_end(&format!("{place}: {fault}"), 300)
            })
            .collect();
        if faults.is_empty() {
            Ok((entry.tool.clone(), arguments))
        } else {
            Err(ToolResponse::error(
                "invalid_arguments",
                format!(
                    "The arguments of {} do not match its schema. {}",
                    call.name,
                    faults.join("; ")
                ),
            ))
        }
    }
}

fn definition(tool: &dyn Tool) -> ToolDefinition {
    let spec = tool.spec();
    ToolDefinition {
        name: spec.name.to_owned(),
        description: spec.description.to_owned(),
        parameters: spec.parameters.clone(),
    }
}

/// The arguments as an object. Models send empty text for no arguments.
pub(crate) fn arguments(call: &ToolCall) -> Result<Value, String> {
    let text = call.arguments.trim();
    if text.len() > TOOL_INPUT_BYTES {
        return Err(format!("The arguments are larger than {TOOL_INPUT_BYTES} bytes."));
    }
    if text.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Value::Object(map)),
        Ok(_) => Err("The arguments must be a JSON object.".to_owned()),
        Err(error) => Err(format!("The arguments are not valid JSON: {error}.")),
    }
}
