//! Entries of a spec as edits give them: how they are read, and what is wrong with them.

use protocol::graph::GraphProblem;
use serde_json::{Map, Value, json};

use super::target::OUTPUTS;
use crate::names::NodeName;
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::INPUTS;
use crate::spec::{self, AgentSpec, InputSpec, OutputSpec, StepSpec};

/// The entry with this name in a section of a spec.
pub(crate) fn entry<'a, T>(entries: &'a mut [(String, T)], name: &str) -> Option<&'a mut T> {
    entries.iter_mut().find(|(known, _)| known == name).map(|(_, entry)| entry)
}

/// Changes the value of an output as if it were a pin.
pub(crate) fn edit_output(
    output: &mut OutputSpec,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), GraphProblem>,
) -> Result<(), GraphProblem> {
    let mut values = Map::new();
    if let Some(value) = output.from.take() {
        values.insert("value".to_owned(), value);
    }
    change(&mut values)?;
    output.from = values.shift_remove("value");
    match values.is_empty() {
        true => Ok(()),
        false => {
            let message = "The value of the output has no such part. Set the whole value.";
            Err(ProblemCode::InvalidEdit.of_graph(message))
        }
    }
}

pub(crate) fn read_step(name: &str, with: &Map<String, Value>) -> Result<StepSpec, GraphProblem> {
    let steps = Map::from_iter([(name.to_owned(), Value::Object(with.clone()))]);
    let mut read = read_section("steps", &steps)?;
    read.steps.pop().map(|(_, step)| step).ok_or_else(GraphProblem::default)
}

pub(crate) fn read_outputs(
    outputs: &Map<String, Value>,
) -> Result<Vec<(String, OutputSpec)>, GraphProblem> {
    Ok(read_section(OUTPUTS, outputs)?.outputs)
}

pub(crate) fn read_inputs(
    inputs: &Map<String, Value>,
) -> Result<Vec<(String, InputSpec)>, GraphProblem> {
    Ok(read_section(INPUTS, inputs)?.inputs)
}

/// Reads one section of a spec.
fn read_section(section: &str, entries: &Map<String, Value>) -> Result<AgentSpec, GraphProblem> {
    let document = json!({ section: entries });
    spec::read(&document).map_err(|problems| problems.into_iter().next().unwrap_or_default())
}

pub(crate) fn check_name(name: &NodeName) -> Result<(), GraphProblem> {
    let (section, entry) = match name {
        NodeName::Input(_) => (INPUTS, json!("any")),
        NodeName::Output(_) => (OUTPUTS, Value::Null),
        NodeName::Step(_) | NodeName::Text(_) => ("steps", json!({ "block": "" })),
    };
    read_section(section, &Map::from_iter([(name.as_str().to_owned(), entry)])).map(|_| ())
}

pub(crate) fn check_pin_name(pin: &str) -> Result<(), GraphProblem> {
    match pins::steps(pin) {
        Ok(_) if !pin.is_empty() => Ok(()),
        _ => {
            let message = format!("`{pin}` is not the name of a pin.");
            Err(ProblemCode::UnknownInput.of_graph(message).got(pin))
        }
    }
}

pub(crate) fn name_taken(name: &str, kind: &str) -> GraphProblem {
    let article = if kind == "step" { "a" } else { "an" };
    let message = format!("There is already {article} {kind} `{name}`. Choose another name.");
    ProblemCode::DuplicateName.of_graph(message).got(name)
}

pub(crate) fn not_a_reference(text: &str) -> GraphProblem {
    let message = format!("`{text}` is not a reference to an output of a step or to an input.");
    let problem = ProblemCode::UnknownReference.of_graph(message);
    problem.expected("`step.pin` or `inputs.name`").got(text)
}
