//! `JSONEncoderBlock` and `JSONDecoderBlock`: convert values to JSON text and back.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct EncodeJsonInput {
    /// The value to convert.
    data: Value,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    vec![decoder(), encoder()]
}

fn encoder() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "9a9d20c5-5b4d-4e94-8022-83b6cb72648a",
        "JSONEncoderBlock",
        "Converts any value to JSON text.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::text("json_str", "The JSON text.")]);
    let example = BlockExample::exactly(
        json!({ "data": { "name": "Ann", "ok": true } }),
        vec![("json_str", json!("{\"name\":\"Ann\",\"ok\":true}"))],
    );
    block(spec, vec![example], Pure(encode))
}

fn encode(input: EncodeJsonInput) -> Result<PinValues, BlockError> {
    Ok(vec![("json_str", input.data.to_string().into())])
}

#[derive(Deserialize, JsonSchema)]
struct DecodeJsonInput {
    /// The JSON text to parse.
    json_str: String,
}

fn decoder() -> Arc<dyn Block> {
    let spec = BlockSpec::new(
        "2b935639-65bc-48fd-9f88-823cd706fcd9",
        "JSONDecoderBlock",
        "Parses JSON text into a value.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::any("data", "The parsed value.")]);
    let example = BlockExample::exactly(
        json!({ "json_str": "{\"name\": \"Ann\"}" }),
        vec![("data", json!({ "name": "Ann" }))],
    );
    block(spec, vec![example], Pure(decode))
}

fn decode(input: DecodeJsonInput) -> Result<PinValues, BlockError> {
    let value: Value = serde_json::from_str(&input.json_str)
        .map_err(|error| BlockError::failed(format!("The text is not valid JSON: {error}.")))?;
    Ok(vec![("data", value)])
}
