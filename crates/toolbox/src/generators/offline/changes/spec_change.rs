//! A spec while a sentence changes it.

use std::collections::HashSet;

use graphs::catalog::find_block;
use graphs::placeholders::{KnownNames, references, whole_reference};
use graphs::reference::{Reference, Source};
use graphs::spec::{AgentSpec, LITERAL, StepSpec, StepTarget, tagged};
use protocol::block::BlockSpec;
use serde_json::Value;

use super::ServerBlocks;

pub(crate) struct SpecChange<'a> {
    pub(crate) spec: AgentSpec,
    pub(crate) blocks: &'a ServerBlocks,
    /// The sentence.
    pub(crate) text: &'a str,
    /// Answers to earlier questions.
    pub(crate) context: &'a str,
}

/// The steps and inputs that something refers to.
#[derive(Default)]
pub(crate) struct UsedSources {
    pub(crate) steps: HashSet<String>,
    pub(crate) inputs: HashSet<String>,
}

/// The names of a spec, to tell references from texts.
struct SpecNames<'a>(&'a AgentSpec);

impl KnownNames for SpecNames<'_> {
    fn is_step(&self, name: &str) -> bool {
        self.0.step(name).is_some()
    }

    fn is_input(&self, name: &str) -> bool {
        self.0.input(name).is_some()
    }
}

impl SpecChange<'_> {
    pub(crate) fn block(&self, step: &StepSpec) -> Option<&BlockSpec> {
        match &step.runs {
            StepTarget::Block(name) => find_block(self.blocks, name),
            StepTarget::Agent { .. } => None,
        }
    }

    pub(crate) fn has_block(&self, step: &StepSpec, name: &str) -> bool {
        self.block(step).is_some_and(|block| block.name == name)
    }

    /// The reference in a text that is nothing else.
    pub(crate) fn whole(&self, text: &str) -> Option<Reference> {
        whole_reference(text, &SpecNames(&self.spec))
    }

    /// Everything a value refers to.
    pub(crate) fn references_in(&self, value: &Value) -> Vec<Reference> {
        if tagged(value, LITERAL).is_some() {
            return Vec::new();
        }
        match value {
            Value::String(text) => match self.whole(text) {
                Some(reference) => vec![reference],
                None => references(text, &SpecNames(&self.spec)).into_values().collect(),
            },
            Value::Array(items) => items.iter().flat_map(|item| self.references_in(item)).collect(),
            Value::Object(fields) => {
                fields.values().flat_map(|field| self.references_in(field)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What refers to a source, as people name it: `send` or `the output total`.
    pub(crate) fn users(&self, is_source: impl Fn(&Source) -> bool) -> Vec<String> {
        let uses = |value: &Value| {
            self.references_in(value).iter().any(|reference| is_source(&reference.source))
        };
        let steps = self.spec.steps.iter().filter(|(_, step)| step.pins.values().any(uses));
        let outputs =
            self.spec.outputs.iter().filter(|(_, output)| output.from.as_ref().is_some_and(uses));
        let steps = steps.map(|(name, _)| name.clone());
        steps.chain(outputs.map(|(name, _)| format!("the output {name}"))).collect()
    }

    /// All steps and inputs that something refers to.
    pub(crate) fn used_sources(&self) -> UsedSources {
        let pins = self.spec.steps.iter().flat_map(|(_, step)| step.pins.values());
        let outputs = self.spec.outputs.iter().filter_map(|(_, output)| output.from.as_ref());
        let mut used = UsedSources::default();
        for reference in pins.chain(outputs).flat_map(|value| self.references_in(value)) {
            match reference.source {
                Source::Input(name) => used.inputs.insert(name),
                Source::Pin { step, .. } => used.steps.insert(step),
            };
        }
        used
    }

    /// The reference to the main output of a step: the first one that its block lists.
    pub(crate) fn main_output(&self, step: &str) -> Option<String> {
        let block = self.block(self.spec.step(step)?)?;
        let pins = block.outputs.get("properties").and_then(Value::as_object)?;
        let pin = pins.keys().find(|pin| *pin != "error")?;
        Some(Reference::pin(step, pin).to_string())
    }

    /// A name that no step and no input has.
    pub(crate) fn free_name(&self, wanted: &str) -> String {
        let taken = |name: &str| self.spec.step(name).is_some() || self.spec.input(name).is_some();
        let mut name = wanted.to_owned();
        let mut number = 2;
        while taken(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}

/// A name for a step, an input or an output from words: `Tax in percent` becomes `tax_in_percent`.
pub(crate) fn plain_name(words: &str) -> String {
    let mut name = String::new();
    for letter in words.trim().chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
            _ if name.is_empty() || name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    let name = name.trim_end_matches('_');
    match name.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("n{name}"),
        false => name.to_owned(),
    }
}
