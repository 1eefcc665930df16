//! The nodes linked to an orchestrator as tools of a model: one tool per node, with its linked inputs as parameters.

use std::collections::HashSet;
use std::sync::Arc;

use ports::block::ToolPin;
use ports::model::ToolDefinition;
use protocol::message::ToolCall;
use serde_json::{Map, Value, json};

/// Limit of providers on the name of a tool or parameter.
const NAME_CHARS: usize = 64;

pub(crate) struct NodeTools {
    tools: Vec<NodeTool>,
    pub(crate) definitions: Arc<[ToolDefinition]>,
}

struct NodeTool {
    name: String,
    parameters: Vec<NodeToolParameter>,
}

struct NodeToolParameter {
    name: String,
    pin: String,
    required: bool,
}

impl NodeTools {
    pub(crate) fn new(pins: &[ToolPin]) -> Self {
        let mut nodes: Vec<Vec<&ToolPin>> = Vec::new();
        for pin in pins {
            match nodes.iter_mut().find(|node| node[0].node_id == pin.node_id) {
                Some(node) => node.push(pin),
                None => nodes.push(vec![pin]),
            }
        }
        let mut taken = HashSet::new();
        let (tools, definitions): (Vec<NodeTool>, Vec<ToolDefinition>) =
            nodes.iter().map(|pins| tool(unique_name(&pins[0].name, &mut taken), pins)).unzip();
        Self { tools, definitions: definitions.into() }
    }

    /// The values to emit for a call, by pin. `Err` is the message for the model if its call is invalid.
    ///
    /// An omitted optional parameter is emitted as null, because the linked node waits for every linked input.
    pub(crate) fn outputs(&self, call: &ToolCall) -> Result<Vec<(&str, Value)>, String> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name).ok_or_else(|| {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
            format!("Unknown tool {}. Available tools: {}.", call.name, names.join(", "))
        })?;
        let mut arguments = arguments(call)?;
        let known = |name: &String| tool.parameters.iter().any(|known| known.name == *name);
        if let Some(unknown) = arguments.keys().find(|name| !known(name)) {
            return Err(format!("{} has no parameter {unknown}.", tool.name));
        }
        let mut outputs = Vec::with_capacity(tool.parameters.len());
        for NodeToolParameter { name, pin, required } in &tool.parameters {
            let value = arguments.remove(name);
            if value.is_none() && *required {
                return Err(format!("{} requires the parameter {name}.", tool.name));
            }
            outputs.push((pin.as_str(), value.unwrap_or(Value::Null)));
        }
        Ok(outputs)
    }
}

fn arguments(call: &ToolCall) -> Result<Map<String, Value>, String> {
    if call.arguments.trim().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(&call.arguments)
        .map_err(|_| format!("The arguments of {} are not a JSON object.", call.name))
}

fn tool(name: String, pins: &[&ToolPin]) -> (NodeTool, ToolDefinition) {
    let (mut taken, mut properties) = (HashSet::new(), Map::new());
    let mut parameters = Vec::new();
    for pin in pins {
        let name = unique_name(&pin.field, &mut taken);
        properties.insert(name.clone(), parameter_schema(pin));
        parameters.push(NodeToolParameter { name, pin: pin.pin.clone(), required: pin.required });
    }
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name.as_str())
        .collect();
    let definition = ToolDefinition {
        name: name.clone(),
        description: pins[0].description.clone(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    };
    (NodeTool { name, parameters }, definition)
}

/// The parameter's JSON schema. Providers require an object; a pin without a schema accepts any value.
fn parameter_schema(pin: &ToolPin) -> Value {
    match &pin.schema {
        Value::Object(schema) => Value::Object(schema.clone()),
        _ => json!({ "description": format!("The value for {}.", pin.field) }),
    }
}

/// The name in characters that providers allow, with a number appended if it is already taken.
fn unique_name(base: &str, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let base: String = base.chars().map(plain).take(NAME_CHARS).collect();
    let base = if base.is_empty() { "tool".to_owned() } else { base.to_ascii_lowercase() };
    let mut name = base.clone();
    let mut number = 1_usize;
    while !taken.insert(name.clone()) {
        number += 1;
        let suffix = format!("_{number}");
        // All characters are ASCII here, so slicing is safe.
        let room = base.len().min(NAME_CHARS - suffix.len());
        name = format!("{}{suffix}", &base[..room]);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(node: &str, name: &str, field: &str, required: bool) -> ToolPin {
        ToolPin {
            pin: format!("tools_^_{node}_~_{field}"),
            node_id: node.into(),
            name: name.to_owned(),
            description: "Does it.".to_owned(),
            field: field.to_owned(),
            schema: json!({ "type": "string" }),
            required,
        }
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "c".into(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn every_node_is_one_tool_with_its_linked_inputs() {
        let tools = NodeTools::new(&[
            pin("a", "Find mail", "query", true),
            pin("b", "Find mail", "values_#_x", false),
            pin("a", "Find mail", "limit", false),
        ]);
        let names: Vec<&str> = tools.definitions.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["find_mail", "find_mail_2"]);
        assert_eq!(
            tools.definitions[0].parameters,
            json!({
                "type": "object",
                "properties": { "query": { "type": "string" }, "limit": { "type": "string" } },
                "required": ["query"], "additionalProperties": false,
            })
        );
        let sent = tools.outputs(&call("find_mail_2", r#"{"values___x": "y"}"#));
        assert_eq!(sent, Ok(vec![("tools_^_b_~_values_#_x", json!("y"))]));
        let sent = tools.outputs(&call("find_mail", r#"{"query": "rain"}"#)).expect("a call");
        assert_eq!(sent[1], ("tools_^_a_~_limit", Value::Null));
    }

    #[test]
    fn an_invalid_call_is_rejected_with_its_reason() {
        let tools = NodeTools::new(&[pin("a", "find", "query", true)]);
        for (name, arguments, part) in [
            ("look", "{}", "Unknown tool look"),
            ("find", "", "requires the parameter query"),
            ("find", "[1]", "not a JSON object"),
            ("find", r#"{"query": "a", "page": 2}"#, "no parameter page"),
        ] {
            let reason = tools.outputs(&call(name, arguments)).expect_err(arguments);
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn long_names_stay_unique_and_within_the_limit() {
        let long = "n".repeat(100);
        let tools = NodeTools::new(&[pin("a", &long, "x", true), pin("b", &long, "x", true)]);
        let names: HashSet<&str> =
            tools.definitions.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|name| name.len() <= NAME_CHARS));
    }
}
