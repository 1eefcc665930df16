//! One way or the other, by a pattern.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::pattern::{Flags, compile, searched};
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, outputs};
use crate::values::is_true;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The text to look at; what is no text is looked at as JSON.
    text: Value,
    /// The pattern, a regular expression.
    r#match: String,
    /// What to pass on; if it is empty, the text.
    data: Value,
    /// Whether capital and small letters differ.
    #[serde(default = "super::yes")]
    case_sensitive: bool,
    /// Whether a dot also stands for the end of a line.
    #[serde(default = "super::yes")]
    dot_all: bool,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "3060088f-6ed9-4928-9ba7-9c92823a7ccd",
        name: "MatchTextPatternBlock",
        description: "Looks for a pattern in a text and passes data on, one way if it is there \
                      and the other way if it is not.",
        categories: &[BlockCategory::Text],
    };
    let examples = vec![
        BlockExample::exactly(
            json!({ "text": "ABC", "match": "ab", "data": "X", "case_sensitive": false }),
            vec![("positive", json!("X"))],
        ),
        BlockExample::exactly(
            json!({ "text": "ABC", "match": "ab", "data": "Y" }),
            vec![("negative", json!("Y"))],
        ),
        BlockExample::exactly(
            json!({ "text": "a\nb", "match": "a.b", "data": "", "dot_all": false }),
            vec![("negative", json!("a\nb"))],
        ),
        BlockExample::exactly(
            json!({ "text": { "a": 1 }, "match": "\"a\":", "data": null }),
            vec![("positive", json!({ "a": 1 }))],
        ),
    ];
    let spec = about.spec::<Input>(outputs([
        any("positive", "The data, if the pattern is there."),
        any("negative", "The data, if it is not."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let flags = Flags { case_sensitive: input.case_sensitive, dot_all: input.dot_all };
    let matches = compile(&input.r#match, flags)?.is_match(&searched(&input.text)?);
    let data = if is_true(&input.data) { input.data } else { input.text };
    Ok(vec![(if matches { "positive" } else { "negative" }, data)])
}
