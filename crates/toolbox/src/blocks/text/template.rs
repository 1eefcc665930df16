//! A text with gaps, and what is put into them.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{outputs, text};
use crate::template::{Escape, render};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What is put in: `{{ name }}` stands for the value under `name`.
    values: Map<String, Value>,
    /// The text with gaps, in the language of Jinja templates.
    format: String,
    /// Whether to write `<`, `>`, `&` and quotes in values so that they are safe in HTML.
    #[serde(default)]
    escape_html: bool,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "db7d8f02-2f44-4c55-ab7a-eae0941f0c30",
        name: "FillTextTemplateBlock",
        description: "Fills a template with values.",
        categories: &[BlockCategory::Text],
    };
    let filled = |values: Value, format: &str, escape: bool, text: &str| {
        BlockExample::exactly(
            json!({ "values": values, "format": format, "escape_html": escape }),
            vec![("output", json!(text))],
        )
    };
    let examples = vec![
        filled(json!({ "name": "Ann" }), "Hello, {{ name }}!", false, "Hello, Ann!"),
        filled(
            json!({ "list": ["a", "b"] }),
            "{% for item in list %}- {{ item }}\n{% endfor %}",
            false,
            "- a\n- b\n",
        ),
        filled(json!({ "x": "<b>" }), "{{ x }}", true, "&lt;b&gt;"),
    ];
    let spec = about.spec::<Input>(outputs([text("output", "The filled text.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let text = render(&input.format, &input.values, Escape::html(input.escape_html))
        .map_err(|error| BlockError::failed(error.to_string()))?;
    Ok(vec![("output", text.into())])
}
