//! Agents that clean or convert a text, in as many steps as the goal names.

use serde_json::{Map, Value, json};

use super::AgentKind;
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "clean or convert a text: spaces, HTML, case, lines, replacements",
    example: "An agent that removes HTML tags and extra spaces from a text and converts it to upper case",
    fits,
    draft,
    reads_page: false,
};

/// A conversion, as a template of `text`.
struct TextConversion {
    words: &'static [&'static str],
    step: &'static str,
    label: &'static str,
    format: &'static str,
}

/// In the order in which they make sense.
const CONVERSIONS: [TextConversion; 9] = [
    TextConversion {
        words: &["html", "tags", "markup"],
        step: "without_tags",
        label: "Remove HTML tags",
        format: "{{ text | striptags }}",
    },
    TextConversion {
        words: &[
            "space",
            "spaces",
            "whitespace",
            "trim*",
            "tidy",
            "tidies",
            "tidying",
            "clean up",
            "cleans up",
            "cleaning up",
            "empty lines",
            "blank lines",
        ],
        step: "tidied",
        label: "Remove extra spaces and empty lines",
        format: "{% set kept %}{% for line in text.splitlines() if line.strip() %}{{ line.split() | join(' ') }}\n\
                 {% endfor %}{% endset %}{{ kept | trim }}",
    },
    TextConversion {
        words: &["duplicate*", "repeated", "unique", "deduplicat*", "twice"],
        step: "unique_lines",
        label: "Remove repeated lines",
        format: "{{ text | lines | unique | join('\n') }}",
    },
    TextConversion {
        words: &["sort", "sorts", "sorted", "sorting", "alphabetical*", "alphabetiz*"],
        step: "sorted_lines",
        label: "Sort the lines",
        format: "{{ text | lines | sort | join('\n') }}",
    },
    TextConversion {
        words: &["reverse", "reverses", "reversed", "backwards"],
        step: "reversed",
        label: "Reverse the text",
        format: "{{ text | reverse }}",
    },
    TextConversion {
        words: &[
            "upper case",
            "uppercase*",
            "upper-case",
            "capital letters",
            "capitals",
            "all caps",
        ],
        step: "upper_case",
        label: "Convert to upper case",
        format: "{{ text | upper }}",
    },
    TextConversion {
        words: &["lower case", "lowercase*", "lower-case", "small letters"],
        step: "lower_case",
        label: "Convert to lower case",
        format: "{{ text | lower }}",
    },
    TextConversion {
        words: &["title case", "titlecase", "title-case", "capitalize*", "capitalise*", "heading*"],
        step: "title_case",
        label: "Convert to title case",
        format: "{{ text | title }}",
    },
    TextConversion {
        words: &["slug", "slugs", "file name", "url-friendly", "hyphens"],
        step: "slug",
        label: "Write it with hyphens",
        format: "{{ text | lower | replace('.', '') | replace(',', '') | split | join('-') }}",
    },
];

const CLEANS: &[&str] = &["clean", "cleans", "cleaning", "cleaned", "normaliz*", "sanitiz*"];
const TEXTS: &[&str] = &[
    "text",
    "texts",
    "line",
    "lines",
    "list",
    "name",
    "names",
    "title*",
    "sentence*",
    "string*",
    "word",
    "words",
    "note",
    "notes",
];

fn fits(goal: &Goal<'_>) -> bool {
    CONVERSIONS.iter().any(|conversion| goal.has(conversion.words))
        || replacement(goal).is_some()
        || (goal.has(CLEANS) && goal.has(TEXTS))
}

/// The text to replace and the one to put in its place: replace "a" with "b".
fn replacement(goal: &Goal<'_>) -> Option<(String, String)> {
    if !goal.has(&["replac*", "substitut*", "swap*", "exchang*"]) {
        return None;
    }
    if let [old, new, ..] = goal.quoted()[..] {
        return Some((old.to_owned(), new.to_owned()));
    }
    let words = &goal.words;
    let from = words.after(&[
        "replaces",
        "replace",
        "replacing",
        "substitutes",
        "substitute",
        "swaps",
        "exchanges",
    ])?;
    let (at, after) =
        words.find("with").or_else(|| words.find("by")).filter(|(at, _)| *at > from)?;
    let skip = |from: usize| match words.word(from) {
        Some("the" | "every" | "each" | "all" | "word") if from + 1 < at => from + 1,
        _ => from,
    };
    let old = words.span(skip(skip(from)), at);
    let new = words.clause_from(after, &["and", "in", "then", "everywhere"]);
    (!old.is_empty() && !new.is_empty()).then(|| (old.to_owned(), new.to_owned()))
}

fn draft(goal: &Goal<'_>) -> AgentDraft {
    let mut inputs = members(json!({
        "text": {
            "type": "text", "title": "Text",
            "default": "  <b>Good morning</b>,   harbor! \n\nThe pilot is on board.\nThe pilot is on board.",
        },
    }));
    let mut steps = Map::new();
    let mut from = "inputs.text".to_owned();
    if let Some((old, new)) = replacement(goal) {
        inputs.extend(members(json!({
            "old": {"type": "string", "default": old, "title": "Text to replace"},
            "new": {"type": "string", "default": new, "title": "Replacement"},
        })));
        let step = json!({
            "block": "Text Replace", "label": "Replace the text", "text": from, "old": "inputs.old", "new": "inputs.new",
        });
        steps.insert("replaced".to_owned(), step);
        from = "replaced.output".to_owned();
    }
    let named: Vec<&TextConversion> =
        CONVERSIONS.iter().filter(|conversion| goal.has(conversion.words)).collect();
    // "Cleans a text" alone means its spaces.
    let [_, tidy, ..] = &CONVERSIONS;
    let chosen = if named.is_empty() && steps.is_empty() { vec![tidy] } else { named };
    for conversion in chosen {
        let step: Value = json!({
            "block": "Fill Text Template", "label": conversion.label, "format": conversion.format,
            "values": {"text": from},
        });
        steps.insert(conversion.step.to_owned(), step);
        from = format!("{}.output", conversion.step);
    }
    let does: Vec<&str> = steps.values().filter_map(|step| step["label"].as_str()).collect();
    let description = format!("Cleans or converts a text. Steps: {}.", does.join("; "));
    AgentDraft {
        name: "Text converter".to_owned(),
        description,
        inputs,
        outputs: members(json!({ "text": from })),
        steps,
        product: Product { noun: "text", from, otherwise: Vec::new() },
    }
}
