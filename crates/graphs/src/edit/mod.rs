//! Applies edits to an agent as one transaction: all of them, or none. The edits are made on the agent's spec, which is
//! compiled again; whatever they do not concern stays as it was in the graph, byte for byte.

mod edit_history;
mod entries;
mod link_edits;
mod links;
mod pin_value;
mod remove;
mod set_value;
mod spec_editor;
mod target;
#[cfg(test)]
mod tests;
mod touched_pins;
mod undo;
mod untouched;

use std::collections::HashSet;

use protocol::graph::{Graph, GraphProblem};
use protocol::graph_edit::GraphEdit;
use protocol::limits::GRAPH_BYTES;

use crate::catalog::{BlockSpecs, KnownAgents};
use crate::compile::{CompileContext, CompiledNodes, compile_onto};
use crate::named_graph::NamedGraph;
use crate::names::ReservedNames;
use crate::problem::ProblemCode;
use crate::reference::INPUTS;
use crate::spec::references::StepBlocks;
use crate::validate::too_large;
use edit_history::is_within;
use spec_editor::{SpecEditor, of_edit};
pub(crate) use target::OUTPUTS;

/// How many edits one transaction may have.
pub const MAX_EDITS: usize = 500;

/// The agent after all edits.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedGraph {
    /// The version is that of the base; the caller numbers the new one.
    pub graph: Graph,
    /// Edits that restore the spec of the base. A script that removes what many steps use may need more of them than one
    /// transaction takes; then only restoring the version undoes it.
    pub undo: Vec<GraphEdit>,
    /// Problems that a draft may have: those of the base, and pins that the block of a step does not have. What an edit
    /// causes has the edit as its path.
    pub problems: Vec<GraphProblem>,
}

/// Applies the edits. If one of them cannot be applied, none is, and the problem names it: `edits[2]`.
///
/// - Values are read when all edits are made, so an edit may refer to a step that a later one adds.
/// - A text of the base that was not a reference does not become one because a new step has the name in it.
/// - Removing a step clears the values that are references to it. A text with `{{…}}` of it is not changed: the script is
///   refused unless it sets the text, too.
/// - A step that is removed and added again in one script keeps its place, its id and its position.
pub fn apply(
    graph: &Graph,
    edits: &[GraphEdit],
    blocks: &dyn BlockSpecs,
    agents: &dyn KnownAgents,
) -> Result<EditedGraph, Vec<GraphProblem>> {
    check_size(graph, edits)?;
    if edits.is_empty() {
        return Ok(EditedGraph { graph: graph.clone(), undo: Vec::new(), problems: Vec::new() });
    }
    let base = NamedGraph::read(graph, blocks, new_names(edits));
    let mut editor = SpecEditor::new(base.spec.clone(), StepBlocks::new(blocks), base.ids.clone());
    for edit in edits {
        editor.apply(edit).map_err(|problem| vec![problem])?;
    }
    let mut refusals = editor.finish();
    let context = CompileContext { blocks, agents, id: &graph.id, previous: Some(graph) };
    let mut compiled = compile_onto(&editor.spec, context, base.nodes(&editor.history.origins));
    let mut problems = Vec::new();
    for problem in std::mem::take(&mut compiled.problems) {
        match caused_by(&editor, &problem) {
            Some(index) => refusals.push(of_edit(index, problem)),
            None => problems.push(problem),
        }
    }
    problems.extend(touched_pins::check(&editor, &compiled, blocks));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let unedited = compile_onto(&base.spec, context, base.nodes(&base.ids));
    let edited = untouched::keep(graph, &unedited, compiled, blocks);
    if let Some(problem) = too_large(&edited) {
        return Err(vec![problem]);
    }
    let undo = undo::script(graph, &edited, blocks);
    Ok(EditedGraph { graph: edited, undo, problems })
}

/// The index of the last edit that set what a problem is about.
fn caused_by(editor: &SpecEditor<'_>, problem: &GraphProblem) -> Option<usize> {
    let path = problem.path.as_ref()?;
    let touched = editor.history.touched.iter().filter(|touched| is_within(path, &touched.path));
    touched.map(|touched| touched.edit).max()
}

/// The names that edits may add.
fn new_names(edits: &[GraphEdit]) -> ReservedNames {
    let mut names = ReservedNames::default();
    for edit in edits {
        match edit {
            GraphEdit::AddStep { step, .. } => {
                names.steps.insert(step.clone());
            }
            GraphEdit::Rename { step, to } => match step.strip_prefix(INPUTS) {
                Some(rest) if rest.starts_with(['.', '[']) => {
                    names.inputs.insert(to.strip_prefix("inputs.").unwrap_or(to).to_owned());
                }
                _ => {
                    names.steps.insert(to.clone());
                }
            },
            GraphEdit::SetInputs { inputs } => names.inputs.extend(inputs.keys().cloned()),
            _ => {}
        }
    }
    names
}

fn check_size(graph: &Graph, edits: &[GraphEdit]) -> Result<(), Vec<GraphProblem>> {
    let refuse = |code: ProblemCode, message: String| Err(vec![code.of_graph(message)]);
    if edits.len() > MAX_EDITS {
        let message = format!(
            "There are {} edits; at most {MAX_EDITS} are allowed. Make them in several steps, or restore an earlier \
             version to undo many edits at once.",
            edits.len()
        );
        return refuse(ProblemCode::TooLarge, message);
    }
    let bytes = serde_json::to_vec(edits).map_or(0, |text| text.len());
    if bytes > GRAPH_BYTES {
        let message = format!("The edits have {bytes} bytes; at most {GRAPH_BYTES} are allowed.");
        return refuse(ProblemCode::TooLarge, message);
    }
    if let Some(problem) = too_large(graph) {
        return Err(vec![problem]);
    }
    let mut ids = HashSet::new();
    match graph.nodes.iter().find(|node| !ids.insert(&node.id)) {
        Some(node) => {
            let message =
                format!("Several nodes have the id {}, so they cannot be edited.", node.id);
            Err(vec![ProblemCode::DuplicateNode.of_node(node, message)])
        }
        None => Ok(()),
    }
}
