//! What the edits of a script have done so far: the paths they have set, what they have removed and where it was, and
//! which node of the base each name stands for.

use std::collections::HashMap;

use protocol::NodeId;

use crate::names::NodeName;
use crate::pins;
use crate::spec::AgentSpec;

pub(crate) struct EditHistory {
    /// The nodes of the base graph, by what they are called now. Removed ones stay, so that a step which is added again
    /// under its name is the same node.
    pub(crate) origins: HashMap<NodeName, NodeId>,
    /// What edits have set, by path, with the index of the edit.
    pub(crate) touched: Vec<TouchedPath>,
    /// What edits have removed, with the index of the edit.
    pub(crate) removed: Vec<(NodeName, usize)>,
    /// The steps that came after removed ones.
    places: HashMap<String, Option<String>>,
    /// The index of the edit that is being applied.
    index: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct TouchedPath {
    pub(crate) path: String,
    pub(crate) edit: usize,
}

impl EditHistory {
    pub(crate) fn new(origins: HashMap<NodeName, NodeId>) -> Self {
        Self { origins, touched: Vec::new(), removed: Vec::new(), places: HashMap::new(), index: 0 }
    }

    /// Ends an edit and returns its index.
    pub(crate) fn end_edit(&mut self) -> usize {
        self.index += 1;
        self.index - 1
    }

    pub(crate) fn touch(&mut self, path: String) {
        self.touched.push(TouchedPath { path, edit: self.index });
    }

    pub(crate) fn note_removed(&mut self, name: NodeName) {
        let path = name.path();
        self.touched.retain(|touched| !is_within(&touched.path, &path));
        self.removed.push((name, self.index));
    }

    /// The step that comes after a removed one is where it was.
    pub(crate) fn note_place(&mut self, step: String, after: Option<String>) {
        self.places.insert(step, after);
    }

    /// Where a step was that is added again.
    pub(crate) fn place_of_removed(&self, spec: &AgentSpec, step: &str) -> Option<usize> {
        let mut after = self.places.get(step)?.as_ref()?;
        // The step after it may have been removed as well.
        for _ in 0..self.places.len() {
            if let Some(at) = position(spec, after) {
                return Some(at);
            }
            after = self.places.get(after)?.as_ref()?;
        }
        None
    }

    /// The nodes of what was renamed, and of the texts in it, stay the same nodes.
    pub(crate) fn note_renamed(&mut self, from: &NodeName, to: &NodeName) {
        let (old, new) = (from.path(), to.path());
        let moved: Vec<(NodeName, NodeName)> = self
            .origins
            .keys()
            .filter_map(|name| match name {
                NodeName::Text(path) if is_within(path, &old) => {
                    let path = format!("{new}{}", &path[old.len()..]);
                    Some((name.clone(), NodeName::Text(path)))
                }
                name => (name == from).then(|| (name.clone(), to.clone())),
            })
            .collect();
        // A node that had the new name is gone.
        self.origins.remove(to);
        for (from, to) in moved {
            if let Some(node) = self.origins.remove(&from) {
                self.origins.insert(to, node);
            }
        }
        for touched in self.touched.iter_mut().filter(|touched| is_within(&touched.path, &old)) {
            touched.path = format!("{new}{}", &touched.path[old.len()..]);
        }
        if let (NodeName::Step(from), NodeName::Step(to)) = (from, to) {
            self.places.remove(to);
            for after in self.places.values_mut().filter(|after| after.as_ref() == Some(from)) {
                *after = Some(to.clone());
            }
        }
    }
}

/// The index of a step among the steps.
pub(crate) fn position(spec: &AgentSpec, step: &str) -> Option<usize> {
    spec.steps.iter().position(|(name, _)| name == step)
}

/// Whether a path of the spec is this place or inside it.
pub(crate) fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| {
        // A nested pin has a mark after its name.
        rest.is_empty() || rest.starts_with(['.', '[']) || pins::base(rest).is_empty()
    })
}
