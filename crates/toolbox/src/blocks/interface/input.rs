//! The input block: emits the value that the agent was started with.

use crate::blocks::prelude::*;

/// A field of the form that starts an agent: what distinguishes one input block from another.
pub(crate) struct InputField {
    value: Value,
    extra_pins: Vec<(&'static str, Value)>,
    default_result: Option<Value>,
    check: ValueCheck,
}

/// Checks a value, with the other inputs of the block. The error is shown to the user.
type ValueCheck = fn(&Value, &Map<String, Value>) -> Result<(), String>;

impl InputField {
    /// A field with the JSON schema of its value. It accepts every value, and emits nothing if it has none.
    pub(crate) fn new(value: Value) -> Self {
        Self { value, extra_pins: Vec::new(), default_result: None, check: |_, _| Ok(()) }
    }

    /// An input pin in addition to the common ones.
    pub(crate) fn extra_pin(mut self, pin: &'static str, schema: Value) -> Self {
        self.extra_pins.push((pin, schema));
        self
    }

    /// The result if there is no value.
    pub(crate) fn default_result(self, result: Value) -> Self {
        Self { default_result: Some(result), ..self }
    }

    pub(crate) fn check(self, check: ValueCheck) -> Self {
        Self { check, ..self }
    }

    /// The block of this field. `result` is the JSON schema of its output.
    pub(crate) fn block(self, spec: BlockSpec, result: Value, example: Value) -> Arc<dyn Block> {
        let spec = spec.interface_outputs([("result", result)]);
        let none = self.default_result.iter().map(|value| ("result", value.clone())).collect();
        let examples = vec![
            BlockExample::exactly(
                json!({ "name": "given", "value": example }),
                vec![("result", example)],
            ),
            BlockExample::exactly(json!({ "name": "empty", "value": null }), none),
        ];
        block(spec, examples, self)
    }
}

/// The spec of a block that is an input of its agent.
pub(crate) fn input_spec(
    id: &'static str,
    name: &'static str,
    description: &'static str,
) -> BlockSpec {
    BlockSpec::new(id, name, description)
        .categories(&[BlockCategory::Input, BlockCategory::Basic])
        .kind(BlockKind::Input)
        .static_output()
}

/// The JSON schema of an input block's inputs: the common ones, the value and the extra pins.
pub(crate) fn input_schema(value: &Value, extra_pins: &[(&str, Value)]) -> Value {
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
        schema["properties"][*pin] = property.clone();
    }
    schema
}

#[async_trait]
impl TypedBlock for InputField {
    type Input = Map<String, Value>;

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

    fn inputs(&self) -> Value {
        input_schema(&self.value, &self.extra_pins)
    }
}
