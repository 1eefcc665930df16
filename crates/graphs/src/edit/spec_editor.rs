//! Applies edits to a spec, one after the other.

use std::collections::HashMap;

use protocol::NodeId;
use protocol::graph::GraphProblem;
use protocol::graph_edit::GraphEdit;
use serde_json::{Map, Value, json};

use super::entries::{
    check_name, check_pin_name, edit_output, name_taken, not_a_reference, read_inputs,
    read_outputs, read_step,
};
use super::links::{self, LinkRefusal};
use super::target::{self, LinkSink, OUTPUTS};
use super::{pin_value, remove};
use crate::names::NodeName;
use crate::pins;
use crate::placeholders::{KnownNames, whole_reference};
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::{INPUTS, Reference, Source};
use crate::spec::references::StepBlocks;
use crate::spec::rename::rename;
use crate::spec::{self, AgentSpec};

pub(crate) struct SpecEditor<'a> {
    pub(crate) spec: AgentSpec,
    pub(crate) blocks: StepBlocks<'a>,
    /// The nodes of the base graph, by what they are called now. Removed ones stay, so that a step which is added again
    /// under its name is the same node.
    pub(crate) origins: HashMap<NodeName, NodeId>,
    /// The steps that came after removed ones.
    places: HashMap<String, Option<String>>,
    removed: Vec<(NodeName, usize)>,
    /// What edits have set, by path, with the index of the edit.
    pub(crate) touched: Vec<TouchedPath>,
    /// The index of the edit that is being applied.
    index: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct TouchedPath {
    pub(crate) path: String,
    pub(crate) edit: usize,
}

impl<'a> SpecEditor<'a> {
    pub(crate) fn new(
        spec: AgentSpec,
        blocks: StepBlocks<'a>,
        origins: HashMap<NodeName, NodeId>,
    ) -> Self {
        Self {
            spec,
            blocks,
            origins,
            places: HashMap::new(),
            removed: Vec::new(),
            touched: Vec::new(),
            index: 0,
        }
    }

    /// Applies the next edit. After an error, the spec is useless.
    pub(crate) fn apply(&mut self, edit: &GraphEdit) -> Result<(), GraphProblem> {
        let applied = match edit {
            GraphEdit::AddStep { step, with, before } => {
                self.add_step(step, with, before.as_deref())
            }
            // JSON has one way to write a null and no value.
            GraphEdit::Set { step, pin, value } => {
                self.set(step, pin, value.as_ref().filter(|value| !value.is_null()))
            }
            GraphEdit::Connect { from, to } => self.connect(from, to),
            GraphEdit::Disconnect { from, to } => self.disconnect(from, to),
            GraphEdit::Rename { step, to } => self.rename(step, to),
            GraphEdit::Remove { step } => self.remove(step),
            GraphEdit::SetInputs { inputs } => self.set_inputs(inputs),
            GraphEdit::SetOutputs { outputs } => self.set_outputs(outputs),
        };
        let at = self.index;
        self.index += 1;
        applied.map_err(|problem| of_edit(at, problem))
    }

    /// Texts that still have placeholders of what was removed. They are not changed silently: without the value, the text
    /// would say something else.
    pub(crate) fn finish(&self) -> Vec<GraphProblem> {
        let is_gone = |name: &NodeName| match name {
            NodeName::Input(name) => !self.spec.is_input(name),
            NodeName::Step(name) => !self.spec.is_step(name),
            NodeName::Output(_) | NodeName::Text(_) => false,
        };
        let removed: Vec<&(NodeName, usize)> =
            self.removed.iter().filter(|(name, _)| is_gone(name)).collect();
        let names: Vec<&NodeName> = removed.iter().map(|(name, _)| name).collect();
        let found = remove::mentions(&self.spec, &self.blocks, &names).into_iter();
        found
            .map(|(at, path)| {
                let (name, edit) = removed[at];
                let removed = name.as_str();
                let message = format!(
                    "`{removed}` is used in the text of `{path}`. Set that text in the same edits, then remove `{removed}`."
                );
                of_edit(*edit, ProblemCode::InvalidEdit.of_graph(message).got(path))
            })
            .collect()
    }

