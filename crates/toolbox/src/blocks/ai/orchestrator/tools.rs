//! The nodes behind an orchestrator as tools of a model: one for each, with the linked inputs as its parameters.

use std::collections::HashSet;
use std::sync::Arc;

use ports::block::ToolPin;
use ports::model::ToolDefinition;
use protocol::message::ToolCall;
use serde_json::{Map, Value, json};

/// What providers take as the name of a tool or of a parameter.
const NAME_CHARS: usize = 64;

pub(super) struct Tools {
    tools: Vec<Tool>,
    pub(super) definitions: Arc<[ToolDefinition]>,
}

struct Tool {
    name: String,
    parameters: Vec<Parameter>,
}

struct Parameter {
    name: String,
    pin: String,
    required: bool,
}

impl Tools {
    pub(super) fn new(pins: &[ToolPin]) -> Self {
        let mut nodes: Vec<Vec<&ToolPin>> = Vec::new();
        for pin in pins {
            match nodes.iter_mut().find(|node| node[0].node_id == pin.node_id) {
                Some(node) => node.push(pin),
                None => nodes.push(vec![pin]),
            }
        }
        let mut taken = HashSet::new();
        let (tools, definitions): (Vec<Tool>, Vec<ToolDefinition>) =
            nodes.iter().map(|pins| tool(free_name(&pins[0].name, &mut taken), pins)).unzip();
        Self { tools, definitions: definitions.into() }
    }

    /// The values that a call sends, by pin. `Err` tells the model what is wrong with its call.
    ///
    /// A parameter that the model leaves out sends null: the node behind waits for every linked input.
    pub(super) fn outputs(&self, call: &ToolCall) -> Result<Vec<(&str, Value)>, String> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name).ok_or_else(|| {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
            format!("There is no tool {}. There are: {}.", call.name, names.join(", "))
        })?;
        let mut given = arguments(call)?;
        let known = |name: &String| tool.parameters.iter().any(|known| known.name == *name);
        if let Some(unknown) = given.keys().find(|name| !known(name)) {
            return Err(format!("{} has no parameter {unknown}.", tool.name));
        }
        let mut outputs = Vec::with_capacity(tool.parameters.len());
        for Parameter { name, pin, required } in &tool.parameters {
            let value = given.remove(name);
            if value.is_none() && *required {
                return Err(format!("{} needs the parameter {name}.", tool.name));
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

fn tool(name: String, pins: &[&ToolPin]) -> (Tool, ToolDefinition) {
    let (mut taken, mut properties) = (HashSet::new(), Map::new());
    let mut parameters = Vec::new();
    for pin in pins {
        let name = free_name(&pin.field, &mut taken);
        properties.insert(name.clone(), described(pin));
        parameters.push(Parameter { name, pin: pin.pin.clone(), required: pin.required });
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
    (Tool { name, parameters }, definition)
}

/// Providers want an object; a pin of which nothing is known takes anything.
fn described(pin: &ToolPin) -> Value {
    match &pin.schema {
        Value::Object(schema) => Value::Object(schema.clone()),
        _ => json!({ "description": format!("The value for {}.", pin.field) }),
    }
}

/// The name in letters that providers take, with a number behind it when another one has it.
fn free_name(wanted: &str, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let wanted: String = wanted.chars().map(plain).take(NAME_CHARS).collect();
    let wanted = if wanted.is_empty() { "tool".to_owned() } else { wanted.to_ascii_lowercase() };
    let mut name = wanted.clone();
    let mut number = 1_usize;
    while !taken.insert(name.clone()) {
        number += 1;
        let ending = format!("_{number}");
        // All characters are ASCII by now.
        let room = wanted.len().min(NAME_CHARS - ending.len());
        name = format!("{}{ending}", &wanted[..room]);
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
        let tools = Tools::new(&[
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
    fn a_call_that_does_not_fit_is_refused_with_what_is_wrong() {
        let tools = Tools::new(&[pin("a", "find", "query", true)]);
        for (name, arguments, part) in [
            ("look", "{}", "no tool look"),
            ("find", "", "needs the parameter query"),
            ("find", "[1]", "not a JSON object"),
            ("find", r#"{"query": "a", "page": 2}"#, "no parameter page"),
        ] {
            let refused = tools.outputs(&call(name, arguments)).expect_err(arguments);
            assert!(refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn long_names_stay_apart_and_within_what_providers_take() {
        let long = "n".repeat(100);
        let tools = Tools::new(&[pin("a", &long, "x", true), pin("b", &long, "x", true)]);
        let names: HashSet<&str> =
            tools.definitions.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|name| name.len() <= NAME_CHARS));
    }
}
