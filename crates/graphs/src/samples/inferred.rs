//! What is known about an output beyond its block: the links that leave it say which parts of its values are used, and as
//! what. A made-up response has these parts, so that the steps behind it run.

use std::collections::HashMap;

use protocol::NodeId;
use protocol::graph::{Graph, Node};
use serde_json::{Map, Value, json};

use super::near::constants;
use super::{MAX_ITEMS, NUMBER_FORMAT};
use crate::catalog::BlockSpecs;
use crate::pins::{self, PathStep};
use crate::types::TypeSet;
use crate::validate::node_pins;

/// How deep a schema is refined.
const MAX_DEPTH: usize = 4;

/// Schemas by pin.
pub type PinSchemas = HashMap<String, Value>;

/// The schemas of all outputs about which their links say more than their block.
#[derive(Clone, Debug, Default)]
pub struct SampleSchemas(HashMap<NodeId, PinSchemas>);

/// One link that leaves an output.
struct LinkUse<'a> {
    /// The part of the value that it carries.
    path: Vec<PathStep<'a>>,
    /// What it leads to.
    sink: Option<&'a Value>,
    /// It leads to a step that compares it with a number.
    is_compared: bool,
}

impl SampleSchemas {
    pub fn of(graph: &Graph, blocks: &dyn BlockSpecs) -> Self {
        let nodes: HashMap<&NodeId, &Node> =
            graph.nodes.iter().map(|node| (&node.id, node)).collect();
        let mut uses: HashMap<(&NodeId, &str), Vec<LinkUse<'_>>> = HashMap::new();
        for link in &graph.links {
            let sink = nodes.get(&link.sink_id).copied();
            let spec = sink.and_then(|sink| blocks.spec(&sink.block_id));
            let (Some(sink), Some(spec)) = (sink, spec) else { continue };
            let Ok(path) = pins::steps(&link.source_name) else { continue };
            let schema = node_pins::schema(sink, spec, &link.sink_name);
            let is_untyped = schema.is_none_or(|schema| TypeSet::of(schema) == TypeSet::ANY);
            let with = constants(sink, spec);
            let is_compared = is_untyped && !with.is_empty() && with.iter().all(Value::is_number);
            let of = (&link.source_id, pins::base(&link.source_name));
            let sink = schema.filter(|_| !is_untyped);
            uses.entry(of).or_default().push(LinkUse { path, sink, is_compared });
        }
        let mut found: HashMap<NodeId, PinSchemas> = HashMap::new();
        for ((id, pin), uses) in uses {
            let Some(node) = nodes.get(id) else { continue };
            let Some(spec) = blocks.spec(&node.block_id) else { continue };
            let declared = spec.output(pin).cloned().unwrap_or_else(|| json!({}));
            let uses: Vec<&LinkUse<'_>> = uses.iter().collect();
            let refined = refine(&declared, &uses, 0);
            if refined != declared {
                found.entry(id.clone()).or_default().insert(pin.to_owned(), refined);
            }
        }
        Self(found)
    }

    pub fn node(&self, id: &NodeId) -> Option<&PinSchemas> {
        self.0.get(id)
    }

    pub fn pin(&self, id: &NodeId, pin: &str) -> Option<&Value> {
        self.0.get(id)?.get(pin)
    }
}

