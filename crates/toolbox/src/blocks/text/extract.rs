//! The parts of a text that a pattern names.

use std::sync::Arc;

use ports::Block;
use ports::block::{BlockError, BlockExample};
use protocol::block::BlockCategory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::pattern::{Flags, compile, searched};
use crate::blocks::pure::{About, Outputs, pure};
use crate::blocks::typed::{any, integer, list, outputs, text};

/// More matches of one text are not looked for: each may take as long as the text.
const MOST_MATCHES: usize = 1000;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The text to look in; what is no text is looked at as JSON.
    text: Value,
    /// The pattern, a regular expression.
    pattern: String,
    /// Which group of the pattern to take; 0 for all that it matches.
    #[serde(default)]
    group: usize,
    /// Whether capital and small letters differ.
    #[serde(default = "super::yes")]
    case_sensitive: bool,
    /// Whether a dot also stands for the end of a line.
    #[serde(default = "super::yes")]
    dot_all: bool,
    /// Whether to take every match, up to 1000, instead of the first.
    #[serde(default)]
    find_all: bool,
}

pub(super) fn block() -> Arc<dyn Block> {
    let about = About {
        id: "3146e4fe-2cdd-4f29-bd12-0c9d5bb4deb0",
        name: "ExtractTextInformationBlock",
        description: "Takes from a text what matches a pattern, or a group of it.",
        categories: &[BlockCategory::Text],
    };
    let found = |input: Value, found: &[&str]| {
        let mut outputs: Outputs = found.iter().map(|text| ("positive", json!(text))).collect();
        if found.is_empty() {
            outputs.push(("negative", input["text"].clone()));
        }
        outputs.push(("matched_results", json!(found)));
        outputs.push(("matched_count", json!(found.len())));
        BlockExample::exactly(input, outputs)
    };
    let names = "Ann: 1\nBob: 22";
    let examples = vec![
        found(json!({ "text": names, "pattern": "(\\w+): (\\d+)" }), &["Ann: 1"]),
        found(
            json!({ "text": names, "pattern": "(\\w+): (\\d+)", "group": 2, "find_all": true }),
            &["1", "22"],
        ),
        found(json!({ "text": names, "pattern": "ann", "case_sensitive": false }), &["Ann"]),
        found(json!({ "text": names, "pattern": "(A)", "group": 5 }), &[]),
        found(json!({ "text": [1], "pattern": "x" }), &[]),
    ];
    let spec = about.spec::<Input>(outputs([
        text("positive", "What was found, one by one."),
        any("negative", "The text, if nothing was found."),
        list("matched_results", "All that was found."),
        integer("matched_count", "How much was found."),
    ]));
    pure(spec, run, examples)
}

fn run(input: Input) -> Result<Outputs, BlockError> {
    let flags = Flags { case_sensitive: input.case_sensitive, dot_all: input.dot_all };
    let pattern = compile(&input.pattern, flags)?;
    let most = if input.find_all { MOST_MATCHES } else { 1 };
    let found: Vec<Value> = if input.group < pattern.captures_len() {
        let text = searched(&input.text)?;
        let group = |captures: regex::Captures<'_>| {
            captures.get(input.group).map_or(Value::Null, |group| group.as_str().into())
        };
        pattern.captures_iter(&text).take(most).map(group).collect()
    } else {
        Vec::new()
    };
    let mut outputs: Outputs = found.iter().map(|text| ("positive", text.clone())).collect();
    if found.is_empty() {
        outputs.push(("negative", input.text));
    }
    let count = found.len();
    outputs.push(("matched_results", found.into()));
    outputs.push(("matched_count", count.into()));
    Ok(outputs)
}
