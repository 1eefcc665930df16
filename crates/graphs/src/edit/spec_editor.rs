//! Applies edits to a spec, one after the other.

use std::collections::HashMap;

use protocol::NodeId;
use protocol::graph::GraphProblem;
use protocol::graph_edit::GraphEdit;
use serde_json::{Map, Value};

use super::edit_history::{EditHistory, position};
use super::entries::{check_name, name_taken, read_inputs, read_outputs, read_step};
use super::target::{self, OUTPUTS};
use super::{link_edits, remove, set_value};
use crate::names::NodeName;
use crate::pins;
use crate::placeholders::KnownNames;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::INPUTS;
use crate::spec::AgentSpec;
use crate::spec::references::StepBlocks;
use crate::spec::rename::rename;

pub(crate) struct SpecEditor<'a> {
    pub(crate) spec: AgentSpec,
    pub(crate) blocks: StepBlocks<'a>,
    pub(crate) history: EditHistory,
}

impl<'a> SpecEditor<'a> {
    pub(crate) fn new(
        spec: AgentSpec,
        blocks: StepBlocks<'a>,
        origins: HashMap<NodeName, NodeId>,
    ) -> Self {
        Self { spec, blocks, history: EditHistory::new(origins) }
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
            GraphEdit::Connect { from, to } => {
                let path = link_edits::connect(&mut self.spec, from, to);
                path.map(|path| self.history.touch(path))
            }
            GraphEdit::Disconnect { from, to } => {
                let path = link_edits::disconnect(&mut self.spec, from, to);
                path.map(|path| self.history.touch(path))
            }
            GraphEdit::Rename { step, to } => self.rename(step, to),
            GraphEdit::Remove { step } => self.remove(step),
            GraphEdit::SetInputs { inputs } => self.set_inputs(inputs),
            GraphEdit::SetOutputs { outputs } => self.set_outputs(outputs),
        };
        let at = self.history.end_edit();
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
            self.history.removed.iter().filter(|(name, _)| is_gone(name)).collect();
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
                NodeName::Step(before) => position(&self.spec, &before),
                _ => None,
            },
            None => self.history.place_of_removed(&self.spec, name),
        };
        let at = at.unwrap_or(self.spec.steps.len());
        self.spec.steps.insert(at, (name.to_owned(), step));
        self.history.touch(format!("steps.{name}"));
        Ok(())
    }

    fn set(&mut self, step: &str, pin: &str, value: Option<&Value>) -> Result<(), GraphProblem> {
        let node = target::find(&self.spec, step)?;
        self.history.touch(format!("{}.{}", node.path(), pins::base(pin)));
        // The value of an output is the output's own path in the problems of a spec.
        if matches!(node, NodeName::Output(_)) && pins::base(pin) == "value" {
            self.history.touch(node.path());
        }
        set_value::set(&mut self.spec, &node, pin, value)
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
        self.history.note_renamed(&from, &renamed);
        Ok(())
    }

    fn remove(&mut self, step: &str) -> Result<(), GraphProblem> {
        let name = target::find(&self.spec, step)?;
        match &name {
            NodeName::Input(removed) => self.spec.inputs.retain(|(name, _)| name != removed),
            NodeName::Output(removed) => self.spec.outputs.retain(|(name, _)| name != removed),
            NodeName::Step(removed) => {
                if let Some(at) = position(&self.spec, removed) {
                    self.spec.steps.remove(at);
                    let after = self.spec.steps.get(at).map(|(name, _)| name.clone());
                    self.history.note_place(removed.clone(), after);
                }
            }
            NodeName::Text(_) => {}
        }
        self.forget(name);
        Ok(())
    }

    /// Clears the references to what was removed.
    fn forget(&mut self, name: NodeName) {
        remove::clear_references(&mut self.spec, &name);
        self.history.note_removed(name);
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
        self.history.touch(INPUTS.to_owned());
        Ok(())
    }

    fn set_outputs(&mut self, outputs: &Map<String, Value>) -> Result<(), GraphProblem> {
        self.spec.outputs = read_outputs(outputs)?;
        self.history.touch(OUTPUTS.to_owned());
        Ok(())
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
}

/// The problem with the place of its edit.
pub(crate) fn of_edit(index: usize, problem: GraphProblem) -> GraphProblem {
    GraphProblem { path: Some(format!("edits[{index}]")), ..problem }
}
