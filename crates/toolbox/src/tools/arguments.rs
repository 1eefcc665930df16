//! Schemas and parsing of tool arguments. Both come from one Rust type, so the schema that the model sees and what the
//! tool accepts cannot differ.

use ports::tool::ToolError;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The schema of `T` without references, titles and formats, which only cost tokens.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schemars::transform::transform_subschemas(&mut PlainSchema, &mut schema);
    schemars::transform::Transform::transform(&mut PlainSchema, &mut schema);
    schema.remove("description");
    schema.to_value()
}

#[derive(Clone)]
struct PlainSchema;

impl schemars::transform::Transform for PlainSchema {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("title");
        schema.remove("format");
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        schemars::transform::transform_subschemas(self, schema);
    }
}

/// The engine has already checked the arguments against the schema; this finds violations that a schema cannot express.
pub(crate) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| {
        ToolError::tell("invalid_arguments", format!("Invalid arguments: {error}."))
    })
}

/// The argument, trimmed; `None` when it is absent or blank.
pub(crate) fn non_empty(argument: Option<&String>) -> Option<&str> {
    argument.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Serde default of options that are on unless turned off.
pub(crate) fn yes() -> bool {
    true
}
