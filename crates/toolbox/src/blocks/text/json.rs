//! JSON as a text, and back.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, outputs, text};

#[derive(Deserialize, JsonSchema)]
struct Encode {
    /// Any value.
    data: Value,
}

pub(super) fn encoder() -> Arc<dyn Block> {
    let about = About {
        id: "9a9d20c5-5b4d-4e94-8022-83b6cb72648a",
        name: "JSONEncoderBlock",
        description: "Writes any value as JSON text.",
        categories: &[BlockCategory::Data],
    };
    let example = BlockExample::exactly(
        json!({ "data": { "name": "Ann", "ok": true } }),
        vec![("json_str", json!("{\"name\":\"Ann\",\"ok\":true}"))],
    );
    let spec = about.spec::<Encode>(outputs([text("json_str", "The JSON text.")]));
    pure(spec, run_encode, vec![example])
}

fn run_encode(input: Encode) -> Result<Outputs, BlockError> {
    Ok(vec![("json_str", input.data.to_string().into())])
}

#[derive(Deserialize, JsonSchema)]
struct Decode {
    /// The JSON text.
    json_str: String,
}

pub(super) fn decoder() -> Arc<dyn Block> {
    let about = About {
        id: "2b935639-65bc-48fd-9f88-823cd706fcd9",
        name: "JSONDecoderBlock",
        description: "Reads JSON text as the value that it stands for.",
        categories: &[BlockCategory::Data],
    };
    let example = BlockExample::exactly(
        json!({ "json_str": "{\"name\": \"Ann\"}" }),
        vec![("data", json!({ "name": "Ann" }))],
    );
    let spec = about.spec::<Decode>(outputs([any("data", "The value.")]));
    pure(spec, run_decode, vec![example])
}

fn run_decode(input: Decode) -> Result<Outputs, BlockError> {
    let value: Value = serde_json::from_str(&input.json_str)
        .map_err(|error| BlockError::failed(format!("The text is no JSON: {error}.")))?;
    Ok(vec![("data", value)])
}
