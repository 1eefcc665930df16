//! Keeps what edits do not concern as it was in the base graph: nodes byte for byte, ids of links, the order of both.
//! Compiling alone would write every node in one normal form.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use protocol::NodeId;
use protocol::graph::{Graph, Link, Node};
use serde_json::{Map, Value, json};

use crate::catalog::BlockSpecs;
use crate::compile::CompiledNodes;
use crate::names::{NodeName, NodeNames, STEP};

/// Puts the nodes and links of `base` back into the edited graph wherever the edits changed nothing, which is where both
/// compiled graphs are equal.
pub(crate) fn keep(
    base: &Graph,
    unedited: &CompiledNodes,
    edited: CompiledNodes,
    blocks: &dyn BlockSpecs,
) -> Graph {
    let names: HashMap<NodeId, NodeName> = edited
        .nodes
        .into_iter()
        .map(|(name, at)| (edited.graph.nodes[at].id.clone(), name))
        .collect();
    let mut graph = edited.graph;
    keep_nodes(base, &unedited.graph, &mut graph, &names);
    keep_links(base, &unedited.graph, &mut graph);
    keep_names(&mut graph, &names, blocks);
    graph
}

fn keep_nodes(
    base: &Graph,
    unedited: &Graph,
    edited: &mut Graph,
    names: &HashMap<NodeId, NodeName>,
) {
    let of_base = by_id(base);
    let before = by_id(unedited);
    let (links_before, links_after) = (arriving(unedited), arriving(edited));
    for node in &mut edited.nodes {
        let (Some(base), Some(before)) = (of_base.get(&node.id), before.get(&node.id)) else {
            continue;
        };
        // A link hides the setting of its pin, so without the link an old setting would have an effect again.
        if node.block_id == before.block_id
            && node.input_default == before.input_default
            && links_before.get(&node.id) == links_after.get(&node.id)
        {
            node.input_default = base.input_default.clone();
        }
        let ignored = !base.metadata.contains_key(POSITION);
        if same_metadata(&node.metadata, &before.metadata, ignored) {
            node.metadata = base.metadata.clone();
        }
    }
    // The nodes of texts have no order in the spec: each one is a section.
    let section = |node: &Node| match names.get(&node.id) {
        Some(NodeName::Text(path)) => ("text", path.clone()),
        name => (name.map_or("", NodeName::kind), String::new()),
    };
    let nodes = std::mem::take(&mut edited.nodes);
    edited.nodes = in_order_of(&base.nodes, nodes, |node| node.id.clone(), section);
}

const POSITION: &str = "position";

/// A position that the layout computed depends on other nodes.
fn same_metadata(a: &Map<String, Value>, b: &Map<String, Value>, without_position: bool) -> bool {
    let of = |all: &Map<String, Value>| {
        let mut all = all.clone();
        if without_position {
            all.shift_remove(POSITION);
        }
        all
    };
    of(a) == of(b)
}

fn by_id(graph: &Graph) -> HashMap<&NodeId, &Node> {
    graph.nodes.iter().map(|node| (&node.id, node)).collect()
}

/// The links to each node.
fn arriving(graph: &Graph) -> HashMap<NodeId, HashSet<LinkKey>> {
    let mut arriving: HashMap<NodeId, HashSet<LinkKey>> = HashMap::new();
    for link in &graph.links {
        arriving.entry(link.sink_id.clone()).or_default().insert(key(link));
    }
    arriving
}

type LinkKey = (NodeId, String, NodeId, String);

fn key(link: &Link) -> LinkKey {
    let Link { source_id, source_name, sink_id, sink_name, .. } = link.clone();
    (source_id, source_name, sink_id, sink_name)
}

fn keep_links(base: &Graph, unedited: &Graph, edited: &mut Graph) {
    let keys = |graph: &Graph| graph.links.iter().map(key).collect::<HashSet<_>>();
    let (before, after) = (keys(unedited), keys(edited));
    let nodes_before = by_id(base).into_keys().collect::<HashSet<_>>();
    let nodes_after: HashSet<&NodeId> = edited.nodes.iter().map(|node| &node.id).collect();
    // Links that a spec cannot express, such as those from nodes that do not exist, are not concerned by edits.
    let stays = |node: &NodeId| nodes_after.contains(node) || !nodes_before.contains(node);
    let is_inexpressible = |link: &&Link| {
        !before.contains(&key(link)) && stays(&link.source_id) && stays(&link.sink_id)
    };
    let mut first: HashMap<LinkKey, &Link> = HashMap::new();
    let mut others: Vec<Link> = Vec::new();
    for link in &base.links {
        let key = key(link);
        if after.contains(&key) {
            match first.contains_key(&key) {
                true => others.push(link.clone()),
                false => {
                    first.insert(key, link);
                }
            }
        } else if is_inexpressible(&link) {
            others.push(link.clone());
        }
    }
    let links = std::mem::take(&mut edited.links).into_iter().map(|link| {
        let known = first.get(&key(&link)).copied();
        known.cloned().unwrap_or(link)
    });
    let links = links.chain(others).collect();
    let sink = |link: &Link| (link.sink_id.clone(), link.sink_name.clone());
    edited.links = in_order_of(&base.links, links, |link| link.id.clone(), sink);
}

/// The items in the order of `base`, except that the items of each section keep their order among each other, which is that
/// of the spec. New items come before the next known one of their section, or last.
fn in_order_of<T, Id: Eq + Hash, Section: Eq + Hash>(
    base: &[T],
    items: Vec<T>,
    id: impl Fn(&T) -> Id,
    section: impl Fn(&T) -> Section,
) -> Vec<T> {
    let known: HashSet<Id> = base.iter().map(&id).collect();
    let mut queues: Vec<VecDeque<T>> = Vec::new();
    let mut queue_of_section: HashMap<Section, usize> = HashMap::new();
    let mut queue_of_item: HashMap<Id, usize> = HashMap::new();
    for item in items {
        let queue = *queue_of_section.entry(section(&item)).or_insert(queues.len());
        if queue == queues.len() {
            queues.push(VecDeque::new());
        }
        queue_of_item.insert(id(&item), queue);
        queues[queue].push_back(item);
    }
    let mut placed = Vec::new();
    for queue in base.iter().filter_map(|slot| queue_of_item.get(&id(slot))) {
        while let Some(item) = queues[*queue].pop_front() {
            let is_known = known.contains(&id(&item));
            placed.push(item);
            if is_known {
                break;
            }
        }
    }
    placed.extend(queues.into_iter().flatten());
    placed
}

/// Names of untouched steps may depend on those of others, for example on the number of steps with the same block. Steps
/// that would get another name now carry theirs.
fn keep_names(graph: &mut Graph, names: &HashMap<NodeId, NodeName>, blocks: &dyn BlockSpecs) {
    for for_all in [false, true] {
        let found = NodeNames::of(graph, blocks);
        let is_other = |node: &Node| match (names.get(&node.id), found.get(&node.id)) {
            (Some(NodeName::Step(wanted)), Some(NodeName::Step(found))) => wanted != found,
            _ => false,
        };
        if !graph.nodes.iter().any(is_other) {
            return;
        }
        let renamed: HashSet<NodeId> =
            graph.nodes.iter().filter(|node| is_other(node)).map(|node| node.id.clone()).collect();
        for node in &mut graph.nodes {
            if let Some(NodeName::Step(name)) = names.get(&node.id)
                && (for_all || renamed.contains(&node.id))
            {
                node.metadata.insert(STEP.to_owned(), json!(name));
            }
        }
    }
}
