//! What a change means besides the change itself: effects, credentials and cost.

use std::collections::{BTreeMap, BTreeSet};

use protocol::block::{BlockKind, BlockSpec, CostKind, MeteredUsage, price};
use protocol::graph::{Graph, Node};
use protocol::graph_diff::{AgentCost, CredentialsDiff, CredentialsUse, EffectsDiff, StepEffect};
use protocol::tool::ToolEffect;

use super::matching::NamePairs;
use crate::catalog::{BlockSpecs, block_title};
use crate::named_graph::NamedGraph;
use crate::names::NodeName;

/// The effects of steps that the other graph does not have, or has with another block.
pub(crate) fn effects(
    from: &NamedGraph<'_>,
    to: &NamedGraph<'_>,
    pairs: &NamePairs,
    blocks: &dyn BlockSpecs,
) -> EffectsDiff {
    let (before, after) = (from.nodes(&from.ids), to.nodes(&to.ids));
    let has_same = |node: &Node, other: Option<&&Node>| {
        other.is_some_and(|other| other.block_id == node.block_id)
    };
    let mut added = Vec::new();
    for (name, node) in &after {
        let earlier = pairs.before(name).and_then(|earlier| before.get(earlier));
        if !has_same(node, earlier) {
            added.extend(effect(name, node, blocks));
        }
    }
    let mut removed = Vec::new();
    for (name, node) in &before {
        let later = pairs.after(name).and_then(|later| after.get(later));
        if !has_same(node, later) {
            removed.extend(effect(name, node, blocks));
        }
    }
    added.sort_by(|a, b| a.step.cmp(&b.step));
    removed.sort_by(|a, b| a.step.cmp(&b.step));
    EffectsDiff { added, removed }
}

fn effect(name: &NodeName, node: &Node, blocks: &dyn BlockSpecs) -> Option<StepEffect> {
    let NodeName::Step(step) = name else { return None };
    let spec = blocks.spec(&node.block_id)?;
    (spec.effect != ToolEffect::None || spec.sensitive).then(|| StepEffect {
        step: step.clone(),
        block: block_title(spec.name),
        effect: spec.effect,
        sensitive: spec.sensitive,
    })
}

/// Credentials that only one of the graphs needs.
pub(crate) fn credentials(
    from: &NamedGraph<'_>,
    to: &NamedGraph<'_>,
    blocks: &dyn BlockSpecs,
) -> CredentialsDiff {
    let (before, after) = (needed(from, blocks), needed(to, blocks));
    let only_in = |these: &BTreeMap<String, BTreeSet<String>>,
                   others: &BTreeMap<String, BTreeSet<String>>| {
        let only = these.iter().filter(|(provider, _)| !others.contains_key(*provider));
        only.map(|(provider, steps)| CredentialsUse {
            provider: provider.clone(),
            steps: steps.iter().cloned().collect(),
        })
        .collect()
    };
    CredentialsDiff { added: only_in(&after, &before), removed: only_in(&before, &after) }
}

fn needed(named: &NamedGraph<'_>, blocks: &dyn BlockSpecs) -> BTreeMap<String, BTreeSet<String>> {
    let mut needed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, node) in named.nodes(&named.ids) {
        for pin in blocks.spec(&node.block_id).into_iter().flat_map(BlockSpec::credentials) {
            let provider = pin.provider.unwrap_or(pin.title).to_owned();
            needed.entry(provider).or_default().insert(name.as_str().to_owned());
        }
    }
    needed
}

/// The price of an execution in which every node runs once.
pub(crate) fn cost(graph: &Graph, blocks: &dyn BlockSpecs) -> AgentCost {
    let mut cost = AgentCost::default();
    for node in &graph.nodes {
        match blocks.spec(&node.block_id) {
            Some(spec) => {
                let credits = price(spec.costs, &MeteredUsage::default());
                cost.credits = cost.credits.saturating_add(credits);
                // Another agent has a price of its own.
                cost.is_minimum |= spec.kind == BlockKind::Agent
                    || spec.costs.iter().any(|cost| cost.kind != CostKind::Run);
            }
            None => cost.is_minimum = true,
        }
    }
    cost
}
