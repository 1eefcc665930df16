//! Writes a graph as a spec. Compiling the spec gives a graph of the same meaning.

use std::collections::{BTreeMap, HashMap};

use protocol::block::BlockSpec;
use protocol::graph::{Graph, Link, Node};
use protocol::{GraphId, NodeId};
use serde_json::{Map, Value, json};

use crate::catalog::{BlockSpecs, block_title, find_block};
use crate::names::{NodeName, NodeNames};
use crate::nested_value::put_nested;
use crate::pins;
use crate::placeholders::{
    FILL_TEXT_FORMAT, references, template_pins, values_pin, whole_reference,
};
use crate::spec::{ANY_OF, AgentSpec, InputSpec, LITERAL, OutputSpec, StepSpec, StepTarget};
use crate::{AGENT_EXECUTOR, AGENT_EXECUTOR_PINS};

pub fn decompile(graph: &Graph, blocks: &dyn BlockSpecs) -> AgentSpec {
    decompile_as(graph, blocks, NodeNames::of(graph, blocks))
}

/// The same with names that are already known.
pub(crate) fn decompile_as(graph: &Graph, blocks: &dyn BlockSpecs, names: NodeNames) -> AgentSpec {
    Decompiler::new(graph, blocks, names).spec()
}

struct Decompiler<'a> {
    graph: &'a Graph,
    blocks: &'a dyn BlockSpecs,
    names: NodeNames,
    nodes: HashMap<&'a NodeId, &'a Node>,
    arriving: HashMap<&'a NodeId, Vec<&'a Link>>,
}

impl<'a> Decompiler<'a> {
    fn new(graph: &'a Graph, blocks: &'a dyn BlockSpecs, names: NodeNames) -> Self {
        let mut arriving: HashMap<&NodeId, Vec<&Link>> = HashMap::new();
        for link in &graph.links {
            arriving.entry(&link.sink_id).or_default().push(link);
        }
        Self {
            graph,
            blocks,
            names,
            nodes: graph.nodes.iter().map(|node| (&node.id, node)).collect(),
            arriving,
        }
    }

    fn spec(&self) -> AgentSpec {
        let mut spec = AgentSpec {
            name: self.graph.name.clone(),
            description: self.graph.description.clone(),
            instructions: self.graph.instructions.clone(),
            recommended_schedule: self.graph.recommended_schedule_cron.clone(),
            ..AgentSpec::default()
        };
        for node in &self.graph.nodes {
            match self.names.name(&node.id) {
                NodeName::Input(name) => {
                    let mut settings = node.input_default.clone();
                    settings.shift_remove("name");
                    let block = node.block_id.as_str().to_owned();
                    spec.inputs.push((name.clone(), InputSpec { block, settings }));
                }
                NodeName::Step(name) => spec.steps.push((name.clone(), self.step(node, name))),
                NodeName::Output(name) => spec.outputs.push((name.clone(), self.output(node))),
                NodeName::Text(_) => {}
            }
        }
        spec
    }

    fn step(&self, node: &Node, name: &str) -> StepSpec {
        let block = self.blocks.spec(&node.block_id);
        let label = node.metadata.get("customized_name").and_then(Value::as_str);
        let label = label.filter(|label| !label.is_empty() && *label != name).map(str::to_owned);
        if let Some(agent) = agent_of(node) {
            let inputs = node.input_default.get("inputs").and_then(Value::as_object);
            let mut settings = inputs.cloned().unwrap_or_default();
            for (pin, value) in &node.input_default {
                if !AGENT_EXECUTOR_PINS.contains(&pin.as_str()) && !settings.contains_key(pin) {
                    settings.insert(pin.clone(), value.clone());
                }
            }
            return StepSpec { runs: agent, label, pins: self.values(node, settings, block) };
        }
        let runs = StepTarget::Block(match block {
            // Two blocks may have names that read alike.
            Some(spec) if find_block(self.blocks, spec.name).is_some_and(|b| b.id == spec.id) => {
                block_title(spec.name)
            }
            _ => node.block_id.as_str().to_owned(),
        });
        let pins = self.values(node, node.input_default.clone(), block);
        StepSpec { runs, label, pins }
    }

    fn output(&self, node: &Node) -> OutputSpec {
        let mut settings = node.input_default.clone();
        settings.shift_remove("name");
        let own = settings.shift_remove("value").filter(|value| !value.is_null());
        let given = own.map(|value| Map::from_iter([("value".to_owned(), value)]));
        let from = self.values(node, given.unwrap_or_default(), None).shift_remove("value");
        OutputSpec { from, settings }
    }

    /// The values of a node's pins: its settings, with a reference wherever a link brings the value. They are in the order
    /// of the block's pins, because links have none: the same meaning gives the same text.
    fn values(
        &self,
        node: &Node,
        settings: Map<String, Value>,
        block: Option<&BlockSpec>,
    ) -> Map<String, Value> {
        let settings = pins::merge(settings.clone()).unwrap_or(settings);
        let mut values = Map::new();
        for (pin, value) in &settings {
            let is_template = block.is_some_and(|block| values_pin(block.id, pin).is_some());
            let value = if is_template { self.template(value) } else { self.escaped(value) };
            values.insert(pin.clone(), value);
        }
        let mut linked: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for link in self.arriving.get(&node.id).into_iter().flatten() {
            if let Some(value) = self.linked_value(link) {
                linked.entry(&link.sink_name).or_default().push(value);
            }
        }
        let whole: Vec<&str> =
            linked.keys().copied().filter(|name| !pins::is_nested(name)).collect();
        for (name, mut sources) in linked {
            let value = match sources.len() {
                1 => sources.remove(0),
                _ => json!({ ANY_OF: sources }),
            };
            let is_inside = pins::is_nested(name) && !whole.contains(&pins::base(name));
            if !(is_inside && put_nested(&mut values, name, &value)) {
                values.insert(name.to_owned(), value);
            }
        }
        if let Some(block) = block {
            self.leave_out_implied(block, &mut values);
        }
        in_block_order(values, block)
    }

