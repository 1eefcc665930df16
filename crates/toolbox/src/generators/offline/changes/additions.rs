//! Adds outputs, inputs and sending.

use graphs::spec::{InputSpec, OutputSpec, input_type};
use serde_json::{Map, Value, json};

use super::spec_change::{SpecChange, plain_name};
use super::values::{put_default, typed};
use super::{Changed, Obstacle, target};
use crate::generators::offline::delivery;
use crate::words::Words;

/// "Add an output X from STEP", "also return the net amount".
pub(crate) fn output(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let from = words.after(&[
        "add an output called",
        "add an output named",
        "add an output for",
        "add an output with",
        "add an output",
        "add a new output",
        "add the output",
        "add output",
        "new output",
        "also return",
        "also output",
        "also show",
        "return also",
        "show also",
        "output also",
        "return",
        "output",
    ])?;
    let source =
        words.find("from").or_else(|| words.find("with")).or_else(|| words.find("showing"));
    let (named, described) = match source.filter(|(at, _)| *at > from) {
        Some((at, after)) => (words.span(from, at), words.span(after, words.len())),
        None => (words.span(from, words.len()), words.span(from, words.len())),
    };
    let Some(reference) = reference_to(change, described) else {
        let steps: Vec<&str> = change.spec.steps.iter().map(|(name, _)| name.as_str()).collect();
        let reason = format!(
            "The agent has no step “{}” whose value could be returned. Its steps are: {}.",
            described.trim(),
            steps.join(", ")
        );
        return Some(Err(Obstacle::Impossible(reason)));
    };
    let name = plain_name(named.trim_start_matches("the ").trim_start_matches("a "));
    if name.is_empty() || change.spec.output(&name).is_some() {
        return Some(Err(Obstacle::Impossible(format!(
            "The agent already has an output “{name}”."
        ))));
    }
    change
        .spec
        .outputs
        .push((name, OutputSpec { from: Some(json!(reference)), settings: Map::new() }));
    Some(Ok(()))
}

fn reference_to(change: &SpecChange<'_>, described: &str) -> Option<String> {
    if let Some(reference) = change.whole(described.trim()) {
        return Some(reference.to_string());
    }
    if let [step] = target::steps(&change.spec, described)[..] {
        return change.main_output(step);
    }
    match target::inputs(&change.spec, described)[..] {
        [input] => Some(format!("inputs.{input}")).filter(|text| change.whole(text).is_some()),
        _ => None,
    }
}

/// "Add an input X with default V", "add a number input X".
pub(crate) fn input(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let (at, from) =
        ["add an input", "add a new input", "add input", "add a number input", "add a text input"]
            .iter()
            .find_map(|phrase| words.find(phrase))?;
    let default = words.after(&["with default", "with the default", "default"]);
    let stops = ["with", "of", "that", "which", "default", "type"];
    let from =
        if matches!(words.word(from), Some("called" | "named" | "for")) { from + 1 } else { from };
    let name = plain_name(words.clause_from(from, &stops));
    if name.is_empty() {
        return None;
    }
    if change.spec.input(&name).is_some() || change.spec.step(&name).is_some() {
        return Some(Err(Obstacle::Impossible(format!("The name “{name}” is already taken."))));
    }
    let value = default.map(|from| words.span(from, words.len())).filter(|value| !value.is_empty());
    let is_number = words.find("number").is_some_and(|(number, _)| number >= at)
        || value.is_some_and(|value| crate::words::number(value).is_some());
    let kind = match (is_number, words.has(&["long text"]), words.has(&["date"])) {
        (true, ..) => "number",
        (_, true, _) => "text",
        (_, _, true) => "date",
        _ => "string",
    };
    let mut settings = Map::new();
    if let Some(written) = value {
        match typed(kind, written) {
            Ok(value) => put_default(&mut settings, value),
            Err(expected) => {
                let reason = format!("`{name}` takes {expected}, and “{written}” is none.");
                return Some(Err(Obstacle::Impossible(reason)));
            }
        }
    }
    let block = input_type(kind).map_or_else(String::new, |known| known.block.to_owned());
    change.spec.inputs.push((name, InputSpec { block, settings }));
    Some(Ok(()))
}

/// "Send the result to https://…": an agent that sends nothing yet sends an output.
pub(crate) fn send(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    if !words.has(&["send", "sends", "post", "posts", "notify", "forward", "submit"]) {
        return None;
    }
    let (_, address) = words.addresses().into_iter().next()?;
    // What follows the address would be ignored here.
    if !words.span(0, words.len()).ends_with(&address) {
        return None;
    }
    if change.spec.step("send").is_some() {
        let is_input = change.spec.input("send_to").is_some();
        let reason = match is_input {
            true => return Some(set_address(change, &address)),
            false => "The agent already has a step “send”.".to_owned(),
        };
        return Some(Err(Obstacle::Impossible(reason)));
    }
    let named = target::outputs(&change.spec, words.clause_from(1, &["to"]))
        .first()
        .map(|name| (*name).to_owned());
    let name = named.or_else(|| change.spec.outputs.last().map(|(name, _)| name.clone()));
    let source = name
        .as_ref()
        .and_then(|name| change.spec.output(name))
        .and_then(|output| output.from.clone());
    let (Some(name), Some(Value::String(source))) = (name, source) else {
        let reason = "The agent has no output with a single source that could be sent.".to_owned();
        return Some(Err(Obstacle::Impossible(reason)));
    };
    let noun = name.replace('_', " ");
    let mut input = Map::from_iter([("title".to_owned(), json!("Web address"))]);
    put_default(&mut input, json!(address));
    let block = input_type("string").map_or_else(String::new, |known| known.block.to_owned());
    change.spec.inputs.push(("send_to".to_owned(), InputSpec { block, settings: input }));
    let with_steps = json!({"steps": Map::from_iter(
        delivery::sending(&noun, &source).into_iter().map(|(name, step)| (name.to_owned(), step)),
    )});
    let Ok(added) = graphs::spec::from_value(&with_steps) else {
        return Some(Err(Obstacle::Impossible("The result cannot be sent.".to_owned())));
    };
    change.spec.steps.extend(added.steps);
    let sent = json!({"$any": ["sent.output", "not_sent.output"]});
    change
        .spec
        .outputs
        .push(("delivery".to_owned(), OutputSpec { from: Some(sent), settings: Map::new() }));
    Some(Ok(()))
}

fn set_address(change: &mut SpecChange<'_>, address: &str) -> Changed {
    if let Some((_, input)) = change.spec.inputs.iter_mut().find(|(name, _)| name == "send_to") {
        put_default(&mut input.settings, json!(address));
    }
    Ok(())
}
