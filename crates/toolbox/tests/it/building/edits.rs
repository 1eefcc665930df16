//! Random edit scripts on every agent: all or nothing, and undone by their undo.

use std::collections::BTreeSet;

use graphs::catalog::{AgentInterface, BlockSpecs};
use graphs::decompile::decompile;
use graphs::edit::{EditedGraph, apply};
use graphs::meaning::meaning;
use graphs::names::NodeNames;
use graphs::spec::{self, AgentSpec};
use proptest::prelude::*;
use protocol::graph::{Graph, Node};
use protocol::graph_edit::GraphEdit;
use serde_json::{Map, Value, json};
use testkit::scale::scaled;

use super::{AllBlocks, agents, all_blocks, inner_agents};

/// How many scripts each property tries, times `TEST_SCALE`.
const SCRIPTS: usize = 40;

pub(crate) struct World {
    pub(crate) blocks: AllBlocks,
    pub(crate) agents: Vec<(String, Graph, Vec<AgentInterface>)>,
}

pub(crate) fn world() -> World {
    let blocks = all_blocks();
    let known = |(name, graph): (String, Graph)| {
        let inner = inner_agents(&graph, &blocks);
        (name, graph, inner)
    };
    let agents = agents().into_iter().map(known).collect();
    World { blocks, agents }
}

/// Numbers from which an edit is made, so that a failing script can be shrunk.
pub(crate) type Choice = (u8, u16, u16, u16);

pub(crate) fn scripts() -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec(any::<Choice>(), 1..8)
}

