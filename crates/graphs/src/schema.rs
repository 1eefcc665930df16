//! The inputs and outputs of an agent, read from its input and output nodes, and validation of an execution's inputs.

use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::{Graph, GraphFlags, InputProblems, Node};
use serde_json::{Map, Value, json};

use crate::catalog::BlockSpecs;
use crate::types;

/// A JSON schema with one property per input of the agent. Inputs without a value of their own are required.
pub fn input_schema(graph: &Graph, blocks: &dyn BlockSpecs) -> Value {
    interface(graph, blocks, BlockKind::Input)
}

/// The same for the outputs of the agent.
pub fn output_schema(graph: &Graph, blocks: &dyn BlockSpecs) -> Value {
    interface(graph, blocks, BlockKind::Output)
}

pub fn flags(graph: &Graph, blocks: &dyn BlockSpecs) -> GraphFlags {
    let mut flags = GraphFlags::default();
    for spec in graph.nodes.iter().filter_map(|node| blocks.spec(&node.block_id)) {
        match spec.kind {
            BlockKind::Webhook | BlockKind::WebhookManual => flags.has_external_trigger = true,
            BlockKind::HumanInTheLoop => flags.has_human_in_the_loop = true,
            _ => {}
        }
        flags.has_sensitive_action |= spec.sensitive;
    }
    flags
}

/// Validates the inputs of an execution against the agent's input schema. Values that the conversion into a node would
/// fix are accepted.
pub fn check_inputs(schema: &Value, inputs: &Map<String, Value>) -> InputProblems {
    let empty = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let is_given = |name: &str| inputs.get(name).is_some_and(|value| !value.is_null());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let given = inputs.iter().filter(|(_, value)| !value.is_null());
    InputProblems {
        unknown: inputs.keys().filter(|name| !known.contains_key(*name)).cloned().collect(),
        missing: required
            .filter_map(Value::as_str)
            .filter(|name| !is_given(name))
            .map(str::to_owned)
            .collect(),
        wrong: given
            .filter_map(|(name, value)| {
                Some((name.clone(), value_problem(value.clone(), known.get(name)?)?))
            })
            .collect(),
    }
}

/// Why the value does not match the schema after conversion, if it does not. The schema must be one of ours: validating
/// against an untrusted one could take very long.
pub fn value_problem(value: Value, schema: &Value) -> Option<String> {
    let value = match types::convert(value, schema) {
        Ok(value) => value,
        Err(why) => return Some(why),
    };
    if !constrains_beyond_type(schema) || is_plain_choice(&value, schema) {
        return None;
    }
    // An invalid schema accepts everything: that is a bug of the block, not of the value.
    let validator = jsonschema::validator_for(schema).ok()?;
    let fault = validator.iter_errors(&value).next()?;
    Some(protocol::text::cut_end(&fault.to_string(), 300))
}

/// Keys that describe the pin instead of constraining its values, and `type`.
const ANNOTATION_KEYS: [&str; 8] =
    ["advanced", "default", "description", "format", "placeholder", "secret", "title", "type"];

/// Most schemas only name a type, which the conversion has already ensured. Compiling a schema takes longer than all
/// other checks of a value.
fn constrains_beyond_type(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return false };
    members.iter().any(|(key, member)| match key.as_str() {
        "items" | "additionalProperties" => constrains_beyond_type(member),
        key => !ANNOTATION_KEYS.contains(&key),
    })
}

/// Whether the schema only lists choices and the value is one of them, which is checked without compiling the schema.
fn is_plain_choice(value: &Value, schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return false };
    let choices = members.get("enum").and_then(Value::as_array);
    choices.is_some_and(|choices| choices.contains(value))
        && members.keys().all(|key| key == "enum" || ANNOTATION_KEYS.contains(&key.as_str()))
}

fn interface(graph: &Graph, blocks: &dyn BlockSpecs, kind: BlockKind) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for node in &graph.nodes {
        let Some(spec) = blocks.spec(&node.block_id).filter(|spec| spec.kind == kind) else {
            continue;
        };
        let Some(name) = interface_name(node) else { continue };
        if properties.contains_key(name) {
            continue;
        }
        let field = InterfaceField::of(node, spec);
        if field.value.is_null() {
            required.push(json!(name));
        }
        properties.insert(name.to_owned(), field.describe(name));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The name of an input or an output node.
pub fn interface_name(node: &Node) -> Option<&str> {
    node.input_default.get("name")?.as_str().filter(|name| !name.is_empty())
}

/// An input or output node with the schema of its value.
struct InterfaceField<'a> {
    node: &'a Node,
    spec: &'a BlockSpec,
    value: Value,
}

impl<'a> InterfaceField<'a> {
    fn of(node: &'a Node, spec: &'a BlockSpec) -> Self {
        let schema = spec.input("value").unwrap_or(&Value::Bool(true));
        let is_given = |value: &&Value| !value.is_null() && !types::is_blank(value, schema);
        let own = node.input_default.get("value").filter(is_given);
        let value = own.or_else(|| schema.get("default")).cloned().unwrap_or(Value::Null);
        Self { node, spec, value }
    }