    fn add_step(
        &mut self,
        name: &str,
        with: &Map<String, Value>,
        before: Option<&str>,
    ) -> Result<(), GraphProblem> {
        let step = read_step(name, with)?;
        self.check_free(&NodeName::Step(name.to_owned()))?;
        let at = match before {
            Some(before) => match target::find(&self.spec, before)? {
                NodeName::Step(before) => self.position(&before),
                _ => None,
            },
            None => self.place_of_removed(name),
        };
        let at = at.unwrap_or(self.spec.steps.len());
        self.spec.steps.insert(at, (name.to_owned(), step));
        self.touch(format!("steps.{name}"));
        Ok(())
    }

    fn set(&mut self, step: &str, pin: &str, value: Option<&Value>) -> Result<(), GraphProblem> {
        let node = target::find(&self.spec, step)?;
        self.touch(format!("{}.{}", node.path(), pins::base(pin)));
        match &node {
            NodeName::Step(name) => {
                check_pin_name(pin)?;
                let Some(step) = entry(&mut self.spec.steps, name) else { return Ok(()) };
                match value {
                    Some(value) => pin_value::set(&mut step.pins, pin, value.clone()),
                    None => pin_value::clear(&mut step.pins, pin),
                }
            }
            NodeName::Output(name) if pins::base(pin) == "value" => {
                check_pin_name(pin)?;
                self.touch(node.path());
                let Some(output) = entry(&mut self.spec.outputs, name) else { return Ok(()) };
                edit_output(output, |values| {
                    match value {
                        Some(value) => pin_value::set(values, pin, value.clone()),
                        None => pin_value::clear(values, pin),
                    }
                    Ok(())
                })?;
            }
            NodeName::Output(name) => {
                let Some(output) = entry(&mut self.spec.outputs, name) else { return Ok(()) };
                put(&mut output.settings, pin, value);
            }
            NodeName::Input(name) => self.set_input(name, pin, value)?,
            NodeName::Text(_) => {}
        }
        Ok(())
    }

    /// Sets a member of an input as the spec writes it, such as `type` or `default`.
    fn set_input(
        &mut self,
        name: &str,
        setting: &str,
        value: Option<&Value>,
    ) -> Result<(), GraphProblem> {
        let Some(input) = entry(&mut self.spec.inputs, name) else { return Ok(()) };
        let mut members = match spec::input_value(input) {
            Value::Object(members) => members,
            kind => Map::from_iter([("type".to_owned(), kind)]),
        };
        if setting == "type" || setting == "block" {
            members.retain(|key, _| key != "type" && key != "block");
            members.shift_insert(0, setting.to_owned(), value.cloned().unwrap_or(json!("any")));
        } else {
            put(&mut members, setting, value);
        }
        *input = read_inputs(&Map::from_iter([(name.to_owned(), Value::Object(members))]))?
            .pop()
            .map_or_else(|| input.clone(), |(_, input)| input);
        Ok(())
    }

    fn connect(&mut self, from: &str, to: &str) -> Result<(), GraphProblem> {
        let reference = self.reference(from)?;
        let sink = target::find_sink(&self.spec, to)?;
        self.touch(sink.touched_path());
        self.edit_links(&sink, |pins, names| links::connect(pins, &sink.pin, &reference, names))?
            .map_err(|refusal| match refusal {
                LinkRefusal::Exists | LinkRefusal::Missing(_) => ProblemCode::DuplicateLink
                    .of_graph(format!("`{to}` is already linked to `{from}`.")),
                LinkRefusal::Composed => ProblemCode::InvalidEdit.of_graph(format!(
                    "The value of `{to}` has references in it. Set it, or clear it before linking it."
                )),
            })
    }

    fn disconnect(&mut self, from: &str, to: &str) -> Result<(), GraphProblem> {
        let reference = self.reference(from)?;
        let sink = target::find_sink(&self.spec, to)?;
        self.touch(sink.touched_path());
        self.edit_links(&sink, |pins, names| {
            links::disconnect(pins, &sink.pin, &reference, names)
        })?
        .map_err(|refusal| match refusal {
            LinkRefusal::Missing(links) if !links.is_empty() => ProblemCode::InvalidEdit
                .of_graph(format!("There is no link from `{from}` to `{to}`."))
                .expected(links.join(", "))
                .got(from),
            LinkRefusal::Missing(_) | LinkRefusal::Exists => ProblemCode::InvalidEdit
                .of_graph(format!("There is no link from `{from}` to `{to}`."))
                .got(from),
            LinkRefusal::Composed => ProblemCode::InvalidEdit.of_graph(format!(
                "The value of `{to}` has references in it, which belong to the value. Set it instead."
            )),
        })
    }