/// An edit of the agent as it is now. It need not be possible.
fn edit(spec: &AgentSpec, blocks: &dyn BlockSpecs, (op, a, b, c): Choice) -> GraphEdit {
    fn pick<T: Clone>(all: &[T], at: u16) -> Option<T> {
        (!all.is_empty()).then(|| all[usize::from(at) % all.len()].clone())
    }
    let steps: Vec<String> = spec.steps.iter().map(|(name, _)| name.clone()).collect();
    let inputs: Vec<String> =
        spec.inputs.iter().map(|(name, _)| format!("inputs.{name}")).collect();
    let outputs: Vec<String> =
        spec.outputs.iter().map(|(name, _)| format!("outputs.{name}")).collect();
    let all: Vec<String> = [steps.clone(), inputs.clone(), outputs.clone()].concat();
    let titles: Vec<&str> = blocks.specs().map(|spec| spec.name).collect();
    let block_of = |step: &str| match &spec.step(step)?.runs {
        spec::StepTarget::Block(name) => graphs::catalog::find_block(blocks, name),
        spec::StepTarget::Agent { .. } => None,
    };
    let pins_of = |step: &str, side: fn(&protocol::block::BlockSpec) -> &Value| -> Vec<String> {
        let properties = block_of(step).and_then(|block| side(block)["properties"].as_object());
        properties.map(|pins| pins.keys().cloned().collect()).unwrap_or_default()
    };
    let source = |at: u16, pin: u16| {
        let step = pick(&steps, at).unwrap_or_default();
        match pick(&pins_of(&step, |block| &block.outputs), pin) {
            Some(name) if !pin.is_multiple_of(4) => format!("{step}.{name}"),
            _ => pick(&inputs, pin).unwrap_or_default(),
        }
    };
    let input_pin = |step: &str, at: u16| {
        let own: Vec<String> =
            spec.step(step).map(|step| step.pins.keys().cloned().collect()).unwrap_or_default();
        let pins = if at.is_multiple_of(3) { own } else { pins_of(step, |block| &block.inputs) };
        pick(&pins, at).unwrap_or_else(|| "pin".to_owned())
    };
    let value = || match c % 8 {
        0 => json!(c),
        1 => json!(source(a, b)),
        2 => json!(format!("see {{{{ {} }}}} and {{{{new}}}}", source(a, b))),
        3 => json!({"z": 1, "a": source(b, a), "list": [source(a, b), null, "new.output"]}),
        4 => json!({"$literal": source(a, b)}),
        5 => json!({"$any": [source(a, b), source(b, a)]}),
        6 => json!("new.output"),
        _ => json!(["text", {"deep": source(c, b)}]),
    };
    let names = ["new", "other_name", "Odd name", "new_2", "step"];
    let section = |entries: Value| entries.as_object().cloned().unwrap_or_default();
    match op % 12 {
        0 | 1 => {
            let step = pick(&steps, a).unwrap_or_default();
            let pin = input_pin(&step, b);
            GraphEdit::Set { step, pin, value: (c % 3 > 0).then(value) }
        }
        2 => {
            let step = pick(&[inputs.clone(), outputs].concat(), a).unwrap_or_default();
            let pin = ["default", "title", "value", "type"][usize::from(b) % 4].to_owned();
            let value = (c % 3 > 0).then(|| if pin == "type" { json!("number") } else { value() });
            GraphEdit::Set { step, pin, value }
        }
        3 => {
            let mut with = Map::from_iter([("block".to_owned(), json!(pick(&titles, a)))]);
            let name = pick(&[steps.clone(), names.map(str::to_owned).to_vec()].concat(), b);
            if let Some(block) =
                pick(&titles, a).and_then(|name| graphs::catalog::find_block(blocks, name))
            {
                let pins = block.inputs["properties"].as_object();
                if let Some(pin) = pins.and_then(|pins| pins.keys().next()) {
                    with.insert(pin.clone(), value());
                }
            }
            let before = c.is_multiple_of(2).then(|| pick(&steps, c)).flatten();
            GraphEdit::AddStep { step: name.unwrap_or_default(), with, before }
        }
        4 | 5 => {
            let step = pick(&steps, b).unwrap_or_default();
            let to = match c % 4 {
                0 => pick(&outputs, b).unwrap_or_default(),
                1 => format!("{step}.{}.key[0]", input_pin(&step, c)),
                _ => format!("{step}.{}", input_pin(&step, c)),
            };
            GraphEdit::Connect { from: source(a, c), to }
        }
        6 => {
            let links: Vec<(String, String)> = spec
                .steps
                .iter()
                .flat_map(|(name, step)| {
                    let link = |(pin, value): (&String, &Value)| {
                        Some((value.as_str()?.to_owned(), format!("{name}.{pin}")))
                    };
                    step.pins.iter().filter_map(link).collect::<Vec<_>>()
                })
                .collect();
            let (from, to) = pick(&links, a).unwrap_or_default();
            GraphEdit::Disconnect { from, to }
        }
        7 | 8 => {
            let to = pick(&[steps, names.map(str::to_owned).to_vec()].concat(), b);
            GraphEdit::Rename {
                step: pick(&all, a).unwrap_or_default(),
                to: to.unwrap_or_default(),
            }
        }
        9 => GraphEdit::Remove { step: pick(&all, a).unwrap_or_default() },
        10 => {
            let mut inputs = section(spec::to_value(spec)["inputs"].clone());
            if a.is_multiple_of(2) {
                inputs.shift_remove(
                    &pick(&inputs.keys().cloned().collect::<Vec<_>>(), b).unwrap_or_default(),
                );
            }
            inputs.insert(pick(&names, c).unwrap_or_default().to_owned(), json!("string"));
            GraphEdit::SetInputs { inputs }
        }
        _ => {
            let mut outputs = section(spec::to_value(spec)["outputs"].clone());
            outputs.insert(pick(&names, c).unwrap_or_default().to_owned(), value());
            if a.is_multiple_of(2) {
                outputs.shift_remove(
                    &pick(&outputs.keys().cloned().collect::<Vec<_>>(), b).unwrap_or_default(),
                );
            }
            GraphEdit::SetOutputs { outputs }
        }
    }
}

impl World {
    /// A script whose edits can be applied one after the other, and those that cannot.
    pub(crate) fn script(&self, at: usize, choices: &[Choice]) -> (Vec<GraphEdit>, Vec<GraphEdit>) {
        let (_, graph, known) = &self.agents[at];
        let (mut possible, mut impossible) = (Vec::new(), Vec::new());
        let mut now = graph.clone();
        for choice in choices {
            let edit = edit(&decompile(&now, &self.blocks), &self.blocks, *choice);
            match apply(&now, std::slice::from_ref(&edit), &self.blocks, known) {
                Ok(edited) => {
                    now = edited.graph;
                    possible.push(edit);
                }
                Err(_) => impossible.push(edit),
            }
        }
        (possible, impossible)
    }

    fn spec(&self, graph: &Graph) -> String {
        spec::to_yaml(&decompile(graph, &self.blocks))
    }