    fn describe(&self, name: &str) -> Value {
        let mut schema = self.value_schema();
        // A required input is never hidden as advanced.
        let advanced = self.is_set("advanced") && !self.value.is_null();
        schema.insert("title".to_owned(), json!(self.text("title").unwrap_or(name)));
        schema.insert("secret".to_owned(), json!(self.is_set("secret")));
        schema.insert("advanced".to_owned(), json!(advanced));
        for text in ["description", "placeholder"] {
            if let Some(given) = self.text(text) {
                schema.insert(text.to_owned(), json!(given));
            }
        }
        if !self.value.is_null() {
            schema.insert("default".to_owned(), self.value.clone());
        }
        Value::Object(schema)
    }

    /// The type of the value, from the block and the node's own settings.
    fn value_schema(&self) -> Map<String, Value> {
        let of_block = self.spec.input("value").and_then(Value::as_object);
        let mut schema = of_block.cloned().unwrap_or_default();
        for about_the_pin in ["title", "description", "default"] {
            schema.remove(about_the_pin);
        }
        let mut schema = without_null(schema);
        if self.spec.input("options").is_some() {
            // Older files use the second name.
            let options = ["options", "placeholder_values"].iter().find_map(|name| self.list(name));
            if let Some(options) = options {
                schema.insert("enum".to_owned(), json!(options));
            }
        }
        if self.spec.input("column_headers").is_some() {
            let headers = self.list("column_headers").into_iter().flatten();
            let columns: Map<_, _> = headers
                .filter_map(Value::as_str)
                .map(|header| (header.to_owned(), json!({ "type": "string" })))
                .collect();
            schema.insert("type".to_owned(), json!("array"));
            schema.insert("format".to_owned(), json!("table"));
            schema.insert("items".to_owned(), json!({ "type": "object", "properties": columns }));
        }
        schema
    }

    fn text(&self, setting: &str) -> Option<&str> {
        self.node.input_default.get(setting)?.as_str().filter(|text| !text.is_empty())
    }

    fn is_set(&self, setting: &str) -> bool {
        self.node.input_default.get(setting).and_then(Value::as_bool).unwrap_or(false)
    }

    fn list(&self, setting: &str) -> Option<&Vec<Value>> {
        self.node.input_default.get(setting)?.as_array().filter(|list| !list.is_empty())
    }
}

/// Blocks use null for "optional"; a person who fills in a form does not choose it.
fn without_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(names)) = schema.get_mut("type") {
        names.retain(|name| name != "null");
        if let [only] = names.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.retain(|one| one.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::fixtures::{TestBlocks, graph};

    fn weather_report() -> Graph {
        graph(json!({
            "nodes": [
                {"id": "city", "block_id": "input", "input_default": {
                    "name": "city", "title": "City", "description": "Where.", "advanced": true
                }},
                {"id": "days", "block_id": "input-number", "input_default": {
                    "name": "days", "value": 3, "advanced": true
                }},
                {"id": "unit", "block_id": "input-choice", "input_default": {
                    "name": "unit", "value": "C", "options": ["C", "F"]
                }},
                {"id": "rows", "block_id": "input-table", "input_default": {
                    "name": "rows", "value": [], "column_headers": ["a", "b"]
                }},
                {"id": "sure", "block_id": "input-toggle", "input_default": {"name": "sure"}},
                {"id": "nameless", "block_id": "input", "input_default": {}},
                {"id": "report", "block_id": "output", "input_default": {"name": "report"}},
                {"id": "ask", "block_id": "ask"}
            ]
        }))
    }

    #[test]
    fn inputs_are_read_from_the_input_nodes() {
        let field = |extra: Value| {
            let mut field = json!({"secret": false, "advanced": false});
            let members = extra.as_object().expect("an object").clone();
            field.as_object_mut().expect("an object").extend(members);
            field
        };
        assert_eq!(
            input_schema(&weather_report(), &TestBlocks::default()),
            json!({
                "type": "object",
                "properties": {
                    "city": field(json!({"title": "City", "description": "Where."})),
                    "days": field(json!({
                        "title": "days", "type": "integer", "default": 3, "advanced": true
                    })),
                    "unit": field(json!({
                        "title": "unit", "type": "string", "enum": ["C", "F"], "default": "C"
                    })),
                    "rows": field(json!({
                        "title": "rows", "type": "array", "format": "table", "default": [],
                        "items": {"type": "object", "properties": {
                            "a": {"type": "string"}, "b": {"type": "string"}
                        }}
                    })),
                    "sure": field(json!({"title": "sure", "type": "boolean", "default": false})),
                },
                "required": ["city"],
            })
        );
    }

    #[test]
    fn outputs_and_flags_are_read_from_the_nodes() {
        let (graph, blocks) = (weather_report(), TestBlocks::default());
        let outputs = output_schema(&graph, &blocks);
        assert_eq!(outputs["required"], json!(["report"]));
        assert_eq!(outputs["properties"]["report"]["title"], "report");
        let expected = GraphFlags { has_human_in_the_loop: true, ..GraphFlags::default() };
        assert_eq!(flags(&graph, &blocks), expected);
    }

    #[test]
    fn inputs_that_do_not_match_are_reported_by_name() {
        let schema = input_schema(&weather_report(), &TestBlocks::default());
        let check = |inputs: Value| check_inputs(&schema, inputs.as_object().expect("an object"));
        assert!(check(json!({"city": "Bern", "days": "5", "unit": "F"})).is_empty());
        let problems = check(json!({"town": "Bern", "city": null, "days": "many", "unit": "K"}));
        assert_eq!(
            (problems.unknown, problems.missing),
            (vec!["town".into()], vec!["city".into()])
        );
        let wrong: Vec<&str> = problems.wrong.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(wrong, ["days", "unit"]);
    }
}
