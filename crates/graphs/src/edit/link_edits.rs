//! Edits of the links of a spec: finds both ends, changes the value of the pin, and says why it cannot be done.

use protocol::graph::GraphProblem;
use serde_json::{Map, Value};

use super::entries::{check_pin_name, edit_output, entry, not_a_reference};
use super::links::{self, LinkRefusal};
use super::target::{self, LinkSink};
use crate::names::NodeName;
use crate::pins;
use crate::placeholders::{KnownNames, whole_reference};
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::{Reference, Source};
use crate::spec::AgentSpec;

/// Adds a link. Returns the path that it sets.
pub(crate) fn connect(spec: &mut AgentSpec, from: &str, to: &str) -> Result<String, GraphProblem> {
    let reference = reference(spec, from)?;
    let sink = target::find_sink(spec, to)?;
    edit_links(spec, &sink, |pins, names| links::connect(pins, &sink.pin, &reference, names))?
        .map_err(|refusal| match refusal {
            LinkRefusal::Exists | LinkRefusal::Missing(_) => ProblemCode::DuplicateLink
                .of_graph(format!("`{to}` is already linked to `{from}`.")),
            LinkRefusal::Composed => ProblemCode::InvalidEdit.of_graph(format!(
                "The value of `{to}` has references in it. Set it, or clear it before linking it."
            )),
        })?;
    Ok(sink.touched_path())
}

/// Removes a link. Returns the path that it was at.
pub(crate) fn disconnect(
    spec: &mut AgentSpec,
    from: &str,
    to: &str,
) -> Result<String, GraphProblem> {
    let reference = reference(spec, from)?;
    let sink = target::find_sink(spec, to)?;
    edit_links(spec, &sink, |pins, names| links::disconnect(pins, &sink.pin, &reference, names))?
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
    })?;
    Ok(sink.touched_path())
}

/// Runs a change of the links of a pin with the names of the spec.
fn edit_links(
    spec: &mut AgentSpec,
    sink: &LinkSink,
    change: impl Fn(&mut Map<String, Value>, &dyn KnownNames) -> Result<(), LinkRefusal>,
) -> Result<Result<(), LinkRefusal>, GraphProblem> {
    check_pin_name(&sink.pin)?;
    match &sink.node {
        NodeName::Output(name) => {
            let Some(mut output) = entry(&mut spec.outputs, name).cloned() else {
                return Ok(Ok(()));
            };
            let mut changed = Ok(());
            edit_output(&mut output, |values| {
                changed = change(values, &*spec);
                Ok(())
            })?;
            if let Some(place) = entry(&mut spec.outputs, name) {
                *place = output;
            }
            Ok(changed)
        }
        NodeName::Step(name) => {
            let Some(place) = entry(&mut spec.steps, name) else { return Ok(Ok(())) };
            let mut pins = std::mem::take(&mut place.pins);
            let changed = change(&mut pins, &*spec);
            if let Some(place) = entry(&mut spec.steps, name) {
                place.pins = pins;
            }
            Ok(changed)
        }
        NodeName::Input(_) | NodeName::Text(_) => Ok(Ok(())),
    }
}

/// What a link comes from. Whether the step has the pin is checked when all edits are applied.
fn reference(spec: &AgentSpec, text: &str) -> Result<Reference, GraphProblem> {
    let reference = whole_reference(text, spec);
    if let Some(reference) = reference {
        match &reference.source {
            Source::Input(name) if spec.input(name).is_none() => {
                return Err(target::find(spec, text).err().unwrap_or_default());
            }
            _ => return Ok(reference),
        }
    }
    match Reference::parse(text) {
        Some(parsed) => match target::find(spec, parsed.root()) {
            Err(problem) => Err(problem),
            Ok(_) => Err(not_a_reference(text)),
        },
        None => Err(not_a_reference(text)),
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
