//! The kinds of input blocks, one per form field type.

use serde_json::{Map, Value, json};

use super::input::InputKind;

pub(super) fn all() -> Vec<InputKind> {
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

fn any_value() -> InputKind {
    InputKind {
        id: "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b",
        name: "AgentInputBlock",
        description: "Input of any type. Emits nothing if it has no value.",
        value: json!({ "default": null, "description": "The value, of any type." }),
        extra_pins: vec![],
        result: json!({ "description": "The value." }),
        default_result: None,
        check: accept_any,
        example: json!("Hello"),
    }
}

fn short_text() -> InputKind {
    InputKind {
        id: "7fcd3bcb-8e1b-4e69-903d-32d3d4a92158",
        name: "AgentShortTextInputBlock",
        description: "Input of a single line of text.",
        value: value("string", "short-text", "A single line of text."),
        extra_pins: vec![],
        result: json!({ "type": "string", "description": "The text." }),
        default_result: None,
        check: accept_any,
        example: json!("Lisbon"),
    }
}

fn long_text() -> InputKind {
    InputKind {
        id: "90a56ffb-7024-4b2b-ab50-e26c5e5ab8ba",
        name: "AgentLongTextInputBlock",
        description: "Input of text with any number of lines.",
        value: value("string", "long-text", "Text, with line breaks if needed."),
        extra_pins: vec![],
        result: json!({ "type": "string", "description": "The text." }),
        default_result: None,
        check: accept_any,
        example: json!("One line.\nAnother."),
    }
}

fn number() -> InputKind {
    InputKind {
        id: "96dae2bb-97a2-41c2-bd2f-13a3b5a8ea98",
        name: "AgentNumberInputBlock",
        description: "Input of a number.",
        value: json!({ "type": ["number", "null"], "default": null, "description": "The number." }),
        extra_pins: vec![],
        result: json!({ "type": "number", "description": "The number." }),
        default_result: None,
        check: accept_any,
        example: json!(42),
    }
}

fn date() -> InputKind {
    InputKind {
        id: "7e198b09-4994-47db-8b4d-952d98241817",
        name: "AgentDateInputBlock",
        description: "Input of a date.",
        value: value("string", "date", "The date, in the format YYYY-MM-DD."),
        extra_pins: vec![],
        result: json!({ "type": "string", "format": "date", "description": "The date." }),
        default_result: None,
        check: |value, _| match value.as_str().map(str::parse::<jiff::civil::Date>) {
            Some(Ok(_)) => Ok(()),
            _ => Err("Enter a valid date in the format YYYY-MM-DD.".to_owned()),
        },
        example: json!("2025-03-19"),
    }
}

fn time() -> InputKind {
    InputKind {
        id: "2a1c757e-86cf-4c7e-aacf-060dc382e434",
        name: "AgentTimeInputBlock",
        description: "Input of a time of day.",
        value: value("string", "time", "The time, in the format HH:MM:SS."),
        extra_pins: vec![],
        result: json!({ "type": "string", "format": "time", "description": "The time." }),
        default_result: None,
        check: |value, _| match value.as_str().map(str::parse::<jiff::civil::Time>) {
            Some(Ok(_)) => Ok(()),
            _ => Err("Enter a valid time in the format HH:MM:SS.".to_owned()),
        },
        example: json!("09:30:00"),
    }
}

fn dropdown() -> InputKind {
    InputKind {
        id: "655d6fdf-a334-421c-b733-520549c07cd1",
        name: "AgentDropdownInputBlock",
        description: "Input of one option from a list.",
        value: json!({ "type": ["string", "null"], "default": null, "description": "The selected option." }),
        extra_pins: vec![(
            "options",
            json!({
                "type": "array", "default": [],
                "description": "The available options. If empty, any text can be entered.",
            }),
        )],
        result: json!({ "type": "string", "description": "The selected option." }),
        default_result: None,
        check: is_an_option,
        example: json!("blue"),
    }
}

fn toggle() -> InputKind {
    InputKind {
        id: "cbf36ab5-df4a-43b6-8a7f-f7ed8652116e",
        name: "AgentToggleInputBlock",
        description: "Input of a yes/no switch.",
        value: json!({ "type": ["boolean", "null"], "default": false, "description": "True if the switch is on." }),
        extra_pins: vec![],
        result: json!({ "type": "boolean", "description": "True if the switch is on." }),
        default_result: Some(json!(false)),
        check: accept_any,
        example: json!(true),
    }
}

fn table() -> InputKind {
    InputKind {
        id: "5603b273-f41e-4020-af7d-fbc9c6a8d928",
        name: "AgentTableInputBlock",
        description: "Input of a table. Each row is an object with values by column name.",
        value: json!({
            "type": ["array", "null"], "items": { "type": "object" }, "default": null, "format": "table",
            "description": "The rows of the table.",
        }),
        extra_pins: vec![(
            "column_headers",
            json!({
                "type": "array", "items": { "type": "string" }, "default": ["Column 1", "Column 2", "Column 3"],
                "description": "The column names.",
            }),
        )],
        result: json!({ "type": "array", "items": { "type": "object" }, "description": "The rows of the table." }),
        default_result: Some(json!([])),
        check: accept_any,
        example: json!([{ "City": "Lisbon", "People": "550000" }]),
    }
}

fn value(kind: &str, format: &str, description: &str) -> Value {
    json!({ "type": [kind, "null"], "format": format, "default": null, "description": description })
}

fn accept_any(_: &Value, _: &Map<String, Value>) -> Result<(), String> {
    Ok(())
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
