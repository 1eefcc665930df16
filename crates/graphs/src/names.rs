//! The names of nodes, as a spec uses them. A graph keeps no such names, so they are taken from what its nodes are called,
//! always in the same way.

use std::collections::{HashMap, HashSet};

use protocol::NodeId;
use protocol::block::BlockKind;
use protocol::graph::{Graph, KEY_MARK, Link, Node};
use serde_json::Value;

use crate::catalog::{BlockSpecs, block_title};
use crate::pins;
use crate::placeholders::{FILL_TEXT, FILL_TEXT_FORMAT, FILL_TEXT_VALUES, KnownNames, references};
use crate::reference::{INPUTS, Reference, is_plain_name};
use crate::schema::interface_name;

/// Metadata of a node: the name of its step.
pub const STEP: &str = "step";
/// Metadata of a node that fills a text for one pin of another node: the place of that text in the spec.
pub const GENERATED_FOR: &str = "generated_for";

/// What a node is in a spec, and its name there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeName {
    Input(String),
    Step(String),
    Output(String),
    /// A node that fills a text. A spec shows the text in its place: this is the path of it.
    Text(String),
}

impl NodeName {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Input(name) | Self::Step(name) | Self::Output(name) | Self::Text(name) => name,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Step(_) => "step",
            Self::Output(_) => "output",
            Self::Text(_) => "text",
        }
    }

    /// Where the node is in the spec.
    pub fn path(&self) -> String {
        match self {
            Self::Input(name) => format!("inputs.{name}"),
            Self::Step(name) => format!("steps.{name}"),
            Self::Output(name) => format!("outputs.{name}"),
            Self::Text(path) => path.clone(),
        }
    }
}

/// The names of all nodes of a graph.
#[derive(Clone, Debug)]
pub struct NodeNames {
    names: HashMap<NodeId, NodeName>,
    steps: HashSet<String>,
    inputs: HashSet<String>,
    /// The next number to try for a name that is taken, so that many nodes of one block are named in linear time.
    numbers: HashMap<String, usize>,
    reserved: ReservedNames,
}

/// Names that the graph does not have yet, and that a text which is not a reference must not be confused with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReservedNames {
    pub(crate) steps: HashSet<String>,
    pub(crate) inputs: HashSet<String>,
}

impl NodeNames {
    pub fn of(graph: &Graph, blocks: &dyn BlockSpecs) -> Self {
        Self::with_reserved(graph, blocks, ReservedNames::default())
    }

    pub(crate) fn with_reserved(
        graph: &Graph,
        blocks: &dyn BlockSpecs,
        reserved: ReservedNames,
    ) -> Self {
        let mut names = Self {
            names: HashMap::new(),
            steps: HashSet::new(),
            inputs: HashSet::new(),
            numbers: HashMap::new(),
            reserved,
        };
        names.name_interface(graph, blocks);
        let mut texts = Vec::new();
        for node in &graph.nodes {
            if names.names.contains_key(&node.id) {
                continue;
            }
            match text_candidate(graph, node) {
                Some(path) => texts.push((node, path)),
                None => names.name_step(node, blocks),
            }
        }
        for (node, path) in texts {
            match names.fills_what_it_says(graph, node) {
                true => {
                    names.names.insert(node.id.clone(), NodeName::Text(path));
                }
                false => names.name_step(node, blocks),
            }
        }
        names
    }

    /// Every node of the graph has a name.
    pub fn name(&self, node: &NodeId) -> &NodeName {
        &self.names[node]
    }

    pub fn get(&self, node: &NodeId) -> Option<&NodeName> {
        self.names.get(node)
    }

    /// The reference to what a link carries; `None` if its source does not exist.
    pub fn reference(&self, link: &Link) -> Option<Reference> {
        match self.names.get(&link.source_id)? {
            NodeName::Input(name) => {
                let path = link.source_name.strip_prefix("result")?;
                Some(Reference { path: path.to_owned(), ..Reference::input(name) })
            }
            NodeName::Step(step) => {
                let calls_sink = pins::tool_target(&link.source_name).is_some_and(|target| {
                    target.node == link.sink_id.as_str() && target.field == link.sink_name
                });
                let pin = if calls_sink { pins::TOOLS } else { &link.source_name };
                Some(Reference::pin(step, pin))
            }
            NodeName::Output(_) | NodeName::Text(_) => None,
        }
    }