fn refine(schema: &Value, uses: &[&LinkUse<'_>], depth: usize) -> Value {
    let types = TypeSet::of(schema);
    let steps: Vec<PathStep<'_>> =
        uses.iter().filter_map(|one| one.path.get(depth).copied()).collect();
    let is_key = |step: &PathStep<'_>| matches!(step, PathStep::Key(_));
    if steps.is_empty() || depth >= MAX_DEPTH {
        return leaf(schema, types, uses);
    }
    let below = |step: PathStep<'_>| -> Vec<&LinkUse<'_>> {
        uses.iter().filter(|one| one.path.get(depth) == Some(&step)).copied().collect()
    };
    if steps.iter().any(is_key) {
        if !types.intersects(TypeSet::OBJECT) {
            return schema.clone();
        }
        let mut members =
            schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for step in steps {
            let PathStep::Key(key) = step else { continue };
            let known = members.get(key).cloned().unwrap_or_else(|| json!({}));
            members.insert(key.to_owned(), refine(&known, &below(step), depth + 1));
        }
        return json!({"type": "object", "properties": members});
    }
    if !types.intersects(TypeSet::LIST) {
        return schema.clone();
    }
    let known = schema.get("items").cloned().unwrap_or_else(|| json!({}));
    let of_items: Vec<&LinkUse<'_>> =
        uses.iter().filter(|one| one.path.len() > depth).copied().collect();
    let last = steps.iter().map(|step| match step {
        PathStep::Index(index) => *index as u64 + 1,
        PathStep::Key(_) => 0,
    });
    json!({
        "type": "array", "items": refine(&known, &of_items, depth + 1),
        "minItems": last.max().unwrap_or(0).min(MAX_ITEMS),
    })
}

/// The schema of a value that is used as a whole.
fn leaf(schema: &Value, types: TypeSet, uses: &[&LinkUse<'_>]) -> Value {
    let is_compared = uses.iter().any(|one| one.is_compared);
    if types == TypeSet::ANY && schema.get("enum").is_none() && schema.get("const").is_none() {
        return match uses.iter().find_map(|one| one.sink) {
            Some(sink) => shape(sink),
            None if is_compared => json!({"type": "number"}),
            None => schema.clone(),
        };
    }
    let is_plain_text = types.only() == Some(TypeSet::TEXT) && schema.get("format").is_none();
    match is_compared && is_plain_text && schema.get("enum").is_none() {
        true => json!({"type": "string", "format": NUMBER_FORMAT}),
        false => schema.clone(),
    }
}

/// What a schema says about values, without descriptions and defaults.
fn shape(schema: &Value) -> Value {
    const SHAPE: [&str; 11] = [
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "format",
        "items",
        "properties",
        "minimum",
        "maximum",
        "maxLength",
    ];
    let members = schema.as_object().into_iter().flatten();
    let kept = members.filter(|(key, _)| SHAPE.contains(&key.as_str()));
    Value::Object(kept.map(|(key, member)| (key.clone(), member.clone())).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use protocol::block::BlockKind;

    use super::*;
    use crate::samples::sample;
    use crate::validate::fixtures::{TestBlocks, block, graph};

    fn blocks() -> TestBlocks {
        let mut blocks = TestBlocks::default();
        let any = json!({"type": "object", "properties": {}});
        let outputs =
            json!({"response": {}, "text": {"type": "string"}, "rows": {"type": "array"}});
        blocks.0.push(block("fetch", BlockKind::Standard, any, outputs));
        let compared = json!({"type": "object", "properties": {"value1": {}, "value2": {}}});
        blocks.0.push(block("compare", BlockKind::Standard, compared, json!({"yes": {}})));
        let typed = json!({"type": "object", "properties": {
            "list": {"type": "array", "description": "x", "default": []}, "words": {"type": "string"},
        }});
        blocks.0.push(block("typed", BlockKind::Standard, typed, json!({"done": {}})));
        blocks
    }

    #[test]
    fn links_say_what_a_response_looks_like() {
        let table = [
            // An unused or an untyped use says nothing.
            (vec![("response", "typed", "words_#_x")], "response", json!("Sample response 155")),
            (vec![("response", "compare", "value1")], "response", json!(56)),
            (vec![("text", "compare", "value1")], "text", json!("56")),
            (vec![("response", "typed", "list")], "response", json!(["Sample a", "Sample b"])),
            (vec![("response_#_title", "typed", "words")], "response", json!({"title": "t"})),
            (
                vec![("response_#_rows_$_0_#_height", "compare", "value1")],
                "response",
                json!({"rows": [{"height": 1}, {"height": 2}]}),
            ),
            (
                vec![("rows_$_2", "typed", "words"), ("rows", "typed", "list")],
                "rows",
                json!(["a", "b", "c"]),
            ),
        ];
        for (links, pin, like) in table {
            let links: Vec<Value> = links
                .iter()
                .enumerate()
                .map(|(at, (from, sink, to))| {
                    json!({"id": format!("l{at}"), "source_id": "s", "source_name": from, "sink_id": sink, "sink_name": to})
                })
                .collect();
            let graph = graph(json!({
                "nodes": [
                    {"id": "s", "block_id": "fetch"},
                    {"id": "compare", "block_id": "compare", "input_default": {"value2": 3}},
                    {"id": "typed", "block_id": "typed"},
                ],
                "links": links,
            }));
            let blocks = blocks();
            let schemas = SampleSchemas::of(&graph, &blocks);
            let declared = blocks.spec(&"fetch".into()).and_then(|spec| spec.output(pin)).cloned();
            let declared = declared.expect("a pin");
            let schema = schemas.pin(&"s".into(), pin).unwrap_or(&declared);
            let made = sample(schema, pin, 0);
            assert_eq!(skeleton(&made), skeleton(&like), "{made} for {pin}");
        }
    }

    /// The value with every text and number replaced by its kind.
    fn skeleton(value: &Value) -> Value {
        match value {
            Value::String(text) => {
                json!(if text.parse::<f64>().is_ok() { "number" } else { "text" })
            }
            Value::Array(items) => items.iter().map(skeleton).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, member)| (key.clone(), skeleton(member))).collect()
            }
            Value::Number(_) => json!(0),
            other => other.clone(),
        }
    }
}