    /// Runs a change of the links of a pin with the names of the spec.
    fn edit_links(
        &mut self,
        sink: &LinkSink,
        change: impl Fn(&mut Map<String, Value>, &dyn KnownNames) -> Result<(), LinkRefusal>,
    ) -> Result<Result<(), LinkRefusal>, GraphProblem> {
        check_pin_name(&sink.pin)?;
        match &sink.node {
            NodeName::Output(name) => {
                let Some(mut output) = entry(&mut self.spec.outputs, name).cloned() else {
                    return Ok(Ok(()));
                };
                let mut changed = Ok(());
                edit_output(&mut output, |values| {
                    changed = change(values, &self.spec);
                    Ok(())
                })?;
                if let Some(place) = entry(&mut self.spec.outputs, name) {
                    *place = output;
                }
                Ok(changed)
            }
            NodeName::Step(name) => {
                let Some(place) = entry(&mut self.spec.steps, name) else { return Ok(Ok(())) };
                let mut pins = std::mem::take(&mut place.pins);
                let changed = change(&mut pins, &self.spec);
                if let Some(place) = entry(&mut self.spec.steps, name) {
                    place.pins = pins;
                }
                Ok(changed)
            }
            NodeName::Input(_) | NodeName::Text(_) => Ok(Ok(())),
        }
    }

    fn rename(&mut self, step: &str, to: &str) -> Result<(), GraphProblem> {
        let from = target::find(&self.spec, step)?;
        let section = match &from {
            NodeName::Input(_) => "inputs.",
            NodeName::Output(_) => "outputs.",
            NodeName::Step(_) | NodeName::Text(_) => "",
        };
        let to = to.strip_prefix(section).unwrap_or(to);
        if to == from.as_str() {
            return Ok(());
        }
        let renamed = match &from {
            NodeName::Input(_) => NodeName::Input(to.to_owned()),
            NodeName::Output(_) => NodeName::Output(to.to_owned()),
            NodeName::Step(_) | NodeName::Text(_) => NodeName::Step(to.to_owned()),
        };
        check_name(&renamed)?;
        self.check_free(&renamed)?;
        rename(&mut self.spec, &self.blocks, &from, to).map_err(|path| {
            let message = format!(
                "In the text of `{path}`, `{to}` is already the name of another value. Choose another name."
            );
            ProblemCode::DuplicateName.of_graph(message).got(to)
        })?;
        self.move_origin(&from, &renamed);
        Ok(())
    }

    /// The nodes of what was renamed, and of the texts in it, stay the same nodes.
    fn move_origin(&mut self, from: &NodeName, to: &NodeName) {
        let (old, new) = (from.path(), to.path());
        let moved: Vec<(NodeName, NodeName)> = self
            .origins
            .keys()
            .filter_map(|name| match name {
                NodeName::Text(path) if is_within(path, &old) => {
                    let path = format!("{new}{}", &path[old.len()..]);
                    Some((name.clone(), NodeName::Text(path)))
                }
                name => (name == from).then(|| (name.clone(), to.clone())),
            })
            .collect();
        // A node that had the new name is gone.
        self.origins.remove(to);
        for (from, to) in moved {
            if let Some(node) = self.origins.remove(&from) {
                self.origins.insert(to, node);
            }
        }
        for touched in self.touched.iter_mut().filter(|touched| is_within(&touched.path, &old)) {
            touched.path = format!("{new}{}", &touched.path[old.len()..]);
        }
        if let (NodeName::Step(from), NodeName::Step(to)) = (from, to) {
            self.places.remove(to);
            for after in self.places.values_mut().filter(|after| after.as_ref() == Some(from)) {
                *after = Some(to.clone());
            }
        }
    }

    fn remove(&mut self, step: &str) -> Result<(), GraphProblem> {
        let name = target::find(&self.spec, step)?;
        match &name {
            NodeName::Input(removed) => self.spec.inputs.retain(|(name, _)| name != removed),
            NodeName::Output(removed) => self.spec.outputs.retain(|(name, _)| name != removed),
            NodeName::Step(removed) => {
                if let Some(at) = self.position(removed) {
                    self.spec.steps.remove(at);
                    let after = self.spec.steps.get(at).map(|(name, _)| name.clone());
                    self.places.insert(removed.clone(), after);
                }
            }
            NodeName::Text(_) => {}
        }
        self.forget(name);
        Ok(())
    }

