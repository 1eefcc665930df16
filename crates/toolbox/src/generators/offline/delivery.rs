//! Adds approval and sending to an agent, whatever it makes.

use protocol::response::UserQuestion;
use serde_json::{Value, json};

use super::draft::AgentDraft;

/// The key of the question for the address.
const KEYWORD: &str = "address";

/// How the result of an agent is delivered.
pub(crate) struct Delivery {
    pub(crate) approval: bool,
    pub(crate) send_to: Option<String>,
}

/// The question for the address that the goal does not name.
pub(crate) fn address_question(noun: &str, answered: bool) -> UserQuestion {
    let again = if answered { "That is not a web address. " } else { "" };
    UserQuestion {
        // The answer follows the last question mark.
        question: format!("{again}To which web address should the {noun} be sent (or nowhere)?"),
        keyword: KEYWORD.to_owned(),
        example: Some(format!("https://example.com/{}s", noun.replace(' ', "-"))),
    }
}

/// Adds the steps after which the product is approved and sent, and an output that says what happened.
pub(crate) fn deliver(draft: &mut AgentDraft, delivery: &Delivery) {
    let noun = draft.product.noun;
    let mut product = draft.product.from.clone();
    let mut results: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    if delivery.approval {
        let (asks, name) = match delivery.send_to {
            Some(_) => (format!("Ask before the {noun} is sent"), format!("Send this {noun}?")),
            None => (format!("Ask for approval of the {noun}"), format!("Approve this {noun}?")),
        };
        let review = json!({
            "block": "Human In The Loop", "label": asks, "data": product, "name": name, "editable": true,
        });
        steps.push(("review", review));
        let rejected = json!({
            "block": "Fill Text Template",
            "label": "Say that it was rejected",
            "format": format!("The {noun} was rejected:\n\n{{{{review.rejected_data}}}}"),
        });
        steps.push(("rejected", rejected));
        results.push("rejected.output".to_owned());
        product = "review.approved_data".to_owned();
    }
    match &delivery.send_to {
        Some(address) => {
            let input = json!({
                "type": "string", "default": address, "title": "Web address",
                "description": format!("The address that the {noun} is sent to"),
            });
            draft.inputs.insert("send_to".to_owned(), input);
            steps.extend(sending(noun, &product));
            results.extend(["sent.output".to_owned(), "not_sent.output".to_owned()]);
        }
        None if delivery.approval => results.push(product),
        None => return,
    }
    results.extend(draft.product.otherwise.iter().cloned());
    draft.steps.extend(steps.into_iter().map(|(name, step)| (name.to_owned(), step)));
    let result = match &results[..] {
        [only] => json!(only),
        _ => json!({ "$any": results }),
    };
    draft.outputs.insert("result".to_owned(), result);
}

pub(crate) fn sending(noun: &str, product: &str) -> Vec<(&'static str, Value)> {
    let key = noun.replace(' ', "_");
    let send = json!({
        "block": "Send Web Request",
        "label": format!("Send the {noun}"),
        "url": "inputs.send_to",
        "method": "POST",
        "body": { key: product },
    });
    let sent = json!({
        "block": "Fill Text Template",
        "label": "Say that it was sent",
        "format": format!(
            "The {noun} was sent to {{{{send_to}}}}. The answer was: {{{{send.response | string | truncate(300)}}}}"
        ),
    });
    let not_sent = json!({
        "block": "Fill Text Template",
        "label": "Say why it was not sent",
        "format": format!(
            "The {noun} could not be sent to {{{{send_to}}}}: {{{{reason | string | truncate(300)}}}}"
        ),
        "values": {"reason": {"$any": ["send.client_error", "send.server_error", "send.error"]}},
    });
    vec![("send", send), ("sent", sent), ("not_sent", not_sent)]
}
