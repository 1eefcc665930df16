//! The output block: what reaches it is what the agent gives, by its name.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use crate::template::{self, Escape};

pub(super) struct AgentOutput {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The value to give.
    #[serde(default)]
    value: Value,
    /// What the agent calls this output.
    name: String,
    /// What is shown instead of the name.
    #[serde(default, rename = "title")]
    _title: Option<String>,
    /// What the output means.
    #[serde(default, rename = "description")]
    _description: Option<String>,
    /// A template that the value is put into; it knows the value by the name of the output.
    #[serde(default)]
    format: String,
    /// Escape what the template inserts, for an output that is HTML.
    #[serde(default)]
    escape_html: bool,
    /// Whether it is shown among the details.
    #[serde(default, rename = "advanced")]
    _advanced: bool,
    /// Whether it should not be shown openly.
    #[serde(default, rename = "secret")]
    _secret: bool,
}

impl AgentOutput {
    pub(super) fn new() -> Typed<Self> {
        let spec = BlockSpec {
            id: "363ae599-353e-4804-937e-b2ee3cef3da4",
            name: "AgentOutputBlock",
            description: "Gives a value as an output of the agent, as it is or put into a template.",
            categories: &[BlockCategory::Output, BlockCategory::Basic],
            kind: BlockKind::Output,
            inputs: typed::inputs::<Given>(),
            outputs: json!({
                "type": "object",
                "properties": {
                    "output": { "description": "The value, or the filled template." },
                    "name": { "type": "string", "description": "The name of the output." },
                },
            }),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for AgentOutput {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let Given { value, name, format, escape_html, .. } = given;
        let output = match format.is_empty() {
            true => value,
            false => {
                let values = Map::from_iter([(name.clone(), value.clone())]);
                match template::render(&format, &values, Escape::html(escape_html)) {
                    Ok(text) => Value::String(text),
                    // A mistake in the template must not cost the result of a long run.
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