    /// Clears the references to what was removed.
    fn forget(&mut self, name: NodeName) {
        let path = name.path();
        self.touched.retain(|touched| !is_within(&touched.path, &path));
        remove::clear_references(&mut self.spec, &name);
        self.removed.push((name, self.index));
    }

    fn set_inputs(&mut self, inputs: &Map<String, Value>) -> Result<(), GraphProblem> {
        let inputs = read_inputs(inputs)?;
        if let Some((name, _)) = inputs.iter().find(|(name, _)| self.spec.is_step(name)) {
            return Err(name_taken(name, "step"));
        }
        let before = std::mem::replace(&mut self.spec.inputs, inputs);
        for (name, _) in before {
            if !self.spec.is_input(&name) {
                self.forget(NodeName::Input(name));
            }
        }
        self.touch(INPUTS.to_owned());
        Ok(())
    }

    fn set_outputs(&mut self, outputs: &Map<String, Value>) -> Result<(), GraphProblem> {
        self.spec.outputs = read_outputs(outputs)?;
        self.touch(OUTPUTS.to_owned());
        Ok(())
    }

    /// What a link comes from. Whether the step has the pin is checked when all edits are applied.
    fn reference(&self, text: &str) -> Result<Reference, GraphProblem> {
        let reference = whole_reference(text, &self.spec);
        if let Some(reference) = reference {
            match &reference.source {
                Source::Input(name) if self.spec.input(name).is_none() => {
                    return Err(target::find(&self.spec, text).err().unwrap_or_default());
                }
                _ => return Ok(reference),
            }
        }
        match Reference::parse(text) {
            Some(parsed) => match target::find(&self.spec, parsed.root()) {
                Err(problem) => Err(problem),
                Ok(_) => Err(not_a_reference(text)),
            },
            None => Err(not_a_reference(text)),
        }
    }

    fn check_free(&self, name: &NodeName) -> Result<(), GraphProblem> {
        let taken = match name {
            NodeName::Output(name) => self.spec.output(name).map(|_| "output"),
            NodeName::Input(name) | NodeName::Step(name) => {
                let step = self.spec.step(name).map(|_| "step");
                step.or_else(|| self.spec.input(name).map(|_| "input"))
            }
            NodeName::Text(_) => None,
        };
        taken.map_or(Ok(()), |kind| Err(name_taken(name.as_str(), kind)))
    }

    fn position(&self, step: &str) -> Option<usize> {
        self.spec.steps.iter().position(|(name, _)| name == step)
    }

    /// Where a step was that is added again.
    fn place_of_removed(&self, step: &str) -> Option<usize> {
        let mut after = self.places.get(step)?.as_ref()?;
        // The step after it may have been removed as well.
        for _ in 0..self.places.len() {
            if let Some(at) = self.position(after) {
                return Some(at);
            }
            after = self.places.get(after)?.as_ref()?;
        }
        None
    }

    fn touch(&mut self, path: String) {
        self.touched.push(TouchedPath { path, edit: self.index });
    }
}

impl LinkSink {
    fn touched_path(&self) -> String {
        match &self.node {
            NodeName::Output(_) => self.node.path(),
            node => format!("{}.{}", node.path(), pins::base(&self.pin)),
        }
    }
}

/// The problem with the place of its edit.
pub(crate) fn of_edit(index: usize, problem: GraphProblem) -> GraphProblem {
    GraphProblem { path: Some(format!("edits[{index}]")), ..problem }
}

/// Whether a path of the spec is this place or inside it.
pub(crate) fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| {
        // A nested pin has a mark after its name.
        rest.is_empty() || rest.starts_with(['.', '[']) || pins::base(rest).is_empty()
    })
}

fn entry<'a, T>(entries: &'a mut [(String, T)], name: &str) -> Option<&'a mut T> {
    entries.iter_mut().find(|(known, _)| known == name).map(|(_, entry)| entry)
}

fn put(members: &mut Map<String, Value>, key: &str, value: Option<&Value>) {
    match value {
        Some(value) => {
            members.insert(key.to_owned(), value.clone());
        }
        None => {
            members.shift_remove(key);
        }
    }
}
