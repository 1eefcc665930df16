//! `JSONEncoderBlock` and `JSONDecoderBlock`: convert values to JSON text and back.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{any, outputs, text};

#[derive(Deserialize, JsonSchema)]
struct EncodeJsonInput {
    /// The value to convert.
    data: Value,
}

pub(super) fn encoder() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "9a9d20c5-5b4d-4e94-8022-83b6cb72648a",
        name: "JSONEncoderBlock",
        description: "Converts any value to JSON text.",
        categories: &[BlockCategory::Data],
    };
    let example = BlockExample::exactly(
        json!({ "data": { "name": "Ann", "ok": true } }),
        vec![("json_str", json!("{\"name\":\"Ann\",\"ok\":true}"))],
    );
    let spec = identity.spec::<EncodeJsonInput>(outputs([text("json_str", "The JSON text.")]));
    pure(spec, encode, vec![example])
}

fn encode(input: EncodeJsonInput) -> Result<PinValues, BlockError> {
    Ok(vec![("json_str", input.data.to_string().into())])
}

#[derive(Deserialize, JsonSchema)]
struct DecodeJsonInput {
    /// The JSON text to parse.
    json_str: String,
}

pub(super) fn decoder() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "2b935639-65bc-48fd-9f88-823cd706fcd9",
        name: "JSONDecoderBlock",
        description: "Parses JSON text into a value.",
        categories: &[BlockCategory::Data],
    };
    let example = BlockExample::exactly(
        json!({ "json_str": "{\"name\": \"Ann\"}" }),
        vec![("data", json!({ "name": "Ann" }))],
    );
    let spec = identity.spec::<DecodeJsonInput>(outputs([any("data", "The parsed value.")]));
    pure(spec, decode, vec![example])
}

fn decode(input: DecodeJsonInput) -> Result<PinValues, BlockError> {
    let value: Value = serde_json::from_str(&input.json_str)
        .map_err(|error| BlockError::failed(format!("The text is not valid JSON: {error}.")))?;
    Ok(vec![("data", value)])
}