    /// The paths of nodes in the spec that the script names or that refer to what it names.
    fn is_touched(&self, node: &Node, before: &Graph, after: &Graph) -> bool {
        let entry = |graph: &Graph| {
            let names = NodeNames::of(graph, &self.blocks);
            let path = names.get(&node.id).map(|name| name.path())?;
            let pointer =
                format!("/{}", path.replace('~', "~0").replace('/', "~1").replacen('.', "/", 1));
            let value = spec::to_value(&decompile(graph, &self.blocks));
            Some((path, value.pointer(&pointer).map(Value::to_string)))
        };
        entry(before) != entry(after)
    }
}

pub(crate) fn config() -> ProptestConfig {
    let cases = u32::try_from(scaled(SCRIPTS)).expect("a number of cases");
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn undo_restores_the_meaning_and_the_spec() {
    let world = world();
    let indexes = 0..world.agents.len();
    let undone_edits = std::cell::Cell::new(0);
    proptest!(config(), |(at in indexes, choices in scripts())| {
        let (name, graph, known) = &world.agents[at];
        let (script, _) = world.script(at, &choices);
        // Edits that can be applied one by one may be refused together: a later one adds a name that an earlier text has.
        let Ok(EditedGraph { graph: edited, undo, .. }) = apply(graph, &script, &world.blocks, known) else {
            return Ok(());
        };
        let undone = apply(&edited, &undo, &world.blocks, known);
        let undone = undone.map_err(|why| TestCaseError::fail(format!("{name}\n{script:#?}\n{undo:#?}\n{why:#?}")))?;
        prop_assert_eq!(world.spec(&undone.graph), world.spec(graph), "{}\n{:#?}\n{:#?}", name, script, undo);
        prop_assert_eq!(meaning(&undone.graph, &world.blocks), meaning(graph, &world.blocks), "{}\n{:#?}\n{:#?}", name, script, undo);
        undone_edits.set(undone_edits.get() + script.len());
    });
    assert!(undone_edits.get() > scaled(SCRIPTS), "most scripts are possible");
}

#[test]
fn untouched_steps_keep_their_bytes_ids_and_positions() {
    let world = world();
    let indexes = 0..world.agents.len();
    proptest!(config(), |(at in indexes, choices in scripts())| {
        let (name, graph, known) = &world.agents[at];
        let (script, _) = world.script(at, &choices);
        let Ok(edited) = apply(graph, &script, &world.blocks, known) else { return Ok(()) };
        let edited = edited.graph;
        for node in &graph.nodes {
            let Some(kept) = edited.nodes.iter().find(|kept| kept.id == node.id) else { continue };
            prop_assert_eq!(kept.metadata.get("position"), node.metadata.get("position"));
            if !world.is_touched(node, graph, &edited) {
                let bytes = |node: &Node| serde_json::to_string(&node.input_default).expect("JSON");
                prop_assert_eq!(bytes(kept), bytes(node), "{}\n{:#?}", name, script);
            }
        }
        let ids = |graph: &Graph| graph.nodes.iter().map(|node| node.id.clone()).collect::<BTreeSet<_>>();
        prop_assert_eq!(ids(&edited).len(), edited.nodes.len(), "ids are unique: {}\n{:#?}", name, script);
    });
}

#[test]
fn a_script_with_one_impossible_edit_changes_nothing() {
    let world = world();
    let indexes = 0..world.agents.len();
    proptest!(config(), |(at in indexes, choices in scripts())| {
        let (_, graph, known) = &world.agents[at];
        let (mut script, _) = world.script(at, &choices);
        let last = script.len();
        script.push(GraphEdit::Remove { step: "nobody".to_owned() });
        let refused = apply(graph, &script, &world.blocks, known).expect_err("refused");
        prop_assert!(refused.iter().all(|problem| problem.path.is_some()));
        let is_last = refused[0].path.as_deref() == Some(format!("edits[{last}]").as_str());
        prop_assert!(is_last || apply(graph, &script[..last], &world.blocks, known).is_err());
    });
}

#[test]
fn an_empty_script_changes_no_agent() {
    let world = world();
    for (name, graph, known) in &world.agents {
        let edited = apply(graph, &[], &world.blocks, known).expect("edited");
        assert_eq!((&edited.graph, edited.undo.len()), (graph, 0), "{name}");
    }
}
