//! Adds and removes approvals.

use graphs::reference::Source;
use graphs::spec::{ANY_OF, StepSpec, StepTarget};
use serde_json::{Map, Value, json};

use super::spec_change::{SpecChange, plain_name};
use super::{Changed, Obstacle, target};
use crate::words::Words;

const REVIEW: &str = "HumanInTheLoopBlock";
const SEND: &str = "SendWebRequestBlock";
const APPROVED: &str = "approved_data";

/// "Ask me before sending", "add an approval before STEP", "let me approve the letter".
pub(crate) fn add(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let asks = words.has(&[
        "ask me",
        "asks me",
        "add an approval",
        "add approval",
        "add a review",
        "add an approval step",
        "let me approve",
        "let me check",
        "let me review",
        "i approve",
        "i want to approve",
        "i want to check",
        "require* my approval",
        "require* approval",
        "wait* for my",
        "need* my approval",
        "check* with me",
        "ask for my approval",
        "confirm*",
    ]);
    if !asks || says_more(words) {
        return None;
    }
    let after = words.after(&[
        "before",
        "for the",
        "of the",
        "let me approve",
        "let me check",
        "let me review",
        "to approve",
    ]);
    let named = after.map(|from| words.span(from, words.len())).unwrap_or_default();
    Some(match guarded_step(change, named) {
        Some(step) => guard_step(change, &step),
        None => guard_output(change, named),
    })
}

/// Whether the sentence has another part, which would be ignored here.
fn says_more(words: &Words<'_>) -> bool {
    words.has(&["and", "then"])
}

/// The step that the words name; without words, the one that sends something.
fn guarded_step(change: &SpecChange<'_>, named: &str) -> Option<String> {
    if let [step] = target::steps(&change.spec, named)[..] {
        return Some(step.to_owned());
    }
    let sends = target::key_words(named).iter().all(|word| word == "send" || word == "post");
    let mut sending = change.spec.steps.iter().filter(|(_, step)| change.has_block(step, SEND));
    sending.find(|_| sends).map(|(name, _)| name.clone())
}

/// Puts an approval before the first value that the step takes from elsewhere. What is sent comes before its address.
fn guard_step(change: &mut SpecChange<'_>, name: &str) -> Changed {
    let Some(step) = change.spec.step(name) else { return Ok(()) };
    let comes_from_steps = |value: &Value| {
        let found = change.references_in(value);
        found.iter().any(|reference| matches!(reference.source, Source::Pin { .. }))
    };
    let with_reference = |value: &Value| !change.references_in(value).is_empty();
    let pins = || step.pins.iter();
    let guarded = pins()
        .find(|(pin, value)| *pin == "body" && with_reference(value))
        .or_else(|| pins().find(|(_, value)| comes_from_steps(value)))
        .or_else(|| pins().find(|(_, value)| with_reference(value)));
    let Some((pin, value)) = guarded.map(|(pin, value)| (pin.clone(), value.clone())) else {
        return Err(Obstacle::Impossible(format!(
            "The step `{name}` takes nothing that could be approved."
        )));
    };
    if is_approved(change, &value) {
        return Err(Obstacle::Impossible(format!(
            "The agent already asks before the step `{name}`."
        )));
    }
    if tagged_any(&value) {
        return Err(Obstacle::Impossible(format!(
            "The step `{name}` takes its value from one of several steps. Name one of those instead."
        )));
    }
    let review = change.free_name(&format!("approve_{name}"));
    let what = step.label.clone().unwrap_or_else(|| name.replace('_', " "));
    let asked = review_step(&format!("Ask before: {what}"), &format!("{what}?"), value);
    let at = change.spec.steps.iter().position(|(known, _)| known == name).unwrap_or(0);
    if let Some((_, step)) = change.spec.steps.get_mut(at) {
        step.pins.insert(pin, json!(format!("{review}.{APPROVED}")));
    }
    change.spec.steps.insert(at, (review, asked));
    Ok(())
}

/// Puts an approval before an output: the one that the words name, or the last one.
fn guard_output(change: &mut SpecChange<'_>, named: &str) -> Changed {
    let found = target::outputs(&change.spec, named).first().map(|name| (*name).to_owned());
    let name = match found {
        Some(name) => name,
        None if target::key_words(named).is_empty() => match change.spec.outputs.last() {
            Some((name, _)) => name.clone(),
            None => {
                return Err(Obstacle::Impossible("The agent has no output to approve.".to_owned()));
            }
        },
        None => {
            let steps: Vec<&str> =
                change.spec.steps.iter().map(|(name, _)| name.as_str()).collect();
            let reason = format!(
                "The agent has no step “{}”. Its steps are: {}.",
                named.trim(),
                steps.join(", ")
            );
            return Err(Obstacle::Impossible(reason));
        }
    };
    let value = change.spec.output(&name).and_then(|output| output.from.clone());
    let Some(value) = value.filter(|value| !tagged_any(value)) else {
        return Err(Obstacle::Impossible(format!(
            "The output `{name}` has no single source. Name the step before which to ask."
        )));
    };
    if is_approved(change, &value) {
        return Err(Obstacle::Impossible(format!(
            "The agent already asks before it returns `{name}`."
        )));
    }
    let review = change.free_name(&format!("approve_{}", plain_name(&name)));
    let asked =
        review_step(&format!("Ask for approval of {name}"), &format!("Approve {name}?"), value);
    change.spec.steps.push((review.clone(), asked));
    if let Some((_, output)) = change.spec.outputs.iter_mut().find(|(known, _)| *known == name) {
        output.from = Some(json!(format!("{review}.{APPROVED}")));
    }
    Ok(())
}

