//! The edits that lead back from an edited graph to its base. They are found by comparing the two specs, not by inverting
//! the edits one by one: only the comparison knows what a removal has cleared.

use std::collections::HashMap;

use protocol::NodeId;
use protocol::graph::Graph;
use protocol::graph_edit::GraphEdit;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::spec_editor::SpecEditor;
use crate::catalog::BlockSpecs;
use crate::named_graph::NamedGraph;
use crate::names::NodeName;
use crate::placeholders::KnownNames;
use crate::spec::references::StepBlocks;
use crate::spec::{AgentSpec, LITERAL, StepSpec, input_value, output_value, step_value};

pub(crate) fn script(base: &Graph, edited: &Graph, blocks: &dyn BlockSpecs) -> Vec<GraphEdit> {
    // The names of the base are also those that the undo adds, so it will read the edited graph in the same way.
    let (wanted, now) = NamedGraph::read_both(base, edited, blocks);
    let names: HashMap<NodeId, NodeName> =
        now.ids.iter().map(|(name, id)| (id.clone(), name.clone())).collect();
    let editor = SpecEditor::new(now.spec, StepBlocks::new(blocks), HashMap::new());
    let mut writer = UndoWriter { wanted: &wanted.spec, editor, edits: Vec::new() };
    writer.remove_added(&wanted, &now.ids);
    writer.rename_back(&wanted, &names);
    writer.restore_inputs();
    writer.restore_steps();
    writer.restore_pins();
    writer.restore_outputs();
    writer.edits
}

struct UndoWriter<'a> {
    wanted: &'a AgentSpec,
    /// The spec with the edits so far.
    editor: SpecEditor<'a>,
    edits: Vec<GraphEdit>,
}

