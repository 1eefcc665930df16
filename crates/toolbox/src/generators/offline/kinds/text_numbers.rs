//! Agents that describe a text in numbers.

use serde_json::json;

use super::AgentKind;
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "describe a text in numbers: words, sentences, longest word, reading time",
    example: "An agent that summarizes a text in numbers",
    fits,
    draft,
    reads_page: false,
};

const COUNTS: &[&str] = &[
    "count*",
    "numbers",
    "statistics",
    "stats",
    "how many",
    "how long",
    "number of",
    "figures",
    "measure*",
    "analyz*",
    "analys*",
    "longest word",
    "reading time",
    "word count",
    "length",
];
const TEXTS: &[&str] = &[
    "text",
    "texts",
    "word",
    "words",
    "sentence*",
    "essay*",
    "article*",
    "paragraph*",
    "character*",
    "letter",
    "document*",
    "speech*",
    "story",
    "stories",
    "blog post",
    "writing",
];

fn fits(goal: &Goal<'_>) -> bool {
    goal.has(COUNTS) && goal.has(TEXTS) && !goal.has(&["csv", "spreadsheet*", "column*", "rows"])
}

/// A sentence ends with a mark that a space or the end follows, so `3.5` does not end one.
const SENTENCE: &str = r"\S[^.!?]*(?:[.!?]+(?:\s|$)|$)";
const LONGEST: &str = "{% set words = text.split() | map('trim', '.,;:!?()\"') | list %}\
                       {% set most = words | map('length') | max %}\
                       {% for word in words if word | length == most %}\
                       {% if loop.first %}{{ word }}{% endif %}{% endfor %}";

fn draft(_: &Goal<'_>) -> AgentDraft {
    let inputs = json!({
        "text": {
            "type": "text", "title": "Text",
            "default": "The pilot takes the ship into the harbor. The crew makes it fast!",
        },
    });
    let steps = json!({
        "counted": {"block": "Word Character Count", "label": "Count words and characters", "text": "inputs.text"},
        "sentences": {
            "block": "Extract Text Information", "label": "Count the sentences", "text": "inputs.text",
            "pattern": SENTENCE, "find_all": true,
        },
        "longest": {
            "block": "Fill Text Template", "label": "Find the longest word", "format": LONGEST,
            "values": {"text": "inputs.text"},
        },
        "minutes": {
            "block": "Calculator", "label": "Estimate the reading time", "operation": "Divide",
            "a": "counted.word_count", "b": 200,
        },
        "summary": {
            "block": "Fill Text Template", "label": "Write the summary",
            "format": "{{counted.word_count}} words, {{counted.character_count}} characters, \
                       {{sentences.matched_count}} sentences. The longest word is “{{longest.output}}”. \
                       Reading it takes about {{minutes.result | round(1)}} minutes.",
        },
    });
    let outputs = json!({
        "words": "counted.word_count",
        "characters": "counted.character_count",
        "sentences": "sentences.matched_count",
        "longest_word": "longest.output",
        "summary": "summary.output",
    });
    AgentDraft {
        name: "Text in numbers".to_owned(),
        description: "Counts the words, characters and sentences of a text, finds its longest word and estimates the \
                      reading time."
            .to_owned(),
        inputs: members(inputs),
        steps: members(steps),
        outputs: members(outputs),
        product: Product { noun: "summary", from: "summary.output".to_owned(), otherwise: Vec::new() },
    }
}
