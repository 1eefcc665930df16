//! The input block: gives the value that the agent was started with, for as long as the run lasts.

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde_json::{Map, Value, json};

/// What makes one input block different from the next.
pub(super) struct InputKind {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// Schema of `value`.
    pub(super) value: Value,
    /// Pins besides those that all have.
    pub(super) more: Vec<(&'static str, Value)>,
    /// Schema of `result`.
    pub(super) result: Value,
    /// What is given when there is no value.
    pub(super) absent: Option<Value>,
    pub(super) check: fn(&Value, &Map<String, Value>) -> Result<(), String>,
    pub(super) example: Value,
}

pub(super) struct AgentInput {
    spec: BlockSpec,
    absent: Option<Value>,
    check: fn(&Value, &Map<String, Value>) -> Result<(), String>,
    example: Value,
}

impl AgentInput {
    pub(super) fn new(kind: InputKind) -> Self {
        let InputKind { absent, check, example, .. } = kind;
        let spec = BlockSpec {
            id: kind.id,
            name: kind.name,
            description: kind.description,
            categories: &[BlockCategory::Input, BlockCategory::Basic],
            kind: BlockKind::Input,
            inputs: schema(kind.value, kind.more),
            outputs: json!({ "type": "object", "properties": { "result": kind.result } }),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Self { spec, absent, check, example }
    }
}

/// The inputs that every input block has, with the value of this one.
pub(super) fn schema(value: Value, more: Vec<(&'static str, Value)>) -> Value {
    let text = |description: &str| json!({ "type": ["string", "null"], "default": null, "description": description });
    let flag = |description: &str| json!({ "type": "boolean", "default": false, "description": description });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "What the agent calls this input." },
            "value": value,
            "title": text("What a form shows instead of the name."),
            "description": text("What a person should enter."),
            "advanced": flag("Whether a form hides it among the details."),
            "secret": flag("Whether a form hides what is typed."),
        },
        "required": ["name"],
    });
    for (pin, property) in more {
        schema["properties"][pin] = property;
    }
    schema
}

#[async_trait]
impl Block for AgentInput {
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
        let Some(value) = value.or_else(|| self.absent.clone()) else { return Ok(()) };
        (self.check)(&value, &input).map_err(BlockError::Failed)?;
        out.emit("result", value).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let none = match &self.absent {
            Some(absent) => vec![("result", absent.clone())],
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
