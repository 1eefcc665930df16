//! What an edit is about: a step, an input, an output, or a pin of one.

use protocol::graph::GraphProblem;

use crate::catalog::closest;
use crate::names::NodeName;
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::{INPUTS, Reference, Source};
use crate::spec::AgentSpec;

pub(crate) const OUTPUTS: &str = "outputs";

/// Finds `page`, `inputs.harbor` or `outputs.tide`.
pub(crate) fn find(spec: &AgentSpec, text: &str) -> Result<NodeName, GraphProblem> {
    if let Some(name) = named_in(text, INPUTS, |name| spec.input(name).is_some()) {
        return Ok(NodeName::Input(name));
    }
    if let Some(name) = named_in(text, OUTPUTS, |name| spec.output(name).is_some()) {
        return Ok(NodeName::Output(name));
    }
    match spec.step(text) {
        Some(_) => Ok(NodeName::Step(text.to_owned())),
        None => Err(unknown(spec, text)),
    }
}

/// A pin that a link leads to: `page.url`, `page.headers.Accept`, `outputs.tide`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkSink {
    pub(crate) node: NodeName,
    /// The name of the pin, with the path into it.
    pub(crate) pin: String,
}

pub(crate) fn find_sink(spec: &AgentSpec, text: &str) -> Result<LinkSink, GraphProblem> {
    if let Some(name) = named_in(text, OUTPUTS, |name| spec.output(name).is_some()) {
        return Ok(LinkSink { node: NodeName::Output(name), pin: "value".to_owned() });
    }
    let (root, pin, path) = match Reference::parse(text) {
        Some(Reference { source: Source::Pin { step, pin }, path }) => (step, pin, path),
        _ => match text.split_once('.') {
            // Pins with unusual names, such as `values_#_name`.
            Some((step, pin)) if step != INPUTS => {
                let (base, path) = pin.split_at(pins::base(pin).len());
                (step.to_owned(), base.to_owned(), path.to_owned())
            }
            _ => {
                let message = format!(
                    "`{text}` is not a pin. A link leads to a pin of a step or to an output."
                );
                let problem = ProblemCode::InvalidEdit.of_graph(message);
                return Err(problem.expected("`step.pin` or `outputs.name`").got(text));
            }
        },
    };
    if root == OUTPUTS {
        return match spec.output(&pin) {
            Some(_) => Ok(LinkSink { node: NodeName::Output(pin), pin: format!("value{path}") }),
            None => Err(unknown(spec, text)),
        };
    }
    match spec.step(&root) {
        Some(_) => Ok(LinkSink { node: NodeName::Step(root), pin: format!("{pin}{path}") }),
        None => Err(unknown(spec, &root)),
    }
}

/// The name in `section.name` or `section["name"]`.
fn named_in(text: &str, section: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    let plain = text.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
    if let Some(name) = plain.filter(|name| exists(name)) {
        return Some(name.to_owned());
    }
    let reference = Reference::parse(text).filter(|found| found.path.is_empty())?;
    let name = match reference.source {
        Source::Input(name) if section == INPUTS => name,
        Source::Pin { step, pin } if step == section => pin,
        _ => return None,
    };
    exists(&name).then_some(name)
}

fn unknown(spec: &AgentSpec, text: &str) -> GraphProblem {
    let inputs = spec.inputs.iter().map(|(name, _)| format!("{INPUTS}.{name}"));
    let outputs = spec.outputs.iter().map(|(name, _)| format!("{OUTPUTS}.{name}"));
    let known: Vec<String> =
        spec.steps.iter().map(|(name, _)| name.clone()).chain(inputs).chain(outputs).collect();
    let meant = closest(text, known.iter().map(String::as_str));
    let message = match meant {
        Some(meant) => format!("There is no `{text}`. Did you mean `{meant}`?"),
        None => format!("There is no `{text}`."),
    };
    let problem = ProblemCode::UnknownStep.of_graph(message).got(text);
    match meant {
        Some(meant) => problem.expected(meant),
        None => problem,
    }
}
