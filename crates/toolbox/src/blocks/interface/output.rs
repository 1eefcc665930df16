//! `AgentOutputBlock`: a named output of the agent.

use crate::blocks::prelude::*;
use crate::template::{self, EscapeMode};

#[derive(Deserialize, JsonSchema)]
struct AgentOutputInput {
    /// The value to output.
    #[serde(default)]
    value: Value,
    /// The name of the output.
    name: String,
    /// The label shown instead of the name.
    #[serde(default, rename = "title")]
    _title: Option<String>,
    /// The description of the output.
    #[serde(default, rename = "description")]
    _description: Option<String>,
    /// A Jinja template for the value, which is available under the name of the output.
    #[serde(default)]
    format: String,
    /// Escape inserted values, for HTML output.
    #[serde(default)]
    escape_html: bool,
    /// Show the output under advanced options.
    #[serde(default, rename = "advanced")]
    _advanced: bool,
    /// Hide the value, because it is sensitive.
    #[serde(default, rename = "secret")]
    _secret: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "363ae599-353e-4804-937e-b2ee3cef3da4",
        "AgentOutputBlock",
        "Returns a value as an output of the agent, optionally formatted with a template.",
    )
    .categories(&[BlockCategory::Output, BlockCategory::Basic])
    .kind(BlockKind::Output)
    .interface_outputs([
        pin::any("output", "The value, or the rendered template."),
        pin::text("name", "The name of the output."),
    ])
    .static_output();
    let examples = vec![
        BlockExample::exactly(
            json!({ "name": "sum", "value": 42 }),
            vec![("output", json!(42)), ("name", json!("sum"))],
        ),
        BlockExample::exactly(
            json!({ "name": "city", "value": "Lisbon", "format": "Off to {{ city }}!" }),
            vec![("output", json!("Off to Lisbon!")), ("name", json!("city"))],
        ),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: AgentOutputInput) -> Result<PinValues, BlockError> {
    let AgentOutputInput { value, name, format, escape_html, .. } = input;
    let output = match format.is_empty() {
        true => value,
        false => {
            let values = Map::from_iter([(name.clone(), value.clone())]);
            match template::render(&format, &values, EscapeMode::html(escape_html)) {
                Ok(text) => Value::String(text),
                // An error in the template must not lose the result of a long run.
                Err(error) => Value::String(format!("Error: {error} {value}")),
            }
        }
    };
    Ok(vec![("output", output), ("name", name.into())])
}
