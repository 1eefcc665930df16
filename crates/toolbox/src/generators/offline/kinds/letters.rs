//! Agents that write a letter for each row of a table.

use serde_json::{Value, json};

use super::AgentKind;
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "write a letter, reminder or invitation for each row of a table",
    example: "An agent that writes a payment reminder for each row of a table",
    fits,
    draft,
    reads_page: false,
};

const LETTERS: &[&str] = &[
    "letter",
    "letters",
    "reminder*",
    "invitation*",
    "invite*",
    "email",
    "emails",
    "e-mail",
    "e-mails",
    "thank-you*",
    "thank you*",
    "greeting*",
    "message",
    "messages",
    "certificate*",
    "mail merge",
    "remind*",
    "congratulat*",
    "note",
    "notes",
];
const EACH: &[&str] = &[
    "each",
    "every",
    "per",
    "rows",
    "row",
    "table",
    "list",
    "all",
    "everyone",
    "everybody",
    "customers",
    "members",
    "guests",
    "people",
    "clients",
    "names",
    "template",
    "csv",
    "crew",
];
const WRITES: &[&str] = &[
    "writ*",
    "draft*",
    "make*",
    "create*",
    "generate*",
    "compos*",
    "fill*",
    "prepare*",
    "remind*",
    "invite*",
    "thank*",
    "produce*",
    "send*",
    "address*",
    "mail merge",
    "greet*",
    "congratulat*",
];
const NOT_LETTERS: &[&str] =
    &["longest", "count*", "how many", "upper case", "lower case", "uppercase", "lowercase"];

fn fits(goal: &Goal<'_>) -> bool {
    goal.has(LETTERS) && goal.has(EACH) && goal.has(WRITES) && !goal.has(NOT_LETTERS)
}

/// What is written, and an example of it.
struct LetterStyle {
    words: &'static [&'static str],
    noun: &'static str,
    name: &'static str,
    text: &'static str,
    rows: fn() -> Value,
}

const STYLES: [LetterStyle; 5] = [
    LetterStyle {
        words: &["reminder*", "remind*", "overdue", "due", "unpaid"],
        noun: "reminder",
        name: "Payment reminders",
        text: "Dear {{ name }},\n\nthis is a friendly reminder that {{ amount }} is due on {{ due }}.\n\nKind regards",
        rows: || {
            json!([
                {"name": "Ida", "amount": "60.00", "due": "May 1"},
                {"name": "Noor", "amount": "124.00", "due": "May 8"},
            ])
        },
    },
    LetterStyle {
        words: &["invitation*", "invite*", "guests"],
        noun: "invitation",
        name: "Invitations",
        text: "Dear {{ name }},\n\nyou are invited to {{ event }} on {{ date }}.\n\nKind regards",
        rows: || {
            json!([
                {"name": "Ida", "event": "the harbor festival", "date": "June 21"},
                {"name": "Noor", "event": "the harbor festival", "date": "June 21"},
            ])
        },
    },
    LetterStyle {
        words: &["thank*"],
        noun: "letter",
        name: "Thank-you letters",
        text: "Dear {{ name }},\n\nthank you for {{ reason }}.\n\nKind regards",
        rows: || {
            json!([
                {"name": "Ida", "reason": "your help at the harbor"},
                {"name": "Noor", "reason": "the beautiful chart"},
            ])
        },
    },
    LetterStyle {
        words: &["congratulat*", "certificate*"],
        noun: "letter",
        name: "Congratulations",
        text: "Dear {{ name }},\n\ncongratulations on {{ achievement }}!\n\nKind regards",
        rows: || {
            json!([
                {"name": "Ida", "achievement": "your pilot’s license"},
                {"name": "Noor", "achievement": "ten years on board"},
            ])
        },
    },
    LetterStyle {
        words: &[],
        noun: "letter",
        name: "Letters",
        text: "Dear {{ name }},\n\n{{ message }}\n\nKind regards",
        rows: || {
            json!([
                {"name": "Ida", "message": "the ship leaves at noon."},
                {"name": "Noor", "message": "the chart is ready."},
            ])
        },
    },
];

fn draft(goal: &Goal<'_>) -> AgentDraft {
    let fitting = STYLES.iter().find(|style| goal.has(style.words));
    let [.., plain] = &STYLES;
    let style = fitting.unwrap_or(plain);
    let rows = (style.rows)();
    let columns: Vec<&String> =
        rows[0].as_object().into_iter().flat_map(|row| row.keys()).collect();
    let inputs = json!({
        "rows": {
            "type": "table", "columns": columns, "default": rows, "title": "Table",
            "description": "One row for each letter. Its columns fill the text",
        },
        "letter_text": {
            "type": "text", "default": style.text, "title": "Text",
            "description": "The text, with the names of columns in double braces",
        },
    });
    let steps = json!({
        "each": {"block": "Step Through Items", "label": "Take one row after the other", "items": "inputs.rows"},
        "letter": {
            "block": "Fill Text Template", "label": format!("Write the {}", style.noun),
            "format": "inputs.letter_text", "values": "each.item",
        },
    });
    AgentDraft {
        name: style.name.to_owned(),
        description: format!("Writes a {} for each row of a table.", style.noun)
            .replace("a invitation", "an invitation"),
        inputs: members(inputs),
        steps: members(steps),
        outputs: members(json!({ style.noun: "letter.output" })),
        product: Product {
            noun: style.noun,
            from: "letter.output".to_owned(),
            otherwise: Vec::new(),
        },
    }
}
