//! Repairs an agent, as far as that keeps its meaning: what is left is for its author. Every repair belongs to a reported
//! problem, so a graph without problems stays as it is, byte for byte.
//!
//! The order is the origin's, where one repair can depend on another: ids, braces, credentials, links, converters, the
//! pins of nested agents. Its other fixes are left out:
//!
//! - A store-value block before a condition, and helper blocks for lists and dictionaries: our blocks take these values
//!   as they are.
//! - Unknown model names: the blocks fall back to the configured model.
//! - The size of data samples, an empty replacement text, date offsets, the defaults of orchestrators: the values that
//!   the origin replaces are valid here.
//! - The output name of code execution, and Gmail: there are no such blocks.
//! - Sink names such as `inputs_#_name` of nested agents and MCP tools: they mean the same as `name`.
//! - Schemas of MCP tools: only their server knows them.

mod agents;
mod appearance;
mod converters;
mod ids;
mod links;
mod pins;
mod settings;
#[cfg(test)]
mod tests;

use protocol::graph::{Graph, GraphProblem};
use protocol::graph_edit::GraphEdit;
use serde::Serialize;

use crate::catalog::{BlockSpecs, KnownAgents};
use crate::validate::agents::DocumentAgents;
use crate::validate::{GraphReport, check};

/// A repaired agent.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedGraph {
    pub graph: Graph,
    pub fixes: Vec<AppliedFix>,
    /// What is left to report.
    pub remaining: GraphReport,
}

/// One repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct AppliedFix {
    /// The code of the problem, or `is_static` and `position` for what follows other repairs.
    pub code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub message: String,
    /// The same repair as an edit, where one edit says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<GraphEdit>,
}

impl AppliedFix {
    fn of(problem: GraphProblem, message: impl Into<String>) -> Self {
        let GraphProblem { code, path, edit, .. } = problem;
        Self { code, path, message: message.into(), edit }
    }
}

/// How often all repairs are tried. One repair can uncover another; two rounds are usual.
const MAX_ROUNDS: usize = 8;

/// What repairs are made with.
struct FixContext<'a> {
    blocks: &'a dyn BlockSpecs,
    agents: &'a DocumentAgents<'a>,
}

type Repair = fn(&mut Graph, &FixContext<'_>) -> Vec<AppliedFix>;

const REPAIRS: [Repair; 10] = [
    ids::distinct_nodes,
    settings::braces,
    settings::secrets,
    links::without_missing_nodes,
    links::without_duplicates,
    agents::schemas,
    pins::spelling,
    links::without_nowhere,
    settings::values,
    converters::between_types,
];

/// Repairs the agent and those inside it. Without `agents`, copies of other agents' interfaces are not compared.
pub fn fix(graph: &Graph, blocks: &dyn BlockSpecs, agents: Option<&dyn KnownAgents>) -> FixedGraph {
    let report = check(graph, blocks, agents);
    let is_too_large = crate::validate::too_large(graph).is_some();
    if is_too_large || report.problems().next().is_none() {
        return FixedGraph { graph: graph.clone(), fixes: Vec::new(), remaining: report };
    }
    let mut fixed = graph.clone();
    let document = DocumentAgents::of(graph, blocks, agents);
    let fixes = repair(&mut fixed, &FixContext { blocks, agents: &document });
    let remaining = match fixes.is_empty() {
        true => report,
        false => check(&fixed, blocks, agents),
    };
    FixedGraph { graph: fixed, fixes, remaining }
}

fn repair(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    let mut fixes = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let before = fixes.len();
        for repair in REPAIRS {
            fixes.extend(repair(graph, context));
        }
        if fixes.len() == before {
            break;
        }
    }
    // Flags and positions have no meaning, so they alone are no reason to change a graph.
    if !fixes.is_empty() {
        fixes.extend(appearance::static_flags(graph, context));
        fixes.extend(appearance::positions(graph, context));
    }
    for inner in &mut graph.sub_graphs {
        let of_inner = repair(inner, context).into_iter().map(|fix| AppliedFix {
            message: format!("In the agent “{}” inside it: {}", inner.name, fix.message),
            // Edits apply to the outer agent, whose steps have other names.
            edit: None,
            ..fix
        });
        fixes.extend(of_inner.collect::<Vec<_>>());
    }
    fixes
}