fn review_step(label: &str, name: &str, data: Value) -> StepSpec {
    let mut pins = Map::new();
    pins.insert("data".to_owned(), data);
    pins.insert("name".to_owned(), json!(name));
    pins.insert("editable".to_owned(), json!(true));
    StepSpec {
        runs: StepTarget::Block("Human In The Loop".to_owned()),
        label: Some(label.to_owned()),
        pins,
    }
}

fn tagged_any(value: &Value) -> bool {
    graphs::spec::tagged(value, ANY_OF).is_some()
}

fn is_approved(change: &SpecChange<'_>, value: &Value) -> bool {
    change.references_in(value).iter().any(|reference| match &reference.source {
        Source::Pin { step, pin } => {
            pin == APPROVED
                && change.spec.step(step).is_some_and(|step| change.has_block(step, REVIEW))
        }
        Source::Input(_) => false,
    })
}

/// "Don't ask me", "remove the approval": what was approved goes straight on.
pub(crate) fn remove(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let asks = words.has(&[
        "don't ask",
        "do not ask",
        "doesn't ask",
        "does not ask",
        "not ask",
        "without asking",
        "no approval",
        "without approval",
        "without my approval",
        "stop asking",
        "remove the approval",
        "remove approval",
        "remove the review",
        "skip the approval",
        "skip the review",
        "drop the approval",
        "no longer ask",
    ]);
    if !asks || says_more(words) {
        return None;
    }
    let reviews = change.spec.steps.iter().filter(|(_, step)| change.has_block(step, REVIEW));
    let reviews: Vec<String> = reviews.map(|(name, _)| name.clone()).collect();
    if reviews.is_empty() {
        return Some(Err(Obstacle::Impossible("The agent does not ask for approval.".to_owned())));
    }
    for review in reviews {
        if let Err(obstacle) = bypass(change, &review) {
            return Some(Err(obstacle));
        }
    }
    Some(Ok(()))
}

fn bypass(change: &mut SpecChange<'_>, review: &str) -> Changed {
    let Some(data) = change.spec.step(review).and_then(|step| step.pins.get("data").cloned())
    else {
        return Ok(());
    };
    let approved = format!("{review}.{APPROVED}");
    for (_, step) in &mut change.spec.steps {
        step.pins.values_mut().for_each(|value| substitute(value, &approved, &data));
    }
    for (_, output) in &mut change.spec.outputs {
        output.from.iter_mut().for_each(|value| substitute(value, &approved, &data));
    }
    // What is left of it is the way of a rejection, which no longer exists.
    let mut gone = vec![review.to_owned()];
    while let Some(name) = gone.pop() {
        change.spec.steps.retain(|(known, _)| *known != name);
        let prefix = format!("{name}.");
        for (_, output) in &mut change.spec.outputs {
            output.from.iter_mut().for_each(|value| drop_alternative(value, &prefix));
        }
        for (_, step) in &mut change.spec.steps {
            step.pins.values_mut().for_each(|value| drop_alternative(value, &prefix));
        }
        change.spec.outputs.retain(|(_, output)| !mentions(output.from.as_ref(), &prefix));
        let dependent = change
            .spec
            .steps
            .iter()
            .filter(|(_, step)| step.pins.values().any(|value| mentions(Some(value), &prefix)));
        gone.extend(dependent.map(|(name, _)| name.clone()));
    }
    Ok(())
}

/// Puts the data in the place of a reference to it.
fn substitute(value: &mut Value, reference: &str, data: &Value) {
    match value {
        Value::String(text) if text == reference => *value = data.clone(),
        Value::String(text) => {
            if let Some(source) = data.as_str() {
                *text = text.replace(&format!("{{{{{reference}"), &format!("{{{{{source}"));
                *text = text.replace(&format!("{{{{ {reference}"), &format!("{{{{ {source}"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| substitute(item, reference, data)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| substitute(field, reference, data));
        }
        _ => {}
    }
}

/// Removes references to a step from lists of alternatives, also inside other values.
fn drop_alternative(value: &mut Value, prefix: &str) {
    let Value::Object(fields) = value else { return };
    if let Some(Value::Array(all)) = fields.get_mut(ANY_OF) {
        all.retain(|one| !one.as_str().is_some_and(|text| text.starts_with(prefix)));
        if let [only] = &all[..] {
            *value = only.clone();
        }
        return;
    }
    fields.values_mut().for_each(|field| drop_alternative(field, prefix));
}

fn mentions(value: Option<&Value>, prefix: &str) -> bool {
    match value {
        Some(Value::String(text)) => {
            text.starts_with(prefix)
                || text.contains(&format!("{{{{{prefix}"))
                || text.contains(&format!("{{{{ {prefix}"))
        }
        Some(Value::Array(items)) => items.iter().any(|item| mentions(Some(item), prefix)),
        Some(Value::Object(fields)) => fields.values().any(|field| mentions(Some(field), prefix)),
        _ => false,
    }
}
