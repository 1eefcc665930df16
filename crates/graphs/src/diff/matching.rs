//! Which step, input and output of one graph is which of the other.

use std::collections::{HashMap, HashSet};

use protocol::NodeId;

use crate::named_graph::NamedGraph;
use crate::names::NodeName;
use crate::placeholders::KnownNames;
use crate::spec::AgentSpec;
use crate::spec::references::StepBlocks;
use crate::spec::rename::rename;

/// Names of both graphs that belong to the same thing.
pub(crate) struct NamePairs {
    forward: HashMap<NodeName, NodeName>,
    backward: HashMap<NodeName, NodeName>,
}

impl NamePairs {
    /// Its name in the second graph.
    pub(crate) fn after(&self, before: &NodeName) -> Option<&NodeName> {
        self.forward.get(before)
    }

    /// Its name in the first graph.
    pub(crate) fn before(&self, after: &NodeName) -> Option<&NodeName> {
        self.backward.get(after)
    }

    /// The first spec with the names of the second one. What the second one does not have gets a name of its own if another
    /// thing has its name now.
    pub(crate) fn renamed(
        &self,
        from: &AgentSpec,
        to: &AgentSpec,
        blocks: &StepBlocks<'_>,
    ) -> AgentSpec {
        let mut spec = from.clone();
        let mut renames: Vec<(NodeName, NodeName)> = Vec::new();
        for name in names(from) {
            let wanted = match self.after(&name) {
                Some(after) => Some(after.clone()).filter(|after| *after != name),
                None => has(to, &name).then(|| temporary(&name, from, to, renames.len())),
            };
            renames.extend(wanted.map(|wanted| (name, wanted)));
        }
        // In two rounds, because names may be exchanged.
        let mut waiting = Vec::new();
        for (at, (name, wanted)) in renames.into_iter().enumerate() {
            let between = temporary(&name, from, to, from.steps.len() + from.inputs.len() + at);
            if rename(&mut spec, blocks, &name, between.as_str()).is_ok() {
                waiting.push((between, wanted));
            }
        }
        for (between, wanted) in waiting {
            // A text in which the name means something else shows as changed.
            let _ = rename(&mut spec, blocks, &between, wanted.as_str());
        }
        spec
    }
}

/// The same node, or else the same name.
pub(crate) fn pairs(from: &NamedGraph<'_>, to: &NamedGraph<'_>) -> NamePairs {
    let mut pairs = NamePairs { forward: HashMap::new(), backward: HashMap::new() };
    let mut pair = |before: NodeName, after: NodeName| {
        if !pairs.forward.contains_key(&before) && !pairs.backward.contains_key(&after) {
            pairs.backward.insert(after.clone(), before.clone());
            pairs.forward.insert(before, after);
        }
    };
    let (before, after) = (names(&from.spec), names(&to.spec));
    let known: HashSet<&NodeName> = after.iter().collect();
    for name in before.iter().filter(|name| from.ids.get(name) == to.ids.get(name)) {
        pair(name.clone(), name.clone());
    }
    let by_id: HashMap<(&'static str, &NodeId), &NodeName> =
        after.iter().filter_map(|name| Some(((name.kind(), to.ids.get(name)?), name))).collect();
    for name in &before {
        let Some(id) = from.ids.get(name) else { continue };
        if let Some(after) = by_id.get(&(name.kind(), id)) {
            pair(name.clone(), (*after).clone());
        }
    }
    for name in before.iter().filter(|name| known.contains(name)) {
        pair(name.clone(), name.clone());
    }
    pairs
}

/// Everything in a spec that has a name.
pub(crate) fn names(spec: &AgentSpec) -> Vec<NodeName> {
    let inputs = spec.inputs.iter().map(|(name, _)| NodeName::Input(name.clone()));
    let steps = spec.steps.iter().map(|(name, _)| NodeName::Step(name.clone()));
    let outputs = spec.outputs.iter().map(|(name, _)| NodeName::Output(name.clone()));
    inputs.chain(steps).chain(outputs).collect()
}

fn has(spec: &AgentSpec, name: &NodeName) -> bool {
    match name {
        NodeName::Input(name) | NodeName::Step(name) => spec.is_step(name) || spec.is_input(name),
        NodeName::Output(name) => spec.output(name).is_some(),
        NodeName::Text(_) => false,
    }
}

/// A name that neither graph has.
fn temporary(name: &NodeName, from: &AgentSpec, to: &AgentSpec, number: usize) -> NodeName {
    let with_name = |new: String| match name {
        NodeName::Input(_) => NodeName::Input(new),
        NodeName::Output(_) => NodeName::Output(new),
        NodeName::Step(_) | NodeName::Text(_) => NodeName::Step(new),
    };
    let mut new = with_name(format!("_other_{number}"));
    while has(from, &new) || has(to, &new) {
        new = with_name(format!("_{}", new.as_str()));
    }
    new
}
