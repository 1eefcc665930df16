//! Blocks whose inputs are a Rust type: the schema is derived from the type, and inputs are deserialized into it.

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::BlockSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A block with typed inputs. `#[serde(default)]` fields are optional; doc comments become descriptions that users and
/// models read.
#[async_trait]
pub(super) trait TypedBlock: Send + Sync {
    type Input: DeserializeOwned + JsonSchema + Send;

    fn spec(&self) -> &BlockSpec;

    async fn run(
        &self,
        input: Self::Input,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError>;

    fn examples(&self) -> Vec<BlockExample>;
}

/// Adapts a `TypedBlock` to `Block`.
pub(super) struct TypedBlockAdapter<B>(pub(super) B);

#[async_trait]
impl<B: TypedBlock> Block for TypedBlockAdapter<B> {
    fn spec(&self) -> &BlockSpec {
        self.0.spec()
    }

    async fn run(
        &self,
        input: Map<String, Value>,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let input = serde_json::from_value(Value::Object(input))
            .map_err(|error| BlockError::failed(format!("Invalid input: {error}.")))?;
        self.0.run(input, context, out).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        self.0.examples()
    }
}

/// The JSON schema of an input type, without references. The name of the Rust type is not part of it.
pub(super) fn inputs<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    serde_json::to_value(schema).unwrap_or_else(|_| json!({ "type": "object" }))
}

/// The JSON schema of the output pins. Adds the `error` pin.
pub(super) fn outputs<const N: usize>(pins: [(&str, Value); N]) -> Value {
    let mut properties: Map<String, Value> =
        pins.into_iter().map(|(pin, schema)| (pin.to_owned(), schema)).collect();
    properties.entry("error").or_insert_with(
        || json!({ "type": "string", "description": "The error message, if the block fails." }),
    );
    json!({ "type": "object", "properties": properties })
}

/// An output pin of any type.
pub(super) fn any<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    (pin, json!({ "description": description }))
}

pub(super) fn text<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    typed_pin(pin, "string", description)
}

pub(super) fn number<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    typed_pin(pin, "number", description)
}

pub(super) fn integer<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    typed_pin(pin, "integer", description)
}

pub(super) fn boolean<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    typed_pin(pin, "boolean", description)
}

pub(super) fn list<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    (pin, json!({ "type": "array", "items": {}, "description": description }))
}

pub(super) fn object<'a>(pin: &'a str, description: &str) -> (&'a str, Value) {
    (pin, json!({ "type": "object", "additionalProperties": true, "description": description }))
}

fn typed_pin<'a>(pin: &'a str, kind: &str, description: &str) -> (&'a str, Value) {
    (pin, json!({ "type": kind, "description": description }))
}
