//! `FillTextTemplateBlock`: renders a Jinja template.

use crate::blocks::prelude::*;
use crate::template::{EscapeMode, render};

#[derive(Deserialize, JsonSchema)]
struct FillTemplateInput {
    /// The values to insert: `{{ name }}` is replaced by the value of `name`.
    values: Map<String, Value>,
    /// The template, in Jinja syntax.
    format: String,
    /// Escape `<`, `>`, `&` and quotes in values, for use in HTML.
    #[serde(default)]
    escape_html: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "db7d8f02-2f44-4c55-ab7a-eae0941f0c30",
        "FillTextTemplateBlock",
        "Fills a Jinja template with values.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::text("output", "The rendered text.")]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: FillTemplateInput) -> Result<PinValues, BlockError> {
    let text = render(&input.format, &input.values, EscapeMode::html(input.escape_html))
        .map_err(|error| BlockError::failed(error.to_string()))?;
    Ok(vec![("output", text.into())])
}