impl UndoWriter<'_> {
    fn push(&mut self, edit: GraphEdit) {
        // An edit that cannot be applied would make the whole undo fail.
        if self.editor.apply(&edit).is_ok() {
            self.edits.push(edit);
        }
    }

    fn now(&self) -> &AgentSpec {
        &self.editor.spec
    }

    /// Steps and inputs that the base does not have. Outputs are restored as a whole.
    fn remove_added(&mut self, base: &NamedGraph<'_>, origins: &HashMap<NodeName, NodeId>) {
        let kinds: HashMap<&NodeId, &'static str> =
            base.ids.iter().map(|(name, id)| (id, name.kind())).collect();
        let is_added = |name: NodeName| {
            let kind = origins.get(&name).and_then(|id| kinds.get(id));
            kind.is_none_or(|kind| *kind != name.kind())
        };
        let steps = self.now().steps.iter().map(|(name, _)| NodeName::Step(name.clone()));
        let inputs = self.now().inputs.iter().map(|(name, _)| NodeName::Input(name.clone()));
        let added: Vec<NodeName> =
            steps.chain(inputs).filter(|name| is_added(name.clone())).collect();
        for name in added {
            self.push(GraphEdit::Remove { step: address(&name) });
        }
    }

    fn rename_back(&mut self, base: &NamedGraph<'_>, names: &HashMap<NodeId, NodeName>) {
        let mut open: Vec<(NodeName, NodeName)> = base
            .ids
            .iter()
            .filter_map(|(wanted, id)| {
                let now = names.get(id)?;
                let is_renamed = now != wanted
                    && now.kind() == wanted.kind()
                    && !matches!(now, NodeName::Text(_));
                is_renamed.then(|| (now.clone(), wanted.clone()))
            })
            .collect();
        open.sort_by_key(|(now, _)| now.path());
        while !open.is_empty() {
            let free = open.iter().position(|(_, wanted)| !self.is_taken(wanted));
            match free {
                Some(at) => {
                    let (now, wanted) = open.remove(at);
                    self.rename(&now, wanted.as_str());
                }
                // Only names that were exchanged are left.
                None => {
                    let temporary = self.temporary_name();
                    let now = open[0].0.clone();
                    self.rename(&now, &temporary);
                    open[0].0 = with_name(&now, temporary);
                    if self.is_taken(&now) {
                        return;
                    }
                }
            }
        }
    }

    fn rename(&mut self, now: &NodeName, to: &str) {
        self.push(GraphEdit::Rename { step: address(now), to: to.to_owned() });
    }

    fn is_taken(&self, name: &NodeName) -> bool {
        match name {
            NodeName::Output(name) => self.now().output(name).is_some(),
            name => self.now().is_step(name.as_str()) || self.now().is_input(name.as_str()),
        }
    }

    fn temporary_name(&self) -> String {
        let is_free = |name: &String| {
            let of = [self.now(), self.wanted];
            of.iter().all(|spec| {
                !spec.is_step(name) && !spec.is_input(name) && spec.output(name).is_none()
            })
        };
        let mut candidates = (1_u32..).map(|number| format!("renamed_{number}"));
        candidates.find(is_free).unwrap_or_default()
    }

    fn restore_inputs(&mut self) {
        let section = |spec: &AgentSpec| -> Map<String, Value> {
            spec.inputs.iter().map(|(name, one)| (name.clone(), input_value(one))).collect()
        };
        let wanted = section(self.wanted);
        if !same(&section(self.now()), &wanted) {
            self.push(GraphEdit::SetInputs { inputs: wanted });
        }
    }

    fn restore_outputs(&mut self) {
        let section = |spec: &AgentSpec| -> Map<String, Value> {
            spec.outputs.iter().map(|(name, one)| (name.clone(), output_value(one))).collect()
        };
        let wanted = section(self.wanted);
        if !same(&section(self.now()), &wanted) {
            self.push(GraphEdit::SetOutputs { outputs: wanted });
        }
    }

    /// Adds missing steps, and replaces those with another block or label and those in another place. From the last one
    /// on, so that the step after each is in its place.
    fn restore_steps(&mut self) {
        let mut after: Option<String> = None;
        for (name, step) in self.wanted.steps.iter().rev() {
            let present = self.now().steps.iter().position(|(known, _)| known == name);
            let is_restored = present.is_some_and(|at| {
                let now = &self.now().steps[at].1;
                let next = self.now().steps.get(at + 1).map(|(name, _)| name);
                now.runs == step.runs && now.label == step.label && next == after.as_ref()
            });
            if !is_restored {
                if present.is_some() {
                    self.push(GraphEdit::Remove { step: name.clone() });
                }
                let Value::Object(with) = step_value(step) else { continue };
                let before = after.clone();
                self.push(GraphEdit::AddStep { step: name.clone(), with, before });
            }
            after = Some(name.clone());
        }
    }

    fn restore_pins(&mut self) {
        for (name, step) in &self.wanted.steps {
            self.restore_pins_of(name, step);
        }
    }

    fn restore_pins_of(&mut self, name: &str, wanted: &StepSpec) {
        let Some(now) = self.now().step(name) else { return };
        let now = &now.pins;
        let extra = now.keys().filter(|pin| !wanted.pins.contains_key(*pin));
        let extra = extra.map(|pin| (pin.clone(), None));
        let is_other =
            |(pin, value): &(&String, &Value)| !now.get(*pin).is_some_and(|now| same(now, *value));
        let others = wanted.pins.iter().filter(is_other);
        let others = others.map(|(pin, value)| {
            // A null would clear the pin.
            let is_null = value.is_null();
            (pin.clone(), Some(if is_null { json!({ LITERAL: null }) } else { value.clone() }))
        });
        for (pin, value) in extra.chain(others).collect::<Vec<_>>() {
            self.push(GraphEdit::Set { step: name.to_owned(), pin, value });
        }
    }
}

fn with_name(name: &NodeName, new: String) -> NodeName {
    match name {
        NodeName::Input(_) => NodeName::Input(new),
        NodeName::Step(_) => NodeName::Step(new),
        NodeName::Output(_) => NodeName::Output(new),
        NodeName::Text(_) => NodeName::Text(new),
    }
}

/// How edits name it.
fn address(name: &NodeName) -> String {
    match name {
        NodeName::Step(name) => name.clone(),
        name => name.path(),
    }
}

/// Equal in every byte: the order of members counts.
fn same<T: Serialize>(a: &T, b: &T) -> bool {
    serde_json::to_string(a).ok() == serde_json::to_string(b).ok()
}
