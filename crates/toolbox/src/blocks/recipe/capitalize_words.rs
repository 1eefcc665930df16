//! `CapitalizeWordsBlock`: capitalizes the first letter of every word.

use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct CapitalizeWordsInput {
    /// The words to capitalize, separated by spaces.
    text: String,
    /// Change all other letters to lowercase.
    #[serde(default)]
    lowercase_rest: bool,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "5f0c8a3e-4b6d-4c1e-9a57-2d9b1e7f6c40",
        "CapitalizeWordsBlock",
        "Capitalizes the first letter of every word.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::text("output", "The capitalized text.")]);
    let examples = vec![
        BlockExample::exactly(
            json!({ "text": "a USB port" }),
            vec![("output", json!("A USB Port"))],
        ),
        BlockExample::exactly(
            json!({ "text": "NO shouting", "lowercase_rest": true }),
            vec![("output", json!("No Shouting"))],
        ),
    ];
    vec![block(spec, examples, Pure(run))]
}

fn run(input: CapitalizeWordsInput) -> Result<PinValues, BlockError> {
    let capitalize = |word: &str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        let rest = if input.lowercase_rest { rest.to_lowercase() } else { rest.to_owned() };
        first.to_uppercase() + &rest
    };
    let words: Vec<String> = input.text.split(' ').map(capitalize).collect();
    Ok(vec![("output", words.join(" ").into())])
}
