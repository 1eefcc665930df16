//! `ExtractTextInformationBlock`: extracts what a regular expression, or one of its groups, matches.

use super::pattern::{PatternFlags, compile, searchable_text};
use crate::blocks::prelude::*;

/// Limit on matches per text: each match may take time linear in the text length.
const MAX_MATCHES: usize = 1000;

#[derive(Deserialize, JsonSchema)]
struct ExtractTextInput {
    /// The text to search. Other values are searched as JSON.
    text: Value,
    /// The regular expression to search for.
    pattern: String,
    /// The capture group to extract. 0 extracts the whole match.
    #[serde(default)]
    group: usize,
    /// Match uppercase and lowercase letters exactly.
    #[serde(default = "yes")]
    case_sensitive: bool,
    /// Let `.` also match a newline.
    #[serde(default = "yes")]
    dot_all: bool,
    /// Extract all matches (up to 1000) instead of only the first.
    #[serde(default)]
    find_all: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "3146e4fe-2cdd-4f29-bd12-0c9d5bb4deb0",
        "ExtractTextInformationBlock",
        "Extracts the parts of a text that match a regular expression.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([
        pin::text("positive", "Each match, emitted one at a time."),
        pin::any("negative", "The original text, if nothing matched."),
        pin::list("matched_results", "All matches, as a list."),
        pin::integer("matched_count", "The number of matches."),
    ]);
    let found = |input: Value, found: &[&str]| {
        let mut outputs: PinValues = found.iter().map(|text| ("positive", json!(text))).collect();
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: ExtractTextInput) -> Result<PinValues, BlockError> {
    let flags = PatternFlags { case_sensitive: input.case_sensitive, dot_all: input.dot_all };
    let pattern = compile(&input.pattern, flags)?;
    let most = if input.find_all { MAX_MATCHES } else { 1 };
    let found: Vec<Value> = if input.group < pattern.captures_len() {
        let text = searchable_text(&input.text)?;
        let group = |captures: regex::Captures<'_>| {
            captures.get(input.group).map_or(Value::Null, |group| group.as_str().into())
        };
        pattern.captures_iter(&text).take(most).map(group).collect()
    } else {
        Vec::new()
    };
    let mut outputs: PinValues = found.iter().map(|text| ("positive", text.clone())).collect();
    if found.is_empty() {
        outputs.push(("negative", input.text));
    }
    let count = found.len();
    outputs.push(("matched_results", found.into()));
    outputs.push(("matched_count", count.into()));
    Ok(outputs)
}
