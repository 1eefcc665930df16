//! The input block: emits the value that the agent was started with.

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde_json::{Map, Value, json};

/// What distinguishes one input block from another.
pub(super) struct InputKind {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The JSON schema of `value`.
    pub(super) value: Value,
    /// Input pins in addition to the common ones.
    pub(super) extra_pins: Vec<(&'static str, Value)>,
    /// The JSON schema of `result`.
    pub(super) result: Value,
    /// The result if there is no value.
    pub(super) default_result: Option<Value>,
    pub(super) check: fn(&Value, &Map<String, Value>) -> Result<(), String>,
    pub(super) example: Value,
}

pub(super) struct AgentInputBlock {
    spec: BlockSpec,
    default_result: Option<Value>,
    check: fn(&Value, &Map<String, Value>) -> Result<(), String>,
    example: Value,
}

impl AgentInputBlock {
    pub(super) fn new(kind: InputKind) -> Self {
        let InputKind { default_result, check, example, .. } = kind;
        let spec = BlockSpec {
            id: kind.id,
            name: kind.name,
            description: kind.description,
            categories: &[BlockCategory::Input, BlockCategory::Basic],
            kind: BlockKind::Input,
            inputs: schema(kind.value, kind.extra_pins),
            outputs: json!({ "type": "object", "properties": { "result": kind.result } }),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Self { spec, default_result, check, example }
    }
}

/// The JSON schema of an input block's inputs: the common ones, the value and the extra pins.
pub(super) fn schema(value: Value, extra_pins: Vec<(&'static str, Value)>) -> Value {
    let text = |description: &str| json!({ "type": ["string", "null"], "default": null, "description": description });
    let flag = |description: &str| json!({ "type": "boolean", "default": false, "description": description });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name of the input." },
            "value": value,
            "title": text("The label shown in the form instead of the name."),
            "description": text("The help text shown in the form."),
            "advanced": flag("Show the field under advanced options."),
            "secret": flag("Hide the value while typing, because it is sensitive."),
        },
        "required": ["name"],
    });
    for (pin, property) in extra_pins {
        schema["properties"][pin] = property;
    }
    schema
}

#[async_trait]
impl Block for AgentInputBlock {
    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        mut input: Map<String, Value>,
        _: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let value = input.remove("value").filter(|value| !value.is_null());
        let Some(value) = value.or_else(|| self.default_result.clone()) else { return Ok(()) };
        (self.check)(&value, &input).map_err(BlockError::Failed)?;
        out.emit("result", value).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let none = match &self.default_result {
            Some(default_result) => vec![("result", default_result.clone())],
            None => vec![],
        };
        vec![
            BlockExample::exactly(
                json!({ "name": "given", "value": self.example }),
                vec![("result", self.example.clone())],
            ),
            BlockExample::exactly(json!({ "name": "empty", "value": null }), none),
        ]
    }
}
