//! The input blocks by the form field they stand for.

use serde_json::{Map, Value, json};

use super::input::InputKind;

pub(super) fn all() -> Vec<InputKind> {
    vec![
        anything(),
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

fn anything() -> InputKind {
    InputKind {
        id: "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b",
        name: "AgentInputBlock",
        description: "Gives a value that the agent is started with. Without a value it gives nothing.",
        value: json!({ "default": null, "description": "The value, of any type." }),
        more: vec![],
        result: json!({ "description": "The value." }),
        absent: None,
        check: fine,
        example: json!("Hello"),
    }
}

fn short_text() -> InputKind {
    InputKind {
        id: "7fcd3bcb-8e1b-4e69-903d-32d3d4a92158",
        name: "AgentShortTextInputBlock",
        description: "Gives a line of text that the agent is started with.",
        value: value("string", "short-text", "One line of text."),
        more: vec![],
        result: json!({ "type": "string", "description": "The text." }),
        absent: None,
        check: fine,
        example: json!("Lisbon"),
    }
}

fn long_text() -> InputKind {
    InputKind {
        id: "90a56ffb-7024-4b2b-ab50-e26c5e5ab8ba",
        name: "AgentLongTextInputBlock",
        description: "Gives a text of any number of lines that the agent is started with.",
        value: value("string", "long-text", "A text, of several lines if need be."),
        more: vec![],
        result: json!({ "type": "string", "description": "The text." }),
        absent: None,
        check: fine,
        example: json!("One line.\nAnother."),
    }
}

fn number() -> InputKind {
    InputKind {
        id: "96dae2bb-97a2-41c2-bd2f-13a3b5a8ea98",
        name: "AgentNumberInputBlock",
        description: "Gives a number that the agent is started with.",
        value: json!({ "type": ["number", "null"], "default": null, "description": "The number." }),
        more: vec![],
        result: json!({ "type": "number", "description": "The number." }),
        absent: None,
        check: fine,
        example: json!(42),
    }
}

fn date() -> InputKind {
    InputKind {
        id: "7e198b09-4994-47db-8b4d-952d98241817",
        name: "AgentDateInputBlock",
        description: "Gives a date that the agent is started with.",
        value: value("string", "date", "The date, as YYYY-MM-DD."),
        more: vec![],
        result: json!({ "type": "string", "format": "date", "description": "The date." }),
        absent: None,
        check: |value, _| match value.as_str().map(str::parse::<jiff::civil::Date>) {
            Some(Ok(_)) => Ok(()),
            _ => Err("A date is written as YYYY-MM-DD.".to_owned()),
        },
        example: json!("2025-03-19"),
    }
}

fn time() -> InputKind {
    InputKind {
        id: "2a1c757e-86cf-4c7e-aacf-060dc382e434",
        name: "AgentTimeInputBlock",
        description: "Gives a time of day that the agent is started with.",
        value: value("string", "time", "The time, as HH:MM:SS."),
        more: vec![],
        result: json!({ "type": "string", "format": "time", "description": "The time." }),
        absent: None,
        check: |value, _| match value.as_str().map(str::parse::<jiff::civil::Time>) {
            Some(Ok(_)) => Ok(()),
            _ => Err("A time is written as HH:MM:SS.".to_owned()),
        },
        example: json!("09:30:00"),
    }
}

fn dropdown() -> InputKind {
    InputKind {
        id: "655d6fdf-a334-421c-b733-520549c07cd1",
        name: "AgentDropdownInputBlock",
        description: "Gives one of several texts, chosen when the agent is started.",
        value: json!({ "type": ["string", "null"], "default": null, "description": "The choice." }),
        more: vec![(
            "options",
            json!({
                "type": "array", "default": [],
                "description": "What can be chosen. Without any, any text can be entered.",
            }),
        )],
        result: json!({ "type": "string", "description": "The choice." }),
        absent: None,
        check: is_an_option,
        example: json!("blue"),
    }
}

fn toggle() -> InputKind {
    InputKind {
        id: "cbf36ab5-df4a-43b6-8a7f-f7ed8652116e",
        name: "AgentToggleInputBlock",
        description: "Gives yes or no, as the agent is started with it.",
        value: json!({ "type": ["boolean", "null"], "default": false, "description": "Whether it is on." }),
        more: vec![],
        result: json!({ "type": "boolean", "description": "Whether it is on." }),
        absent: Some(json!(false)),
        check: fine,
        example: json!(true),
    }
}

fn table() -> InputKind {
    InputKind {
        id: "5603b273-f41e-4020-af7d-fbc9c6a8d928",
        name: "AgentTableInputBlock",
        description: "Gives the rows of a table that the agent is started with, each row with its columns by name.",
        value: json!({
            "type": ["array", "null"], "items": { "type": "object" }, "default": null, "format": "table",
            "description": "The rows.",
        }),
        more: vec![(
            "column_headers",
            json!({
                "type": "array", "items": { "type": "string" }, "default": ["Column 1", "Column 2", "Column 3"],
                "description": "The names of the columns.",
            }),
        )],
        result: json!({ "type": "array", "items": { "type": "object" }, "description": "The rows." }),
        absent: Some(json!([])),
        check: fine,
        example: json!([{ "City": "Lisbon", "People": "550000" }]),
    }
}

fn value(kind: &str, format: &str, description: &str) -> Value {
    json!({ "type": [kind, "null"], "format": format, "default": null, "description": description })
}

fn fine(_: &Value, _: &Map<String, Value>) -> Result<(), String> {
    Ok(())
}

/// `placeholder_values` is what older agents call the options.
fn is_an_option(value: &Value, input: &Map<String, Value>) -> Result<(), String> {
    let named =
        ["options", "placeholder_values"].iter().find_map(|pin| input.get(*pin)?.as_array());
    match named {
        Some(options) if !options.is_empty() && !options.contains(value) => {
            Err("The value is none of the options.".to_owned())
        }
        _ => Ok(()),
    }
}
