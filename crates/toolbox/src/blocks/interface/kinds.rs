//! The input blocks, one per type of form field.

use super::input::{InputField, input_spec};
use crate::blocks::prelude::*;

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    vec![
        any_value(),
        short_text(),
        long_text(),
        number(),
        date(),
        time(),
        dropdown(),
        toggle(),
        table(),
    ]
}

fn any_value() -> Arc<dyn Block> {
    let spec = input_spec(
        "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b",
        "AgentInputBlock",
        "Input of any type. Emits nothing if it has no value.",
    );
    let value = json!({ "default": null, "description": "The value, of any type." });
    InputField::new(value).block(spec, json!({ "description": "The value." }), json!("Hello"))
}

fn short_text() -> Arc<dyn Block> {
    let spec = input_spec(
        "7fcd3bcb-8e1b-4e69-903d-32d3d4a92158",
        "AgentShortTextInputBlock",
        "Input of a single line of text.",
    );
    let result = json!({ "type": "string", "description": "The text." });
    text_field("short-text", "A single line of text.").block(spec, result, json!("Lisbon"))
}

fn long_text() -> Arc<dyn Block> {
    let spec = input_spec(
        "90a56ffb-7024-4b2b-ab50-e26c5e5ab8ba",
        "AgentLongTextInputBlock",
        "Input of text with any number of lines.",
    );
    let result = json!({ "type": "string", "description": "The text." });
    let example = json!("One line.\nAnother.");
    text_field("long-text", "Text, with line breaks if needed.").block(spec, result, example)
}

fn number() -> Arc<dyn Block> {
    let spec = input_spec(
        "96dae2bb-97a2-41c2-bd2f-13a3b5a8ea98",
        "AgentNumberInputBlock",
        "Input of a number.",
    );
    let value =
        json!({ "type": ["number", "null"], "default": null, "description": "The number." });
    let result = json!({ "type": "number", "description": "The number." });
    InputField::new(value).block(spec, result, json!(42))
}

fn date() -> Arc<dyn Block> {
    let spec = input_spec(
        "7e198b09-4994-47db-8b4d-952d98241817",
        "AgentDateInputBlock",
        "Input of a date.",
    );
    let result = json!({ "type": "string", "format": "date", "description": "The date." });
    text_field("date", "The date, in the format YYYY-MM-DD.")
        .check(|value, _| match value.as_str().map(str::parse::<jiff::civil::Date>) {
            Some(Ok(_)) => Ok(()),
            _ => Err("Enter a valid date in the format YYYY-MM-DD.".to_owned()),
        })
        .block(spec, result, json!("2025-03-19"))
}

fn time() -> Arc<dyn Block> {
    let spec = input_spec(
        "2a1c757e-86cf-4c7e-aacf-060dc382e434",
        "AgentTimeInputBlock",
        "Input of a time of day.",
    );
    let result = json!({ "type": "string", "format": "time", "description": "The time." });
    text_field("time", "The time, in the format HH:MM:SS.")
        .check(|value, _| match value.as_str().map(str::parse::<jiff::civil::Time>) {
            Some(Ok(_)) => Ok(()),
            _ => Err("Enter a valid time in the format HH:MM:SS.".to_owned()),
        })
        .block(spec, result, json!("09:30:00"))
}

fn dropdown() -> Arc<dyn Block> {
    let spec = input_spec(
        "655d6fdf-a334-421c-b733-520549c07cd1",
        "AgentDropdownInputBlock",
        "Input of one option from a list.",
    );
    let value = json!({ "type": ["string", "null"], "default": null, "description": "The selected option." });
    let options = json!({
        "type": "array", "default": [],
        "description": "The available options. If empty, any text can be entered.",
    });
    let result = json!({ "type": "string", "description": "The selected option." });
    InputField::new(value).extra_pin("options", options).check(is_an_option).block(
        spec,
        result,
        json!("blue"),
    )
}

fn toggle() -> Arc<dyn Block> {
    let spec = input_spec(
        "cbf36ab5-df4a-43b6-8a7f-f7ed8652116e",
        "AgentToggleInputBlock",
        "Input of a yes/no switch.",
    );
    let value = json!({ "type": ["boolean", "null"], "default": false, "description": "True if the switch is on." });
    let result = json!({ "type": "boolean", "description": "True if the switch is on." });
    InputField::new(value).default_result(json!(false)).block(spec, result, json!(true))
}

fn table() -> Arc<dyn Block> {
    let spec = input_spec(
        "5603b273-f41e-4020-af7d-fbc9c6a8d928",
        "AgentTableInputBlock",
        "Input of a table. Each row is an object with values by column name.",
    );
    let value = json!({
        "type": ["array", "null"], "items": { "type": "object" }, "default": null, "format": "table",
        "description": "The rows of the table.",
    });
    let columns = json!({
        "type": "array", "items": { "type": "string" }, "default": ["Column 1", "Column 2", "Column 3"],
        "description": "The column names.",
    });
    let result = json!({ "type": "array", "items": { "type": "object" }, "description": "The rows of the table." });
    let example = json!([{ "City": "Lisbon", "People": "550000" }]);
    let field = InputField::new(value).extra_pin("column_headers", columns);
    field.default_result(json!([])).block(spec, result, example)
}

fn text_field(format: &str, description: &str) -> InputField {
    InputField::new(
        json!({ "type": ["string", "null"], "format": format, "default": null, "description": description }),
    )
}

/// Checks that the value is one of the options, which older agents call `placeholder_values`.
fn is_an_option(value: &Value, input: &Map<String, Value>) -> Result<(), String> {
    let options =
        ["options", "placeholder_values"].iter().find_map(|pin| input.get(*pin)?.as_array());
    match options {
        Some(options) if !options.is_empty() && !options.contains(value) => {
            Err("The value is not one of the options.".to_owned())
        }
        _ => Ok(()),
    }
}
