//! `XMLParserBlock`: converts XML to a dictionary.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::xml_tree::parse;
use crate::blocks::pure::{BlockIdentity, PinValues, pure};
use crate::blocks::typed::{object, outputs};

#[derive(Deserialize, JsonSchema)]
struct ParseXmlInput {
    /// The XML text to parse. It must have a single root element.
    input_xml: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "286380af-9529-4b55-8be0-1d7c854abdb5",
        name: "XMLParserBlock",
        description: "Converts XML to a dictionary: elements become keys, repeated elements become \
                      lists, and attributes become keys that start with @.",
        categories: &[BlockCategory::Data],
    };
    let examples = vec![
        BlockExample::exactly(
            json!({ "input_xml": "<a><b>text</b></a>" }),
            vec![("parsed_xml", json!({ "a": { "b": "text" } }))],
        ),
        BlockExample::exactly(
            json!({ "input_xml": "<list size='2'><item>1</item><item>2 &amp; more</item></list>" }),
            vec![("parsed_xml", json!({ "list": { "@size": "2", "item": ["1", "2 & more"] } }))],
        ),
    ];
    let spec =
        identity.spec::<ParseXmlInput>(outputs([object("parsed_xml", "The XML as a dictionary.")]));
    pure(spec, run, examples)
}

fn run(input: ParseXmlInput) -> Result<PinValues, BlockError> {
    let parsed = parse(&input.input_xml).map_err(|problem| {
        BlockError::failed(format!("The XML could not be parsed: {problem}."))
    })?;
    Ok(vec![("parsed_xml", parsed.into())])
}
