//! Checks the pins that edits set and refer to, so that a misspelled one is reported with the edit that has it. It is no
//! reason to refuse the edits: agents made elsewhere have pins that our blocks lack, and an undo must restore them.

use std::collections::{HashMap, HashSet};

use protocol::block::BlockSpec;
use protocol::graph::{GraphProblem, Node};
use serde_json::{Map, Value};

use super::CompiledNodes;
use super::spec_editor::{SpecEditor, of_edit};
use crate::catalog::{BlockSpecs, closest};
use crate::names::NodeName;
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::Source;
use crate::spec::StepSpec;
use crate::spec::references::{self, ReferenceUse, SpecNames};
use crate::validate::node_pins::{self, PinSchema};

pub(crate) fn check(
    editor: &SpecEditor<'_>,
    compiled: &CompiledNodes,
    blocks: &dyn BlockSpecs,
) -> Vec<GraphProblem> {
    let checker = PinChecker { compiled, blocks };
    // The last edit of each path counts.
    let mut touched: HashMap<&str, usize> = HashMap::new();
    for one in &editor.history.touched {
        touched.insert(&one.path, one.edit);
    }
    let names = SpecNames::of(&editor.spec);
    let steps: HashSet<&str> =
        editor.history.touched.iter().filter_map(|one| step_of(&one.path)).collect();
    let mut problems = Vec::new();
    for (name, step) in &editor.spec.steps {
        let path = format!("steps.{name}");
        let edit_of = |pin: &str| {
            let own = touched.get(format!("{path}.{}", pins::base(pin)).as_str());
            own.or_else(|| touched.get(path.as_str())).copied()
        };
        if !steps.contains(name.as_str()) {
            continue;
        }
        problems.extend(checker.inputs(name, step, &edit_of));
        let used = references::of_step(step, &editor.blocks, &names);
        problems.extend(checker.outputs(used, &edit_of));
    }
    for (name, output) in &editor.spec.outputs {
        let path = format!("outputs.{name}");
        let edit = touched.get(path.as_str()).or_else(|| touched.get("outputs")).copied();
        if let (Some(edit), Some(value)) = (edit, &output.from) {
            let used = references::of_output(value, &names);
            problems.extend(checker.outputs(used, &|_| Some(edit)));
        }
    }
    problems
}

/// The step in `steps.name.pin`.
fn step_of(path: &str) -> Option<&str> {
    path.strip_prefix("steps.")?.split('.').next()
}

struct PinChecker<'a> {
    compiled: &'a CompiledNodes,
    blocks: &'a dyn BlockSpecs,
}

impl PinChecker<'_> {
    fn node(&self, step: &str) -> Option<(&Node, &BlockSpec)> {
        let at = *self.compiled.nodes.get(&NodeName::Step(step.to_owned()))?;
        let node = self.compiled.graph.nodes.get(at)?;
        Some((node, self.blocks.spec(&node.block_id)?))
    }

    /// Values of pins that the block does not have.
    fn inputs(
        &self,
        name: &str,
        step: &StepSpec,
        edit_of: &dyn Fn(&str) -> Option<usize>,
    ) -> Vec<GraphProblem> {
        let Some((node, block)) = self.node(name) else { return Vec::new() };
        let mut problems = Vec::new();
        for pin in step.pins.keys() {
            let base = pins::base(pin);
            let Some(edit) = edit_of(pin) else { continue };
            if !matches!(node_pins::input(node, block, base), PinSchema::Missing) {
                continue;
            }
            let own = node_pins::own_inputs(node, block.kind);
            let known = names(&block.inputs).chain(own.into_iter().flat_map(names));
            let message = format!("`{name}` has no pin `{base}`.");
            let problem = described(ProblemCode::UnknownInput, message, base, known);
            problems.push(of_edit(edit, GraphProblem { step: Some(name.to_owned()), ..problem }));
        }
        problems
    }

    /// References to outputs that the block does not have.
    fn outputs(
        &self,
        used: Vec<ReferenceUse>,
        edit_of: &dyn Fn(&str) -> Option<usize>,
    ) -> Vec<GraphProblem> {
        let mut problems = Vec::new();
        for ReferenceUse { reference, sink, .. } in used {
            let Source::Pin { step, pin } = &reference.source else { continue };
            let (Some(edit), Some((node, block))) = (edit_of(&sink), self.node(step)) else {
                continue;
            };
            if !matches!(node_pins::output(node, block, pin), PinSchema::Missing) {
                continue;
            }
            let own = node.input_default.get("output_schema");
            let known = names(&block.outputs).chain(own.into_iter().flat_map(names));
            let message = format!("`{step}` has no output `{pin}`.");
            let problem = described(ProblemCode::UnknownOutput, message, pin, known);
            problems.push(of_edit(edit, GraphProblem { step: Some(step.clone()), ..problem }));
        }
        problems
    }
}

fn names(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str)
}

fn described<'a>(
    code: ProblemCode,
    message: String,
    got: &str,
    known: impl Iterator<Item = &'a str>,
) -> GraphProblem {
    let known: Vec<&str> = known.collect();
    let meant = closest(got, known.iter().copied());
    let expected = meant.map_or_else(|| known.join(", "), str::to_owned);
    let message = match meant {
        Some(meant) => format!("{message} Did you mean `{meant}`?"),
        None => message,
    };
    code.of_graph(message).expected(expected).got(got)
}
