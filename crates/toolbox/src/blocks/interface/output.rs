//! `AgentOutputBlock`: a named output of the agent.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use crate::template::{self, EscapeMode};

pub(super) struct AgentOutputBlock {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct AgentOutputInput {
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

impl AgentOutputBlock {
    pub(super) fn new() -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "363ae599-353e-4804-937e-b2ee3cef3da4",
            name: "AgentOutputBlock",
            description: "Returns a value as an output of the agent, optionally formatted with a template.",
            categories: &[BlockCategory::Output, BlockCategory::Basic],
            kind: BlockKind::Output,
            inputs: typed::inputs::<AgentOutputInput>(),
            outputs: json!({
                "type": "object",
                "properties": {
                    "output": { "description": "The value, or the rendered template." },
                    "name": { "type": "string", "description": "The name of the output." },
                },
            }),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for AgentOutputBlock {
    type Input = AgentOutputInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: AgentOutputInput,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
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
        out.emit("output", output).await?;
        out.emit("name", Value::String(name)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![
            BlockExample::exactly(
                json!({ "name": "sum", "value": 42 }),
                vec![("output", json!(42)), ("name", json!("sum"))],
            ),
            BlockExample::exactly(
                json!({ "name": "city", "value": "Lisbon", "format": "Off to {{ city }}!" }),
                vec![("output", json!("Off to Lisbon!")), ("name", json!("city"))],
            ),
        ]
    }
}
