//! Links that lead nowhere or exist twice.

use std::collections::HashSet;

use protocol::graph::{Graph, GraphProblem, Link};

use super::{AppliedFix, FixContext};
use crate::derived_id::derived_id;
use crate::pins;
use crate::problem::ProblemCode;
use crate::validate::index::GraphIndex;
use crate::validate::link_pins;

/// Drops links from or to nodes that do not exist: no agent with one runs.
pub(crate) fn without_missing_nodes(
    graph: &mut Graph,
    context: &FixContext<'_>,
) -> Vec<AppliedFix> {
    drop_links(graph, context, |index, link| {
        let missing = [&link.source_id, &link.sink_id]
            .into_iter()
            .find(|id| !index.nodes.contains_key(id))?;
        let message = format!("Removed a link of the node {missing}, which does not exist.");
        Some((index.at_link(ProblemCode::MissingNode, link, ""), message))
    })
}

/// Drops nested links to a pin that does not exist or has no members. Nothing can arrive there.
pub(crate) fn without_nowhere(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    drop_links(graph, context, |index, link| {
        if !pins::is_nested(&link.sink_name) || !has_both_nodes(index, link) {
            return None;
        }
        let problem = link_pins(index, link).1.err()?;
        let message = format!("Removed a link to `{}`, which leads nowhere.", link.sink_name);
        Some((problem, message))
    })
}

/// Drops repeated links, and gives different links with one id ids of their own.
pub(crate) fn without_duplicates(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    let mut ends = HashSet::new();
    let is_repeated: Vec<bool> = graph
        .links
        .iter()
        .map(|link| {
            !ends.insert((&link.source_id, &link.source_name, &link.sink_id, &link.sink_name))
        })
        .collect();
    let mut at = 0;
    let mut fixes = drop_links(graph, context, |index, link| {
        at += 1;
        is_repeated[at - 1].then(|| {
            let message = format!("Removed a second link to `{}`.", link.sink_name);
            (index.at_link(ProblemCode::DuplicateLink, link, ""), message)
        })
    });
    let mut ids: HashSet<String> = HashSet::new();
    let mut renamed = Vec::new();
    let index = GraphIndex::read(graph, context.blocks);
    for (at, link) in graph.links.iter().enumerate() {
        if ids.insert(link.id.clone()) {
            continue;
        }
        // The ends are unique by now, and so is an id that is made of them.
        let id = derived_id(&[
            link.source_id.as_str(),
            &link.source_name,
            link.sink_id.as_str(),
            &link.sink_name,
            &link.id,
        ]);
        let message = format!("Gave the second link {} the id {id}.", link.id);
        let problem = index.at_link(ProblemCode::DuplicateLink, link, "");
        fixes.push(AppliedFix::of(problem, message));
        ids.insert(id.clone());
        renamed.push((at, id));
    }
    for (at, id) in renamed {
        graph.links[at].id = id;
    }
    fixes
}

pub(crate) fn has_both_nodes(index: &GraphIndex<'_>, link: &Link) -> bool {
    [&link.source_id, &link.sink_id].into_iter().all(|id| index.nodes.contains_key(id))
}

/// Drops the links for which a problem is given, with a sentence that says so.
fn drop_links(
    graph: &mut Graph,
    context: &FixContext<'_>,
    mut fault: impl FnMut(&GraphIndex<'_>, &Link) -> Option<(GraphProblem, String)>,
) -> Vec<AppliedFix> {
    let index = GraphIndex::read(graph, context.blocks);
    let faults: Vec<_> = graph.links.iter().map(|link| fault(&index, link)).collect();
    let mut kept = faults.iter().map(Option::is_none).collect::<Vec<_>>().into_iter();
    graph.links.retain(|_| kept.next().unwrap_or(true));
    let fixed = faults.into_iter().flatten();
    fixed.map(|(problem, message)| AppliedFix::of(problem, message)).collect()
}
