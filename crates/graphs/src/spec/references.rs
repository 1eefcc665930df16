//! The references in the values of a spec: which there are, and how they change when something is renamed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use protocol::block::BlockSpec;
use protocol::graph::{INDEX_MARK, KEY_MARK};
use serde_json::Value;

use super::{ANY_OF, AgentSpec, LITERAL, StepSpec, StepTarget, tagged};
use crate::catalog::{BlockSpecs, find_block};
use crate::pins;
use crate::placeholders::{KnownNames, heads, named, values_pin, whole_reference};
use crate::reference::Reference;

/// The blocks of steps. Names are looked up once: finding a block by name compares it with all of them.
pub(crate) struct StepBlocks<'a> {
    blocks: &'a dyn BlockSpecs,
    found: RefCell<HashMap<String, Option<&'a BlockSpec>>>,
}

impl<'a> StepBlocks<'a> {
    pub(crate) fn new(blocks: &'a dyn BlockSpecs) -> Self {
        Self { blocks, found: RefCell::default() }
    }

    /// The block of a step; `None` if it is unknown or if the step runs an agent.
    pub(crate) fn of(&self, step: &StepSpec) -> Option<&'a BlockSpec> {
        let StepTarget::Block(name) = &step.runs else { return None };
        if let Some(known) = self.found.borrow().get(name) {
            return *known;
        }
        let found = find_block(self.blocks, name);
        self.found.borrow_mut().insert(name.clone(), found);
        found
    }
}

/// The names whose values a step gives to a template itself, so that they are not references there.
#[derive(Clone, Debug)]
pub(crate) enum GivenNames {
    Some(Vec<String>),
    All,
}

impl GivenNames {
    pub(crate) fn none() -> Self {
        Self::Some(Vec::new())
    }

    /// The names given to the text of this pin.
    pub(crate) fn of(step: &StepSpec, block: Option<&BlockSpec>, pin: &str) -> Self {
        let values = block.and_then(|block| values_pin(block.id, pin));
        match values.and_then(|values| step.pins.get(values)) {
            None => Self::none(),
            Some(Value::Object(given)) if !given.contains_key(ANY_OF) => {
                Self::Some(given.keys().cloned().collect())
            }
            Some(_) => Self::All,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::Some(names) => names.iter().any(|known| known == name),
            Self::All => true,
        }
    }
}

/// What the first part of a placeholder refers to, unless the step gives the value itself.
pub(crate) fn head_reference(
    head: &str,
    names: &dyn KnownNames,
    given: &GivenNames,
) -> Option<Reference> {
    let (name, reference) = named(head, names)?;
    (!given.has(pins::base(&name))).then_some(reference)
}

/// A reference in a value of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceUse {
    pub(crate) reference: Reference,
    /// The pin that gets the value, with the path into it.
    pub(crate) sink: String,
    /// In a placeholder of a text, which cannot do without it.
    pub(crate) in_text: bool,
}

/// The references in all values of a step.
pub(crate) fn of_step(
    step: &StepSpec,
    blocks: &StepBlocks<'_>,
    names: &dyn KnownNames,
) -> Vec<ReferenceUse> {
    let block = blocks.of(step);
    let mut found = Vec::new();
    for (pin, value) in &step.pins {
        let given = GivenNames::of(step, block, pin);
        collect(value, pin.clone(), names, &given, &mut found);
    }
    found
}

/// The references in the value of an output.
pub(crate) fn of_output(value: &Value, names: &dyn KnownNames) -> Vec<ReferenceUse> {
    let mut found = Vec::new();
    collect(value, "value".to_owned(), names, &GivenNames::none(), &mut found);
    found
}

pub(crate) fn collect(
    value: &Value,
    sink: String,
    names: &dyn KnownNames,
    given: &GivenNames,
    found: &mut Vec<ReferenceUse>,
) {
    if tagged(value, LITERAL).is_some() {
        return;
    }
    if let Some(all) = tagged(value, ANY_OF) {
        let texts = all.as_array().into_iter().flatten().filter_map(Value::as_str);
        for reference in texts.filter_map(|text| whole_reference(text, names)) {
            found.push(ReferenceUse { reference, sink: sink.clone(), in_text: false });
        }
        return;
    }
    match value {
        Value::String(text) => match whole_reference(text, names) {
            Some(reference) => found.push(ReferenceUse { reference, sink, in_text: false }),
            None => found.extend(heads(text).filter_map(|head| {
                let reference = head_reference(head, names, given)?;
                Some(ReferenceUse { reference, sink: sink.clone(), in_text: true })
            })),
        },
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{sink}{INDEX_MARK}{index}"), names, given, found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                collect(member, format!("{sink}{KEY_MARK}{key}"), names, given, found);
            }
        }
        _ => {}
    }
}

/// The names of a spec, for texts of which there are many: looking them up in the spec itself goes through all of them.
pub(crate) struct SpecNames<'a> {
    steps: HashSet<&'a str>,
    inputs: HashSet<&'a str>,
}

impl<'a> SpecNames<'a> {
    pub(crate) fn of(spec: &'a AgentSpec) -> Self {
        Self {
            steps: spec.steps.iter().map(|(name, _)| name.as_str()).collect(),
            inputs: spec.inputs.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }
}

impl KnownNames for SpecNames<'_> {
    fn is_step(&self, name: &str) -> bool {
        self.steps.contains(name)
    }

    fn is_input(&self, name: &str) -> bool {
        self.inputs.contains(name)
    }
}

impl KnownNames for AgentSpec {
    fn is_step(&self, name: &str) -> bool {
        self.step(name).is_some()
    }

    fn is_input(&self, name: &str) -> bool {
        self.input(name).is_some()
    }
}
