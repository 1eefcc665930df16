//! Agents that read a web page: they look for a word in it, or describe it.

use serde_json::json;

use super::{AgentKind, clean_name};
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "read a web page and raise an alarm if it contains a word",
    example: "An agent that reads https://example.com and raises an alarm if it contains the word “sold out”",
    fits,
    draft,
    reads_page: true,
};

const PAGES: &[&str] = &[
    "web page*",
    "webpage*",
    "website*",
    "web site*",
    "site",
    "sites",
    "page",
    "pages",
    "homepage",
    "home page",
    "url",
    "web address",
];
const READS: &[&str] = &[
    "read*",
    "check*",
    "watch*",
    "monitor*",
    "fetch*",
    "open*",
    "visit*",
    "look*",
    "load*",
    "scan*",
    "search*",
    "get*",
    "download*",
];
const SEARCHES: &[&str] = &[
    "contain*",
    "mention*",
    "word",
    "words",
    "term",
    "phrase",
    "keyword*",
    "says",
    "say",
    "includes",
    "shows",
    "appears",
    "find*",
    "look* for",
    "search* for",
    "has the",
    "alarm*",
    "alert*",
    "warn*",
];

fn fits(goal: &Goal<'_>) -> bool {
    goal.has(PAGES) || (goal.page().is_some() && goal.has(READS) && !goal.has(&["csv", "invoice*"]))
}

/// The word to look for, if the goal names one.
fn word(goal: &Goal<'_>) -> Option<String> {
    if let Some(quoted) = goal.quoted().first() {
        return Some((*quoted).trim().to_owned());
    }
    const STOPS: [&str; 10] =
        ["and", "on", "in", "then", "or", "at", "is", "appears", "to", "from"];
    let words = &goal.words;
    let phrases = [
        "the word",
        "the term",
        "the phrase",
        "the keyword",
        "the words",
        "the text",
        "word",
        "mentions",
        "mention",
        "contains",
        "contain",
        "containing",
        "says",
        "includes",
        "shows",
        "look for",
        "looks for",
        "search for",
        "searches for",
        "finds",
    ];
    let found = phrases.iter().filter_map(|phrase| words.find(phrase)).map(|(_, after)| after);
    let mut named = found.map(|from| clean_name(words.clause_from(from, &STOPS)));
    let generic = [
        "",
        "a word",
        "a certain word",
        "the word",
        "a given word",
        "a keyword",
        "something",
        "word",
        "it",
    ];
    named
        .find(|word| !generic.contains(&word.to_lowercase().as_str()) && word.chars().count() <= 60)
}

const FOUND: &str = "{% if word | lower in content | string | lower %}yes{% else %}no{% endif %}";

fn draft(goal: &Goal<'_>) -> AgentDraft {
    let page = goal.page().unwrap_or_else(|| "https://example.com/".to_owned());
    let named = word(goal);
    match named.is_some() || goal.has(SEARCHES) {
        true => watch(&page, &named.unwrap_or_else(|| "Example".to_owned())),
        false => describe(&page),
    }
}

fn watch(page: &str, word: &str) -> AgentDraft {
    let inputs = json!({
        "page": {"type": "string", "default": page, "title": "Page", "description": "The address of the page"},
        "word": {"type": "string", "default": word, "title": "Word", "description": "What to look for"},
    });
    let steps = json!({
        "fetch": {"block": "Send Web Request", "label": "Read the page", "url": "inputs.page", "method": "GET"},
        "found": {
            "block": "Fill Text Template", "label": "Look for the word", "format": FOUND,
            "values": {"word": "inputs.word", "content": "fetch.response"},
        },
        "check": {
            "block": "Condition", "label": "Raise the alarm if it is there",
            "value1": "found.output", "operator": "==", "value2": "yes",
            "yes_value": "Alarm: {{page}} contains “{{word}}”.",
            "no_value": "{{page}} does not contain “{{word}}”.",
        },
        "unreadable": unreadable(),
    });
    let outputs = json!({
        "report": {"$any": ["check.yes_output", "check.no_output", "unreadable.output"]},
    });
    AgentDraft {
        name: "Page watch".to_owned(),
        description: "Reads a web page and raises an alarm if it contains a word.".to_owned(),
        inputs: members(inputs),
        steps: members(steps),
        outputs: members(outputs),
        product: Product {
            noun: "alarm",
            from: "check.yes_output".to_owned(),
            otherwise: vec!["check.no_output".to_owned(), "unreadable.output".to_owned()],
        },
    }
}

fn describe(page: &str) -> AgentDraft {
    let inputs = json!({
        "page": {"type": "string", "default": page, "title": "Page", "description": "The address of the page"},
    });
    let steps = json!({
        "fetch": {"block": "Send Web Request", "label": "Read the page", "url": "inputs.page", "method": "GET"},
        "content": {
            "block": "Fill Text Template", "label": "Keep its text",
            "format": "{{fetch.response | string | striptags}}",
        },
        "counted": {"block": "Word Character Count", "label": "Count its words", "text": "content.output"},
        "summary": {
            "block": "Fill Text Template", "label": "Write the report",
            "format": "{{page}} has {{counted.word_count}} words. It begins: {{content.output | truncate(300)}}",
        },
        "unreadable": unreadable(),
    });
    AgentDraft {
        name: "Page report".to_owned(),
        description: "Reads a web page and reports how long it is and how it begins.".to_owned(),
        inputs: members(inputs),
        steps: members(steps),
        outputs: members(json!({"report": {"$any": ["summary.output", "unreadable.output"]}})),
        product: Product {
            noun: "report",
            from: "summary.output".to_owned(),
            otherwise: vec!["unreadable.output".to_owned()],
        },
    }
}

fn unreadable() -> serde_json::Value {
    json!({
        "block": "Fill Text Template",
        "label": "Say why it cannot be read",
        "format": "{{page}} could not be read: {{reason | string | truncate(300)}}",
        "values": {"reason": {"$any": ["fetch.client_error", "fetch.server_error", "fetch.error"]}},
    })
}
