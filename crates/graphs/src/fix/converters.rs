//! Converter blocks between pins whose types the engine does not convert by itself.

use protocol::graph::{Graph, Link, Node};
use protocol::limits::{GRAPH_LINKS, GRAPH_NODES};
use protocol::{BlockId, NodeId};
use serde_json::{Map, Value, json};

use super::{AppliedFix, FixContext};
use crate::derived_id::derived_id;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::types::TypeSet;
use crate::validate::index::GraphIndex;
use crate::validate::link_schemas;

/// `UniversalTypeConverterBlock`: its inputs `value` and `type`, its output `value`.
pub(crate) const TYPE_CONVERTER: &str = "95d1b990-ce13-4d88-9737-ba5c2070c97b";
const VALUE: &str = "value";

/// Puts a converter into each link between types without a conversion, as the origin does: a collection becomes its
/// length as a number, and true as a boolean unless it is empty.
pub(crate) fn between_types(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    if context.blocks.spec(&BlockId::from(TYPE_CONVERTER)).is_none() {
        return Vec::new();
    }
    let index = GraphIndex::read(graph, context.blocks);
    let mut inserted = Vec::new();
    for (at, link) in graph.links.iter().enumerate() {
        let is_full = graph.nodes.len() + inserted.len() >= GRAPH_NODES
            || graph.links.len() + inserted.len() >= GRAPH_LINKS;
        let Some((given, taken)) = link_schemas(&index, link).filter(|_| !is_full) else {
            continue;
        };
        let (given, taken) = (given.types(), taken.types());
        let Some(target) = target_type(taken).filter(|_| !given.can_become(taken)) else {
            continue;
        };
        // Nothing can be made of null.
        if given == TypeSet::NULL {
            continue;
        }
        let problem = index.at_link(ProblemCode::WrongType, link, "").got(given.to_string());
        let message = format!("Put a converter to {taken} before `{}`.", link.sink_name);
        let id = NodeId(derived_id(&[graph.id.as_str(), "converter", &link.id]));
        if !index.nodes.contains_key(&id) {
            inserted.push((at, id, target, AppliedFix::of(problem, message)));
        }
    }
    let mut fixes = Vec::new();
    for (at, id, target, fix) in inserted {
        let settings = Map::from_iter([("type".to_owned(), json!(target))]);
        graph.nodes.push(Node {
            id: id.clone(),
            block_id: BlockId::from(TYPE_CONVERTER),
            input_default: settings,
            metadata: position_of(graph, at),
        });
        let link = &mut graph.links[at];
        let sink = std::mem::replace(&mut link.sink_id, id.clone());
        let pin = std::mem::replace(&mut link.sink_name, VALUE.to_owned());
        let parts = [id.as_str(), VALUE, sink.as_str(), &pin];
        graph.links.push(Link {
            id: derived_id(&parts),
            source_id: id.clone(),
            source_name: VALUE.to_owned(),
            sink_id: sink.clone(),
            sink_name: pin.clone(),
            is_static: false,
        });
        fixes.push(fix);
    }
    fixes
}

/// The converter's name for a type.
fn target_type(types: TypeSet) -> Option<&'static str> {
    match types.only()? {
        TypeSet::NUMBER | TypeSet::INTEGER => Some("number"),
        TypeSet::BOOLEAN => Some("boolean"),
        TypeSet::TEXT => Some("string"),
        TypeSet::LIST => Some("list"),
        TypeSet::OBJECT => Some("dictionary"),
        _ => None,
    }
}

/// Left of the node that the link leads to.
fn position_of(graph: &Graph, at: usize) -> Map<String, Value> {
    let link = &graph.links[at];
    let sink = graph.nodes.iter().find(|node| node.id == link.sink_id);
    let position = sink.and_then(|node| node.metadata.get("position"));
    let axis = |name: &str| position?.get(name)?.as_f64();
    match (axis("x"), axis("y")) {
        (Some(x), Some(y)) => {
            let position = json!({ "x": x - 200.0, "y": y + 100.0 });
            Map::from_iter([("position".to_owned(), position)])
        }
        _ => Map::new(),
    }
}
