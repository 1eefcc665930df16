//! A tool's arguments are a Rust type; the schema the model sees is derived from it, so the two cannot differ.

use ports::tool::ToolError;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The schema of `T` as one plain object: nothing to look up elsewhere, and no words that only cost tokens.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schemars::transform::transform_subschemas(&mut Plain, &mut schema);
    schemars::transform::Transform::transform(&mut Plain, &mut schema);
    schema.remove("description");
    schema.to_value()
}

#[derive(Clone)]
struct Plain;

impl schemars::transform::Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("title");
        schema.remove("format");
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        schemars::transform::transform_subschemas(self, schema);
    }
}

/// They were checked against the schema before; what is left are rules that a schema cannot say.
pub(super) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| {
        ToolError::tell("invalid_arguments", format!("Invalid arguments: {error}."))
    })
}
