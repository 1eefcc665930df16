//! `MatchTextPatternBlock`: routes data by whether a text matches a regular expression.

use super::pattern::{PatternFlags, compile, searchable_text};
use crate::blocks::prelude::*;
use crate::values::is_true;

#[derive(Deserialize, JsonSchema)]
struct MatchPatternInput {
    /// The text to test. Other values are tested as JSON.
    text: Value,
    /// The regular expression to look for.
    r#match: String,
    /// The value to pass on. If empty, the text is passed on.
    data: Value,
    /// Match uppercase and lowercase letters exactly.
    #[serde(default = "yes")]
    case_sensitive: bool,
    /// Let `.` also match a newline.
    #[serde(default = "yes")]
    dot_all: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "3060088f-6ed9-4928-9ba7-9c92823a7ccd",
        "MatchTextPatternBlock",
        "Tests a text against a regular expression and routes data to the positive or \
         negative output.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([
        pin::any("positive", "The data, if the text matches."),
        pin::any("negative", "The data, if the text does not match."),
    ]);
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
    vec![block(spec, examples, Pure(run))]
}

fn run(input: MatchPatternInput) -> Result<PinValues, BlockError> {
    let flags = PatternFlags { case_sensitive: input.case_sensitive, dot_all: input.dot_all };
    let matches = compile(&input.r#match, flags)?.is_match(&searchable_text(&input.text)?);
    let data = if is_true(&input.data) { input.data } else { input.text };
    Ok(vec![(if matches { "positive" } else { "negative" }, data)])
}
