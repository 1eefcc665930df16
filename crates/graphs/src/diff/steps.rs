//! Differences of steps and links.

use std::collections::{BTreeSet, HashMap};

use protocol::BlockId;
use protocol::block::BlockSpec;
use protocol::graph::Node;
use protocol::graph_diff::{
    LinkReference, LinksDiff, NameChange, PinChange, PinValue, StepChange, StepSummary, StepsDiff,
};
use serde_json::{Map, Value};

use super::matching::NamePairs;
use super::shown_value::{PinPlace, SecretPins, SecretTexts, cut, cut_both};
use crate::catalog::{BlockSpecs, block_title};
use crate::edit::OUTPUTS;
use crate::named_graph::NamedGraph;
use crate::names::NodeName;
use crate::pins;
use crate::placeholders::{FILL_TEXT, FILL_TEXT_VALUES, replace_heads};
use crate::reference::{INPUTS, Reference, Source};
use crate::spec::references::{
    self, GivenNames, ReferenceUse, SpecNames, StepBlocks, head_reference,
};
use crate::spec::{ANY_OF, AgentSpec, LITERAL, StepSpec, StepTarget};

pub(crate) fn compare(
    from: &NamedGraph<'_>,
    to: &NamedGraph<'_>,
    pairs: &NamePairs,
    texts: &SecretTexts,
    blocks: &dyn BlockSpecs,
) -> (StepsDiff, LinksDiff) {
    let step_blocks = StepBlocks::new(blocks);
    // What a rename alone changes is not a change.
    let renamed = pairs.renamed(&from.spec, &to.spec, &step_blocks);
    let before = Side::new(from, texts, blocks);
    let after = Side::new(to, texts, blocks);
    let (names_before, names_after) = (SpecNames::of(&renamed), SpecNames::of(&to.spec));
    let mut steps = StepsDiff::default();
    for (name, step) in &from.spec.steps {
        match pairs.after(&NodeName::Step(name.clone())) {
            Some(after) if after.as_str() != name => {
                steps.renamed.push(NameChange { from: name.clone(), to: after.as_str().to_owned() })
            }
            Some(_) => {}
            None => steps.removed.push(before.summary(name, step)),
        }
    }
    for (name, step) in &to.spec.steps {
        let earlier = pairs.before(&NodeName::Step(name.clone()));
        let earlier = earlier.and_then(|earlier| {
            let comparable = renamed.step(name)?;
            Some((earlier.as_str(), from.spec.step(earlier.as_str())?, comparable))
        });
        match earlier {
            None => steps.added.push(after.summary(name, step)),
            Some((earlier, original, comparable)) => {
                let block = block_change(&before, earlier, original, &after, name, step);
                let before_step = ComparableStep {
                    step: comparable,
                    block: step_blocks.of(comparable),
                    names: &names_before,
                };
                let after_step =
                    ComparableStep { step, block: step_blocks.of(step), names: &names_after };
                let pins = changed_pins(&before_step, &after_step)
                    .into_iter()
                    .map(|pin| {
                        let from = before.hidden(earlier, original, &pin);
                        let to = after.hidden(name, step, &pin);
                        let (from, to) = cut_both(from, to);
                        PinChange { pin, from, to }
                    })
                    .collect::<Vec<_>>();
                if block.is_some() || !pins.is_empty() {
                    steps.changed.push(StepChange { step: name.clone(), block, pins });
                }
            }
        }
    }
    steps.added.sort_by(|a, b| a.step.cmp(&b.step));
    steps.removed.sort_by(|a, b| a.step.cmp(&b.step));
    steps.renamed.sort_by(|a, b| a.from.cmp(&b.from));
    steps.changed.sort_by(|a, b| a.step.cmp(&b.step));
    (steps, changed_links(&from.spec, &renamed, &to.spec, &step_blocks))
}

/// One of the two graphs.
struct Side<'a> {
    named: &'a NamedGraph<'a>,
    nodes: HashMap<NodeName, &'a Node>,
    secrets: SecretPins,
    texts: &'a SecretTexts,
    blocks: &'a dyn BlockSpecs,
}

impl<'a> Side<'a> {
    fn new(named: &'a NamedGraph<'a>, texts: &'a SecretTexts, blocks: &'a dyn BlockSpecs) -> Self {
        let secrets = SecretPins::of(named.graph, blocks);
        Self { named, nodes: named.nodes(&named.ids), secrets, texts, blocks }
    }

    fn node(&self, step: &str) -> Option<&'a Node> {
        self.nodes.get(&NodeName::Step(step.to_owned())).copied()
    }

    fn block_id(&self, step: &str) -> Option<&'a BlockId> {
        self.node(step).map(|node| &node.block_id)
    }

    fn summary(&self, name: &str, step: &StepSpec) -> StepSummary {
        let shown = step.pins.keys().filter_map(|pin| {
            let value = self.hidden(name, step, pin)?;
            Some(PinValue { pin: pin.clone(), value: cut(&value) })
        });
        StepSummary { step: name.to_owned(), block: self.block(name, step), pins: shown.collect() }
    }

    fn block(&self, name: &str, step: &StepSpec) -> String {
        match &step.runs {
            StepTarget::Agent { id, version: Some(version) } => format!("agent {id}@{version}"),
            StepTarget::Agent { id, version: None } => format!("agent {id}"),
            StepTarget::Block(title) => {
                let spec = self.block_id(name).and_then(|id| self.blocks.spec(id));
                spec.map_or_else(|| title.clone(), |spec| block_title(spec.name))
            }
        }
    }

    /// The value of a pin without secrets; `None` if it has none.
    fn hidden(&self, name: &str, step: &StepSpec, pin: &str) -> Option<Value> {
        let value = step.pins.get(pin).filter(|value| !value.is_null())?;
        let node = self.node(name).map(|node| &node.id);
        let (secrets, names) = (&self.secrets, &self.named.spec);
        let place = PinPlace { texts: self.texts, secrets, names, node, pin };
        Some(place.hide(value))
    }
}

