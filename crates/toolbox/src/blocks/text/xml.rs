//! `XMLParserBlock`: converts XML to a dictionary.

use super::xml_tree::parse;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ParseXmlInput {
    /// The XML text to parse. It must have a single root element.
    input_xml: String,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "286380af-9529-4b55-8be0-1d7c854abdb5",
        "XMLParserBlock",
        "Converts XML to a dictionary: elements become keys, repeated elements become \
         lists, and attributes become keys that start with @.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::object("parsed_xml", "The XML as a dictionary.")]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: ParseXmlInput) -> Result<PinValues, BlockError> {
    let parsed = parse(&input.input_xml).map_err(|problem| {
        BlockError::failed(format!("The XML could not be parsed: {problem}."))
    })?;
    Ok(vec![("parsed_xml", parsed.into())])
}