    /// Inputs and outputs that a spec can show in its own sections.
    fn name_interface(&mut self, graph: &Graph, blocks: &dyn BlockSpecs) {
        let mut outputs = HashSet::new();
        for node in &graph.nodes {
            let kind = blocks.spec(&node.block_id).map(|spec| spec.kind);
            let Some(name) = interface_name(node) else { continue };
            let arriving = || graph.links.iter().filter(|link| link.sink_id == node.id);
            let leaving = || graph.links.iter().filter(|link| link.source_id == node.id);
            match kind {
                Some(BlockKind::Input)
                    if arriving().next().is_none()
                        && leaving().all(|link| pins::base(&link.source_name) == "result")
                        && !self.inputs.contains(name) =>
                {
                    self.inputs.insert(name.to_owned());
                    self.names.insert(node.id.clone(), NodeName::Input(name.to_owned()));
                }
                Some(BlockKind::Output)
                    if arriving().all(|link| pins::base(&link.sink_name) == "value")
                        && leaving().next().is_none()
                        && outputs.insert(name) =>
                {
                    self.names.insert(node.id.clone(), NodeName::Output(name.to_owned()));
                }
                _ => {}
            }
        }
    }

    fn name_step(&mut self, node: &Node, blocks: &dyn BlockSpecs) {
        let text = |key: &str| node.metadata.get(key).and_then(Value::as_str);
        let own = text(STEP).filter(|name| is_plain_name(name)).map(str::to_owned);
        let label = || text("customized_name").map(slug).filter(|slug| !slug.is_empty());
        let block = || blocks.spec(&node.block_id).map(|spec| slug(&block_title(spec.name)));
        let wanted = own.or_else(label).or_else(block).unwrap_or_else(|| "step".to_owned());
        let is_free = |name: &String| {
            name != INPUTS
                && name != "outputs"
                && !self.steps.contains(name)
                && !self.inputs.contains(name)
        };
        let mut name = wanted.clone();
        let mut number = self.numbers.get(&wanted).copied().unwrap_or(2);
        while !is_free(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        self.numbers.insert(wanted, number);
        self.steps.insert(name.clone());
        self.names.insert(node.id.clone(), NodeName::Step(name));
    }

    /// Whether the links to a node that fills a text are exactly those that the text asks for.
    fn fills_what_it_says(&self, graph: &Graph, node: &Node) -> bool {
        let Some(text) = node.input_default.get(FILL_TEXT_FORMAT).and_then(Value::as_str) else {
            return false;
        };
        let wanted: HashMap<String, Reference> = references(text, self)
            .into_iter()
            .map(|(name, reference)| (format!("{FILL_TEXT_VALUES}{KEY_MARK}{name}"), reference))
            .collect();
        let arriving: Vec<&Link> =
            graph.links.iter().filter(|link| link.sink_id == node.id).collect();
        !wanted.is_empty()
            && arriving.len() == wanted.len()
            && arriving.iter().all(|link| {
                self.reference(link)
                    .is_some_and(|found| wanted.get(&link.sink_name) == Some(&found))
            })
    }
}

impl KnownNames for NodeNames {
    fn is_step(&self, name: &str) -> bool {
        let is_reserved = || self.reserved.steps.contains(name) && !self.inputs.contains(name);
        self.steps.contains(name) || is_reserved()
    }

    fn is_input(&self, name: &str) -> bool {
        let is_reserved = || self.reserved.inputs.contains(name) && !self.steps.contains(name);
        self.inputs.contains(name) || is_reserved()
    }
}

/// The place in the spec whose text this node fills, as far as the node itself and its outgoing links show.
fn text_candidate(graph: &Graph, node: &Node) -> Option<String> {
    let path = node.metadata.get(GENERATED_FOR)?.as_str()?;
    let values = node.input_default.get(FILL_TEXT_VALUES);
    let is_plain = node.block_id.as_str() == FILL_TEXT
        && values.is_none_or(|values| values.as_object().is_some_and(serde_json::Map::is_empty))
        && node
            .input_default
            .keys()
            .all(|key| [FILL_TEXT_VALUES, FILL_TEXT_FORMAT].contains(&key.as_str()));
    let mut leaving = graph.links.iter().filter(|link| link.source_id == node.id);
    let is_single = match (leaving.next(), leaving.next()) {
        (Some(only), None) => {
            only.source_name == "output"
                && graph
                    .links
                    .iter()
                    .filter(|link| link.sink_id == only.sink_id && link.sink_name == only.sink_name)
                    .count()
                    == 1
        }
        _ => false,
    };
    (is_plain && is_single).then(|| path.to_owned())
}

/// A name in lower case, with `_` for everything but letters and digits.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars().take(60) {
        match letter.is_ascii_alphanumeric() {
            true => slug.push(letter.to_ascii_lowercase()),
            false if !slug.is_empty() && !slug.ends_with('_') => slug.push('_'),
            false => {}
        }
    }
    let slug = slug.trim_end_matches('_');
    match slug.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("step_{slug}"),
        false => slug.to_owned(),
    }
}