    /// What a link brings: a reference, or the text that the node before it fills.
    fn linked_value(&self, link: &Link) -> Option<Value> {
        if let Some(NodeName::Text(_)) = self.names.get(&link.source_id) {
            return self.nodes.get(&link.source_id)?.input_default.get(FILL_TEXT_FORMAT).cloned();
        }
        self.names.reference(link).map(|reference| json!(reference.to_string()))
    }

    /// Values that follow from a template need not be written; a template whose names mean something else here is a
    /// literal.
    fn leave_out_implied(&self, block: &BlockSpec, values: &mut Map<String, Value>) {
        let templates: Vec<(String, &'static str)> = values
            .keys()
            .filter_map(|pin| Some((pin.clone(), values_pin(block.id, pin)?)))
            .collect();
        let mut checked: Vec<&'static str> = Vec::new();
        for (_, values_of) in &templates {
            if checked.contains(values_of) {
                continue;
            }
            checked.push(values_of);
            let mut implied: BTreeMap<String, String> = BTreeMap::new();
            for pin in template_pins(block.id, values_of) {
                if let Some(text) = values.get(pin).and_then(Value::as_str) {
                    let found = references(text, &self.names).into_iter();
                    implied.extend(found.map(|(name, to)| (name, to.to_string())));
                }
            }
            let given = values.get(*values_of).cloned();
            let given = given.as_ref().and_then(Value::as_object);
            let matches = given.is_some_and(|given| follows(given, &implied));
            match matches {
                true => {
                    values.shift_remove(*values_of);
                }
                false => self.keep_templates_literal(block, values_of, &implied, values),
            }
        }
    }

    /// Marks templates as literal where compiling them would add links that the graph does not have.
    fn keep_templates_literal(
        &self,
        block: &BlockSpec,
        values_of: &str,
        implied: &BTreeMap<String, String>,
        values: &mut Map<String, Value>,
    ) {
        let given = values.get(values_of);
        let is_whole = given.is_some_and(|given| !given.is_object());
        let is_given =
            |name: &String| given.is_some_and(|given| given.get(pins::base(name)).is_some());
        if is_whole || implied.keys().all(is_given) {
            return;
        }
        for pin in template_pins(block.id, values_of) {
            if let Some(text) = values.get_mut(pin).filter(|value| value.is_string()) {
                *text = json!({ LITERAL: text.take() });
            }
        }
    }

    /// The text of a template. Its placeholders are looked at together with the values that the node gives to them.
    fn template(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if whole_reference(text, &self.names).is_none() => value.clone(),
            other => self.escaped(other),
        }
    }

    /// The value, with literals marked that would be read as references.
    fn escaped(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let is_reference = whole_reference(text, &self.names).is_some();
                match is_reference || !references(text, &self.names).is_empty() {
                    true => json!({ LITERAL: text }),
                    false => value.clone(),
                }
            }
            Value::Array(items) => items.iter().map(|item| self.escaped(item)).collect(),
            Value::Object(members) => {
                let is_tag =
                    members.len() == 1 && members.keys().all(|key| key == LITERAL || key == ANY_OF);
                // A key with a mark cannot be part of the name of a pin.
                if is_tag || members.keys().any(|key| pins::is_nested(key)) {
                    return json!({ LITERAL: value });
                }
                let members =
                    members.iter().map(|(key, member)| (key.clone(), self.escaped(member)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }
}

/// Pins in the order in which the block describes them, then all others by name.
fn in_block_order(values: Map<String, Value>, block: Option<&BlockSpec>) -> Map<String, Value> {
    let described = block.and_then(|block| block.inputs.get("properties")?.as_object());
    let places: HashMap<&str, usize> = described
        .into_iter()
        .flat_map(Map::keys)
        .enumerate()
        .map(|(place, pin)| (pin.as_str(), place))
        .collect();
    let place = |pin: &str| places.get(pins::base(pin)).copied().unwrap_or(usize::MAX);
    let mut values: Vec<(String, Value)> = values.into_iter().collect();
    values.sort_by(|(a, _), (b, _)| (place(a), a).cmp(&(place(b), b)));
    values.into_iter().collect()
}

/// Whether these values are exactly those that the templates ask for.
fn follows(given: &Map<String, Value>, implied: &BTreeMap<String, String>) -> bool {
    let mut expected = Map::new();
    for (name, reference) in implied {
        if !put_nested(&mut expected, name, &json!(reference)) {
            expected.insert(name.clone(), json!(reference));
        }
    }
    !given.is_empty() && *given == expected
}

/// The agent that a node runs.
fn agent_of(node: &Node) -> Option<StepTarget> {
    if node.block_id.as_str() != AGENT_EXECUTOR {
        return None;
    }
    let id = node.input_default.get("graph_id")?.as_str().filter(|id| !id.is_empty())?;
    let version = node.input_default.get("graph_version")?.as_u64()?;
    Some(StepTarget::Agent { id: GraphId::from(id), version: u32::try_from(version).ok() })
}
