//! XML as a dictionary.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::xml_tree::parse;
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{object, outputs};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The XML text, with one element around everything.
    input_xml: String,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "286380af-9529-4b55-8be0-1d7c854abdb5",
        name: "XMLParserBlock",
        description: "Reads XML as a dictionary: elements become keys, repeated elements become \
                      lists, and attributes become keys that begin with @.",
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
    let spec = about.spec::<Input>(outputs([object("parsed_xml", "The dictionary.")]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let parsed = parse(&input.input_xml)
        .map_err(|problem| BlockError::failed(format!("The XML cannot be read: {problem}.")))?;
    Ok(vec![("parsed_xml", parsed.into())])
}
