//! Removes the references to what is removed from a spec.

use std::collections::HashMap;

use serde_json::Value;

use crate::names::NodeName;
use crate::pins;
use crate::placeholders::{KnownNames, whole_reference};
use crate::reference::{Reference, Source, is_plain_name};
use crate::spec::references::{self, ReferenceUse, StepBlocks};
use crate::spec::{ANY_OF, AgentSpec, LITERAL};

/// Clears the values that are references to it. Texts with placeholders of it are left: `mentions` finds them.
pub(crate) fn clear_references(spec: &mut AgentSpec, removed: &NodeName) {
    let removal = Removal(removed);
    for (_, step) in &mut spec.steps {
        step.pins.retain(|_, value| removal.keeps(value));
    }
    for (_, output) in &mut spec.outputs {
        if output.from.as_mut().is_some_and(|value| !removal.keeps(value)) {
            output.from = None;
        }
    }
}

/// The texts that have a placeholder of something removed: its index and the path of the text.
pub(crate) fn mentions(
    spec: &AgentSpec,
    blocks: &StepBlocks<'_>,
    removed: &[&NodeName],
) -> Vec<(usize, String)> {
    let names = RemovedNames(removed.iter().enumerate().map(|(at, name)| (*name, at)).collect());
    let mut found = Vec::new();
    let mut add = |used: Vec<ReferenceUse>, path: &dyn Fn(&str) -> String| {
        for used in used {
            let name = match &used.reference.source {
                Source::Input(name) => NodeName::Input(name.clone()),
                Source::Pin { step, .. } => NodeName::Step(step.clone()),
            };
            if let Some(at) = names.0.get(&name) {
                found.push((*at, path(pins::base(&used.sink))));
            }
        }
    };
    for (name, step) in &spec.steps {
        let used = references::of_step(step, blocks, &names);
        add(used, &|pin| format!("steps.{name}.{pin}"));
    }
    for (name, output) in &spec.outputs {
        let value = output.from.as_ref();
        let used = value.map(|value| references::of_output(value, &names)).unwrap_or_default();
        add(used, &|_| format!("outputs.{name}"));
    }
    found
}

/// Only what was removed matters here.
struct RemovedNames<'a>(HashMap<&'a NodeName, usize>);

impl KnownNames for RemovedNames<'_> {
    fn is_step(&self, name: &str) -> bool {
        self.0.contains_key(&NodeName::Step(name.to_owned()))
    }

    fn is_input(&self, name: &str) -> bool {
        self.0.contains_key(&NodeName::Input(name.to_owned()))
    }
}

struct Removal<'a>(&'a NodeName);

impl Removal<'_> {
    /// Whether anything is left of the value.
    fn keeps(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => !self.is_reference(text),
            Value::Array(items) => {
                for item in items {
                    if !self.keeps(item) {
                        *item = Value::Null;
                    }
                }
                true
            }
            Value::Object(members) if members.len() == 1 && members.contains_key(LITERAL) => true,
            Value::Object(members) if members.len() == 1 && members.contains_key(ANY_OF) => {
                let Some(Value::Array(all)) = members.get_mut(ANY_OF) else { return true };
                let before = all.len();
                all.retain(|one| !one.as_str().is_some_and(|text| self.is_reference(text)));
                match (all.len(), all.first()) {
                    (0, _) if before > 0 => return false,
                    (1, Some(only)) if before > 1 => *value = only.clone(),
                    _ => {}
                }
                true
            }
            Value::Object(members) => {
                members.retain(|_, member| self.keeps(member));
                true
            }
            _ => true,
        }
    }

    fn is_reference(&self, text: &str) -> bool {
        // Other names may be written with escapes.
        if is_plain_name(self.0.as_str()) && !text.contains(self.0.as_str()) {
            return false;
        }
        whole_reference(text, self).is_some_and(|reference| self.is_removed(&reference))
    }

    fn is_removed(&self, reference: &Reference) -> bool {
        match (&reference.source, self.0) {
            (Source::Input(name), NodeName::Input(removed)) => name == removed,
            (Source::Pin { step, .. }, NodeName::Step(removed)) => step == removed,
            _ => false,
        }
    }
}

/// Only what is removed matters here.
impl KnownNames for Removal<'_> {
    fn is_step(&self, name: &str) -> bool {
        matches!(self.0, NodeName::Step(removed) if removed == name)
    }

    fn is_input(&self, name: &str) -> bool {
        matches!(self.0, NodeName::Input(removed) if removed == name)
    }
}
