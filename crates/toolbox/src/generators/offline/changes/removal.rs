//! Removes a step, an input or an output that nothing needs.

use graphs::reference::Source;
use graphs::spec::StepSpec;
use protocol::tool::ToolEffect;

use super::spec_change::{SpecChange, UsedSources};
use super::{Changed, Obstacle, target};
use crate::words::Words;

/// What a sentence can remove.
enum Removable {
    Step(String),
    Input(String),
    Output(String),
}

/// "Remove the step X", "drop the output X", "delete X".
pub(crate) fn remove(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let from = words.after(&[
        "remove",
        "delete",
        "drop",
        "take out",
        "leave out",
        "get rid of",
        "take away",
    ])?;
    let named = words.span(from, words.len());
    let Some(found) = find(change, words, named) else {
        let steps = change.spec.steps.iter().map(|(name, _)| name.as_str());
        let outputs = change.spec.outputs.iter().map(|(name, _)| name.as_str());
        let names: Vec<&str> = steps.chain(outputs).collect();
        let reason = format!(
            "The agent has no “{}”. Its steps and outputs are: {}.",
            named.trim(),
            names.join(", ")
        );
        return Some(Err(Obstacle::Impossible(reason)));
    };
    let before = change.used_sources();
    let (name, users) = match &found {
        Removable::Step(name) => (
            name,
            change.users(|source| matches!(source, Source::Pin { step, .. } if step == name)),
        ),
        Removable::Input(name) => {
            (name, change.users(|source| matches!(source, Source::Input(input) if input == name)))
        }
        Removable::Output(name) => (name, Vec::new()),
    };
    if !users.is_empty() {
        let reason = format!("“{name}” is needed by {}. Remove that first.", users.join(", "));
        return Some(Err(Obstacle::Impossible(reason)));
    }
    if matches!(found, Removable::Output(_)) && change.spec.outputs.len() == 1 {
        return Some(Err(Obstacle::Impossible(
            "An agent needs an output, and this is its only one.".to_owned(),
        )));
    }
    match &found {
        Removable::Step(name) => change.spec.steps.retain(|(known, _)| known != name),
        Removable::Input(name) => change.spec.inputs.retain(|(known, _)| known != name),
        Removable::Output(name) => change.spec.outputs.retain(|(known, _)| known != name),
    }
    prune(change, &before);
    Some(Ok(()))
}

/// Removes what was used before and no longer is. Steps that act on something stay.
fn prune(change: &mut SpecChange<'_>, before: &UsedSources) {
    loop {
        let used = change.used_sources();
        let is_left_over = |name: &String, step: &StepSpec| {
            let only_computes =
                change.block(step).is_some_and(|block| block.effect == ToolEffect::None);
            only_computes && before.steps.contains(name) && !used.steps.contains(name)
        };
        let steps = change.spec.steps.iter();
        let left_over: Vec<String> = steps
            .filter(|(name, step)| is_left_over(name, step))
            .map(|(name, _)| name.clone())
            .collect();
        if left_over.is_empty() {
            let is_asked_for =
                |name: &String| !before.inputs.contains(name) || used.inputs.contains(name);
            change.spec.inputs.retain(|(name, _)| is_asked_for(name));
            return;
        }
        change.spec.steps.retain(|(name, _)| !left_over.contains(name));
    }
}

fn find(change: &SpecChange<'_>, words: &Words<'_>, named: &str) -> Option<Removable> {
    let only = |found: Vec<&str>| match found[..] {
        [one] => Some(one.to_owned()),
        _ => None,
    };
    let step = || only(target::steps(&change.spec, named)).map(Removable::Step);
    let input = || only(target::inputs(&change.spec, named)).map(Removable::Input);
    let output = || only(target::outputs(&change.spec, named)).map(Removable::Output);
    if words.has(&["step"]) {
        return step();
    }
    if words.has(&["input"]) {
        return input();
    }
    if words.has(&["output"]) {
        return output();
    }
    output().or_else(step).or_else(input)
}