fn block_change(
    before: &Side<'_>,
    earlier: &str,
    original: &StepSpec,
    after: &Side<'_>,
    name: &str,
    step: &StepSpec,
) -> Option<NameChange> {
    let runs_other = match (&original.runs, &step.runs) {
        (StepTarget::Block(_), StepTarget::Block(_)) => {
            before.block_id(earlier) != after.block_id(name)
        }
        (a, b) => a != b,
    };
    runs_other
        .then(|| NameChange { from: before.block(earlier, original), to: after.block(name, step) })
}

fn changed_pins(from: &ComparableStep<'_>, to: &ComparableStep<'_>) -> Vec<String> {
    let pins: BTreeSet<&String> = from.step.pins.keys().chain(to.step.pins.keys()).collect();
    let changed = pins.into_iter().filter(|pin| from.value(pin) != to.value(pin));
    changed.cloned().collect()
}

/// A step whose values are compared by what they mean.
struct ComparableStep<'a> {
    step: &'a StepSpec,
    block: Option<&'a BlockSpec>,
    names: &'a SpecNames<'a>,
}

impl ComparableStep<'_> {
    fn value(&self, pin: &str) -> Option<Value> {
        let value = self.step.pins.get(pin).filter(|value| !value.is_null())?;
        // A template needs a set of values, even an empty one.
        let is_values =
            self.block.is_some_and(|block| block.id == FILL_TEXT) && pin == FILL_TEXT_VALUES;
        if is_values && value.as_object().is_some_and(Map::is_empty) {
            return None;
        }
        let given = GivenNames::of(self.step, self.block, pin);
        Some(self.comparable(value, &given))
    }

    /// The value without the order of several links, and with one way to write a reference to an input.
    fn comparable(&self, value: &Value, given: &GivenNames) -> Value {
        match value {
            Value::String(text) => Value::from(replace_heads(text, |head| {
                let reference = head_reference(head, self.names, given)?;
                match (&reference.source, Reference::parse(head)) {
                    (Source::Input(_), Some(whole)) if whole.root() == INPUTS => {
                        Some(whole.to_string())
                    }
                    (Source::Input(name), _) => Some(format!("{reference}{}", &head[name.len()..])),
                    (Source::Pin { .. }, _) => None,
                }
            })),
            Value::Array(items) => items.iter().map(|item| self.comparable(item, given)).collect(),
            Value::Object(members) => {
                if members.len() == 1 && members.contains_key(LITERAL) {
                    return value.clone();
                }
                let comparable = |(key, member): (&String, &Value)| {
                    (key.clone(), self.comparable(member, given))
                };
                let mut members: Map<String, Value> = members.iter().map(comparable).collect();
                if let (1, Some(Value::Array(all))) = (members.len(), members.get_mut(ANY_OF)) {
                    all.sort_by_key(Value::to_string);
                }
                Value::Object(members)
            }
            other => other.clone(),
        }
    }
}

fn changed_links(
    from: &AgentSpec,
    renamed: &AgentSpec,
    to: &AgentSpec,
    blocks: &StepBlocks<'_>,
) -> LinksDiff {
    let (original, before) = (links(from, blocks), links(renamed, blocks));
    let after: BTreeSet<LinkReference> = links(to, blocks).into_iter().collect();
    // Both lists have the same links in the same order, under their old and their new names.
    let original = if original.len() == before.len() { original } else { before.clone() };
    let kept: BTreeSet<&LinkReference> = before.iter().collect();
    let added = after.iter().filter(|link| !kept.contains(link)).cloned().collect();
    let removed: BTreeSet<LinkReference> = before
        .iter()
        .zip(original)
        .filter(|(link, _)| !after.contains(link))
        .map(|(_, original)| original)
        .collect();
    LinksDiff { added, removed: removed.into_iter().collect() }
}

/// All links of a spec, as references. A text with `{{…}}` is linked to what it refers to.
fn links(spec: &AgentSpec, blocks: &StepBlocks<'_>) -> Vec<LinkReference> {
    let names = SpecNames::of(spec);
    let mut links = Vec::new();
    let mut add = |used: Vec<ReferenceUse>, sink: &dyn Fn(&str) -> Reference| {
        for ReferenceUse { reference, sink: pin, .. } in used {
            // The path of a nested pin may be too long to be written.
            let is_written = pins::steps(&pin).is_ok();
            let pin = if is_written { pin.as_str() } else { pins::base(&pin) };
            let to = sink(pin).to_string();
            links.push(LinkReference { from: reference.to_string(), to });
        }
    };
    for (name, step) in &spec.steps {
        add(references::of_step(step, blocks, &names), &|pin| Reference::pin(name, pin));
    }
    for (name, output) in &spec.outputs {
        let Some(value) = &output.from else { continue };
        add(references::of_output(value, &names), &|pin| Reference {
            source: Source::Pin { step: OUTPUTS.to_owned(), pin: name.clone() },
            path: pin["value".len()..].to_owned(),
        });
    }
    links
}
