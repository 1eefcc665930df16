//! What every tool promises by its spec and its examples.

use std::collections::HashSet;

use protocol::limits::TOOL_SCHEMA_CHARS;
use serde_json::Value;

use super::{Toolbox, context};

#[tokio::test]
async fn every_example_of_every_tool_passes() {
    let toolbox = Toolbox::open().await;
    for tool in &toolbox.tools {
        let spec = tool.spec();
        let schema = jsonschema::validator_for(&spec.parameters).expect("a valid schema");
        assert!(!tool.examples().is_empty(), "{} has no example", spec.name);
        for example in tool.examples() {
            let arguments = &example.arguments;
            assert!(schema.is_valid(arguments), "{} refuses {arguments}", spec.name);
            let response = toolbox.call_in(context(), spec.name, arguments.clone()).await;
            assert_eq!(response["type"], example.response, "{} {arguments}: {response}", spec.name);
        }
    }
}

#[tokio::test]
async fn the_tools_are_in_order_and_their_names_are_unique() {
    let toolbox = Toolbox::open().await;
    let names: Vec<&str> = toolbox.tools.iter().map(|tool| tool.spec().name).collect();
    assert!(names.is_sorted() && names.iter().collect::<HashSet<_>>().len() == names.len());
    assert_eq!(names.len(), 21);
}

#[tokio::test]
async fn all_schemas_together_are_within_the_budget() {
    let toolbox = Toolbox::open().await;
    let chars: usize = toolbox
        .tools
        .iter()
        .map(|tool| tool.spec())
        .map(|spec| format!("{}{}{}", spec.name, spec.description, spec.parameters).chars().count())
        .sum();

    assert!(chars < TOOL_SCHEMA_CHARS, "{chars}");
}

#[tokio::test]
async fn every_argument_has_a_type_and_a_description() {
    fn check(tool: &str, schema: &Value) {
        if schema["type"] == "object" {
            assert_eq!(schema["additionalProperties"], false, "{tool} takes unknown arguments");
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let typed = property.get("type").is_some() || property.get("enum").is_some();
            assert!(typed, "{tool}.{name} has no type: {property}");
            assert!(property["description"].is_string(), "{tool}.{name} is not described");
            check(tool, property);
            check(tool, &property["items"]);
        }
        for noise in ["$schema", "title", "$defs", "$ref", "format"] {
            assert!(schema.get(noise).is_none(), "{tool} has {noise}");
        }
    }
    for tool in &Toolbox::open().await.tools {
        check(tool.spec().name, &tool.spec().parameters);
    }
}
