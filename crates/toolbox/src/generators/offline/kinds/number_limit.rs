//! Agents that compare a number with a limit.

use serde_json::json;

use super::{AgentKind, capitalized, clean_name, number};
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "compare a number with a limit and raise an alarm",
    example: "An agent that warns me when the temperature is above 30",
    fits,
    draft,
    reads_page: false,
};

const BELOW: &[&str] = &[
    "below",
    "under",
    "less than",
    "lower than",
    "smaller than",
    "fewer than",
    "falls",
    "drops",
    "fall under",
    "at least",
    "minimum",
    "runs low",
    "too low",
];
const ABOVE: &[&str] = &[
    "above",
    "over",
    "more than",
    "greater than",
    "higher than",
    "larger than",
    "bigger than",
    "exceed*",
    "at most",
    "maximum",
    "beyond",
    "rises",
    "too high",
    "too much",
];
const LIMITS: &[&str] = &["limit", "limits", "threshold*"];
const NUMBERS: &[&str] = &[
    "number",
    "numbers",
    "value",
    "values",
    "temperature*",
    "price*",
    "stock",
    "level*",
    "amount*",
    "balance",
    "budget*",
    "cost*",
    "speed",
    "height",
    "weight",
    "water",
    "tide*",
    "pressure",
    "measure*",
    "reading*",
    "count",
    "score*",
    "usage",
    "expense*",
    "inventory",
    "humidity",
];
const ALARMS: &[&str] =
    &["alert*", "alarm*", "warn*", "notif*", "tell*", "check*", "compar*", "watch*"];
/// Words between a conjunction and what is compared.
const ARTICLES: &[&str] = &["the", "a", "an", "my", "our", "its", "this", "that", "any"];

fn fits(goal: &Goal<'_>) -> bool {
    let has_limit = goal.has(LIMITS);
    let compares = goal.has(BELOW) || goal.has(ABOVE) || has_limit;
    let has_number = (0..goal.words.len()).any(|at| goal.words.number_at(at).is_some());
    compares && (has_limit || has_number || goal.has(NUMBERS)) && (goal.has(ALARMS) || has_number)
}

/// What is compared: the words after "if", "when" or "whether", before the verb.
fn subject(goal: &Goal<'_>) -> Option<String> {
    let words = &goal.words;
    let mut from =
        words.after(&["when", "if", "whether", "once", "compares", "checks", "watches"])?;
    while words.word(from).is_some_and(|word| ARTICLES.contains(&word)) {
        from += 1;
    }
    const VERBS: [&str; 22] = [
        "is", "are", "gets", "goes", "rises", "exceeds", "exceed", "falls", "drops", "becomes",
        "reaches", "with", "against", "above", "below", "over", "under", "to", "and", "stays",
        "runs", "has",
    ];
    let clause = words.clause_from(from, &VERBS);
    let is_short = !clause.is_empty() && clause.split_whitespace().count() <= 3;
    let name = clean_name(clause);
    let is_generic = ["it", "number", "value", "a number", "one"].contains(&name.as_str());
    (is_short && !name.is_empty() && !is_generic && !name.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| capitalized(&name))
}

fn limit(goal: &Goal<'_>) -> f64 {
    let words = &goal.words;
    let named = words.after(&["limit of", "limit is", "threshold of", "limit"]);
    let compared =
        ABOVE.iter().chain(BELOW).filter_map(|phrase| words.find(phrase)).map(|found| found.1);
    let near = named.into_iter().chain(compared).find_map(|from| words.number_within(from, 4));
    near.or_else(|| words.number_within(0, words.len())).unwrap_or(100.0)
}

fn draft(goal: &Goal<'_>) -> AgentDraft {
    let is_below = goal.has(BELOW) && !goal.has(ABOVE);
    let (operator, side, safe) = match is_below {
        true => ("<", "below", "not below"),
        false => (">", "above", "not above"),
    };
    let limit = limit(goal);
    let what = subject(goal).unwrap_or_else(|| "Value".to_owned());
    // The alarm is heard when the agent is tried out.
    let tried = if is_below { limit - 5.0 } else { limit + 5.0 };
    let inputs = json!({
        "value": {"type": "number", "default": number(tried), "title": what},
        "limit": {"type": "number", "default": number(limit), "title": "Limit"},
    });
    let steps = json!({
        "check": {
            "block": "Condition", "label": "Compare it with the limit",
            "value1": "inputs.value", "operator": operator, "value2": "inputs.limit",
            "yes_value": format!("Alarm: {what} is {{{{value}}}}, {side} the limit of {{{{limit}}}}."),
            "no_value": format!("{what} is {{{{value}}}}, {safe} the limit of {{{{limit}}}}."),
        },
    });
    let outputs = json!({
        "report": {"$any": ["check.yes_output", "check.no_output"]},
        "alarm": "check.result",
    });
    AgentDraft {
        name: format!("{what} alarm"),
        description: format!("Raises an alarm if the value is {side} the limit."),
        inputs: members(inputs),
        steps: members(steps),
        outputs: members(outputs),
        product: Product {
            noun: "alarm",
            from: "check.yes_output".to_owned(),
            otherwise: vec!["check.no_output".to_owned()],
        },
    }
}
