//! What every tool promises by its spec and its examples.

use std::collections::HashSet;

use pilothouse_toolbox::tools;
use ports::Tool;
use protocol::limits::TOOL_SCHEMA_CHARS;
use protocol::tool::ToolSpec;
use protocol::tool_labels::ToolLabels;
use serde_json::Value;

use super::{Toolbox, answer, context};

#[tokio::test]
async fn every_example_of_every_tool_passes() {
    for tool in &Toolbox::open().await.tools {
        check_examples(&**tool).await;
    }
}

pub(crate) async fn check_examples(tool: &dyn Tool) {
    let spec = tool.spec();
    let schema = jsonschema::validator_for(&spec.parameters).expect("a valid schema");
    assert!(!tool.examples().is_empty(), "{} has no example", spec.name);
    for example in tool.examples() {
        let arguments = &example.arguments;
        assert!(schema.is_valid(arguments), "{} refuses {arguments}", spec.name);
        let response = answer(tool.call(arguments.clone(), context()).await);
        assert_eq!(response["type"], example.response, "{} {arguments}: {response}", spec.name);
    }
}

#[test]
fn every_tool_has_texts_for_people() {
    for spec in tools::built_in_specs() {
        check_labels(&spec);
    }
}

#[test]
fn the_guide_has_the_table_of_the_tools() {
    let page = include_str!("../../../../../docs/guide/tools.md");
    let table = tools::guide_table();
    assert!(page.contains(&format!("\n\n{table}\n")), "run `make gen`; expected:\n{table}");
}

pub(crate) fn check_labels(spec: &ToolSpec) {
    let ToolSpec { name, summary, labels, .. } = spec;
    assert_ne!(summary, &spec.description, "{name} has no summary");
    assert!(
        summary.starts_with(char::is_lowercase) && !summary.ends_with('.'),
        "{name}: {summary}"
    );
    assert!(!summary.contains('|'), "{name}: the summary is part of a table");
    assert_ne!(labels, &ToolLabels::generic(name), "{name} has no labels");
    let object = labels.object.map(|object| object.arguments).unwrap_or_default();
    for argument in object {
        let argument = &spec.parameters["properties"][argument];
        assert!(argument.is_object(), "{name} shows an argument that it does not have");
    }
}

#[tokio::test]
async fn the_tools_are_in_order_and_their_names_are_unique() {
    let toolbox = Toolbox::open().await;
    let names: Vec<&str> = toolbox.tools.iter().map(|tool| tool.spec().name).collect();
    assert!(names.is_sorted() && names.iter().collect::<HashSet<_>>().len() == names.len());
    let specs: Vec<&str> = tools::built_in_specs().iter().map(|spec| spec.name).collect();
    assert_eq!(names, specs, "every built-in tool is available here");
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

#[test]
fn every_argument_has_a_type_and_a_description() {
    for spec in tools::built_in_specs() {
        check_arguments(spec.name, &spec.parameters);
    }
}

pub(crate) fn check_arguments(tool: &str, schema: &Value) {
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{tool} takes unknown arguments");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let typed = property.get("type").is_some() || property.get("enum").is_some();
        assert!(typed, "{tool}.{name} has no type: {property}");
        assert!(property["description"].is_string(), "{tool}.{name} is not described");
        check_arguments(tool, property);
        check_arguments(tool, &property["items"]);
    }
    for noise in ["$schema", "title", "$defs", "$ref", "format"] {
        assert!(schema.get(noise).is_none(), "{tool} has {noise}");
    }
}
