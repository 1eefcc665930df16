//! The mutation operators: each makes all of its changes to an agent, one at a time.

use protocol::BlockId;
use protocol::block::BlockKind;
use protocol::tool::ToolEffect;
use serde_json::{Value, json};

use super::mutant::{Agent, Mutant};
use graphs::{AGENT_EXECUTOR, pins};

pub(crate) type Operator = fn(&Agent<'_>) -> Vec<Mutant>;

pub(crate) const ALL: [(&str, Operator); 13] = [
    ("drop a link", drop_link),
    ("drop a node", drop_node),
    ("swap the pins of a link", swap_pins),
    ("misspell a pin", misspell_pin),
    ("wrong type", wrong_type),
    ("unknown block", unknown_block),
    ("missing input", missing_input),
    ("dangling sub-agent", dangling_agent),
    ("endless cycle", endless_cycle),
    ("secret in a default", secret_in_default),
    ("duplicate name", duplicate_name),
    ("unreachable step", unreachable_step),
    ("output never filled", unfilled_output),
];

const FILL_TEXT: &str = "db7d8f02-2f44-4c55-ab7a-eae0941f0c30";
const ADD_TO_LIST: &str = "aeb08fc1-2fc1-4141-bc8e-f758f183a822";
const OUTPUT: &str = "363ae599-353e-4804-937e-b2ee3cef3da4";
const NOWHERE: &str = "00000000-0000-4000-8000-000000000000";

fn drop_link(agent: &Agent<'_>) -> Vec<Mutant> {
    (0..agent.graph.links.len()).map(|at| without_link(agent.clone(), at)).collect()
}

fn without_link(mut agent: Agent<'_>, at: usize) -> Mutant {
    let link = agent.graph.links.remove(at);
    let change = format!("dropped {} -> {}", link.source_name, link.sink_name);
    let (sink, spec) = (&link.sink_id, agent.spec(&link.sink_id));
    let pin = pins::base(&link.sink_name);
    let mut expected = Vec::new();
    let others: Vec<_> =
        agent.arriving(sink).filter(|other| other.sink_name == link.sink_name).collect();
    if !others.is_empty() {
        // The pin still gets values, unless all of them come from the node itself.
        if others.iter().all(|other| other.source_id == *sink) {
            expected.push(agent.at("dead_cycle", sink, None));
        }
    } else if spec.kind == BlockKind::Output && pin == "value" {
        expected.push(agent.at("unfilled_output", sink, None));
    } else if spec.required().any(|required| required == pin)
        && !agent.is_linked(sink, pin)
        && !agent.is_set(sink, pin)
    {
        expected.push(agent.at("missing_input", sink, Some(pin)));
    } else if spec.id == FILL_TEXT && pin == "values" {
        expected.push(agent.at("unfilled_placeholder", sink, Some("format")));
    } else if agent.leaving(&link.source_id).next().is_none() {
        let source = agent.spec(&link.source_id);
        if source.kind == BlockKind::Input {
            expected.push(agent.at("unused_input", &link.source_id, None));
        } else if source.effect == ToolEffect::None {
            expected.push(agent.at("unused_step", &link.source_id, None));
        }
    }
    match expected.is_empty() {
        true => agent.stays_valid(change),
        false => agent.fault(change, expected),
    }
}

fn drop_node(agent: &Agent<'_>) -> Vec<Mutant> {
    let mutant = |at: usize| {
        let mut agent = agent.clone();
        let gone = agent.graph.nodes.remove(at);
        let change = format!("dropped the node {}", gone.id);
        let to = agent.graph.links.iter().find(|link| link.source_id == gone.id).cloned();
        let from = agent.graph.links.iter().find(|link| link.sink_id == gone.id).cloned();
        match (to, from) {
            (Some(link), _) if link.sink_id != gone.id => {
                let expected = agent.at("missing_node", &link.sink_id, Some(&link.sink_name));
                agent.fault(change, vec![expected])
            }
            (_, Some(link)) => {
                // The sink is gone, so the link is shown where it comes from.
                let mut expected =
                    agent.at("missing_node", &link.source_id, Some(&link.source_name));
                if agent.spec(&link.source_id).kind == BlockKind::Input {
                    expected = agent.at("missing_node", &link.source_id, None);
                }
                expected.node = gone.id;
                agent.fault(change, vec![expected])
            }
            _ => agent.stays_valid(change),
        }
    };
    (0..agent.graph.nodes.len()).map(mutant).collect()
}

fn swap_pins(agent: &Agent<'_>) -> Vec<Mutant> {
    let mutant = |at: usize| {
        let mut agent = agent.clone();
        let link = &mut agent.graph.links[at];
        std::mem::swap(&mut link.source_name, &mut link.sink_name);
        let link = link.clone();
        let change = format!("swapped to {} -> {}", link.source_name, link.sink_name);
        let is_output = |pin: &str| agent.spec(&link.source_id).output(pin).is_some();
        let is_input = |pin: &str| agent.spec(&link.sink_id).input(pin).is_some();
        if is_output(pins::base(&link.source_name)) && is_input(pins::base(&link.sink_name)) {
            return agent.stays_valid(change);
        }
        let codes = ["unknown_output", "unknown_input"];
        let expected = codes.map(|code| agent.at(code, &link.sink_id, Some(&link.sink_name)));
        agent.fault(change, expected.into())
    };
    (0..agent.graph.links.len()).map(mutant).collect()
}

fn misspell_pin(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for at in 0..agent.graph.links.len() {
        let misspelled = |name: &str| {
            let base = pins::base(name);
            format!("{base}x{}", &name[base.len()..])
        };
        let mut of_sink = agent.clone();
        let link = &mut of_sink.graph.links[at];
        link.sink_name = misspelled(&link.sink_name);
        let link = link.clone();
        let expected = of_sink.at("unknown_input", &link.sink_id, Some(&link.sink_name));
        mutants.push(of_sink.fault(format!("linked to {}", link.sink_name), vec![expected]));

        let mut of_source = agent.clone();
        let link = &mut of_source.graph.links[at];
        link.source_name = misspelled(&link.source_name);
        let link = link.clone();
        let expected = of_source.at("unknown_output", &link.sink_id, Some(&link.sink_name));
        mutants.push(of_source.fault(format!("linked from {}", link.source_name), vec![expected]));
    }
    mutants
}

/// Whether the pin takes nothing but numbers, or nothing but true and false.
fn is_scalar(schema: &Value) -> bool {
    let named = |name: &Value| name == "number" || name == "integer" || name == "boolean";
    match &schema["type"] {
        Value::Array(names) => names.iter().all(|name| named(name) || name == "null"),
        name => named(name),
    }
}

fn wrong_type(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for id in agent.ids() {
        let pins = agent.spec(&id).inputs["properties"].as_object().cloned().unwrap_or_default();
        for (pin, schema) in pins {
            let is_choice = schema.get("enum").is_some();
            if agent.is_linked(&id, &pin) || !(is_scalar(&schema) || is_choice) {
                continue;
            }
            let mut agent = agent.clone();
            let value = json!("neither fish nor fowl");
            agent.node_mut(&id).input_default.insert(pin.clone(), value);
            let expected = agent.at("wrong_input", &id, Some(&pin));
            mutants.push(agent.fault(format!("set {pin} of {id} to a text"), vec![expected]));
        }
    }
    for at in 0..agent.graph.links.len() {
        let link = &agent.graph.links[at];
        let takes = agent.spec(&link.sink_id).input(&link.sink_name);
        if !takes.is_some_and(is_scalar) {
            continue;
        }
        let mut agent = agent.clone();
        let list = agent.add_node("list", ADD_TO_LIST, json!({"list": [], "entry": 1}));
        let link = &mut agent.graph.links[at];
        (link.source_id, link.source_name) = (list, "updated_list".to_owned());
        let link = link.clone();
        let expected = agent.at("type_mismatch", &link.sink_id, Some(&link.sink_name));
        mutants.push(agent.fault(format!("linked a list to {}", link.sink_name), vec![expected]));
    }
    mutants
}

fn unknown_block(agent: &Agent<'_>) -> Vec<Mutant> {
    let mutant = |id| {
        let mut agent = agent.clone();
        agent.node_mut(&id).block_id = BlockId::from(NOWHERE);
        let expected = agent.at("unknown_block", &id, Some("block"));
        agent.fault(format!("unknown block of {id}"), vec![expected])
    };
    agent.ids().into_iter().map(mutant).collect()
}

fn missing_input(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for id in agent.ids() {
        let spec = agent.spec(&id);
        for pin in spec.required().filter(|pin| agent.is_set(&id, pin)) {
            let change = format!("removed {pin} of {id}");
            let is_linked = agent.is_linked(&id, pin);
            let mut agent = agent.clone();
            agent.node_mut(&id).input_default.remove(pin);
            mutants.push(match spec.kind {
                // Links fill it, as a whole or by its members.
                _ if is_linked => agent.stays_valid(change),
                BlockKind::Agent => {
                    let expected = agent.at("missing_agent", &id, Some("agent"));
                    agent.fault(change, vec![expected])
                }
                _ => {
                    let expected = agent.at("missing_input", &id, Some(pin));
                    agent.fault(change, vec![expected])
                }
            });
        }
    }
    mutants
}

fn dangling_agent(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for id in agent.ids_of(BlockKind::Agent) {
        for (setting, value) in [("graph_id", json!(NOWHERE)), ("graph_version", json!(4711))] {
            let mut agent = agent.clone();
            agent.node_mut(&id).input_default.insert(setting.to_owned(), value);
            let expected = agent.at("unknown_agent", &id, Some("agent"));
            mutants.push(agent.fault(format!("changed {setting} of {id}"), vec![expected]));
        }
        let mut agent = agent.clone();
        let settings = &mut agent.node_mut(&id).input_default;
        settings["input_schema"]["properties"]["Berth"] = json!({"type": "string"});
        let expected = agent.at("agent_changed", &id, None);
        mutants.push(agent.fault(format!("changed the interface of {id}"), vec![expected]));
    }
    let mut agent = agent.clone();
    let settings = json!({"graph_id": NOWHERE, "graph_version": 1, "inputs": {}});
    let id = agent.add_node("helper", AGENT_EXECUTOR, settings);
    let expected = agent.at("unknown_agent", &id, Some("agent"));
    mutants.push(agent.fault("added a step that runs no agent".to_owned(), vec![expected]));
    mutants
}

/// A step that feeds itself, started by what each link carries.
fn endless_cycle(agent: &Agent<'_>) -> Vec<Mutant> {
    let mutant = |at: usize| {
        let mut agent = agent.clone();
        let link = agent.graph.links[at].clone();
        let settings = json!({"format": "{{ x }}", "values": {}});
        let id = agent.add_node("again", FILL_TEXT, settings);
        agent.add_link((&link.source_id, &link.source_name), (&id, "values_#_x"));
        agent.add_link((&id, "output"), (&id, "values_#_x"));
        let expected = agent.at("endless_cycle", &id, None);
        agent.fault(format!("a cycle after {}", link.source_name), vec![expected])
    };
    (0..agent.graph.links.len()).map(mutant).collect()
}

fn secret_in_default(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for id in agent.ids() {
        let mut agent = agent.clone();
        let settings = &mut agent.node_mut(&id).input_default;
        settings.insert("api_key".to_owned(), json!("sk-4711"));
        let expected = agent.at("secret_in_default", &id, Some("api_key"));
        mutants.push(agent.fault(format!("a key in {id}"), vec![expected]));
    }
    for id in agent.ids_of(BlockKind::Input) {
        if !agent.is_set(&id, "value") {
            continue;
        }
        let mut agent = agent.clone();
        agent.node_mut(&id).input_default.insert("secret".to_owned(), json!(true));
        let expected = agent.at("secret_in_default", &id, Some("value"));
        mutants.push(agent.fault(format!("the secret input {id} has a value"), vec![expected]));
    }
    mutants
}

fn duplicate_name(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let kinds = [
        (BlockKind::Input, "duplicate_input", "inputs"),
        (BlockKind::Output, "duplicate_output", "outputs"),
    ];
    for (kind, code, section) in kinds {
        for id in agent.ids_of(kind) {
            let mut agent = agent.clone();
            let mut twin = agent.node(&id).clone();
            let name = twin.input_default["name"].as_str().expect("a name").to_owned();
            twin.id = format!("{id}-twin").into();
            for link in agent.graph.links.clone() {
                if link.sink_id == id {
                    agent.add_link(
                        (&link.source_id, &link.source_name),
                        (&twin.id, &link.sink_name),
                    );
                }
            }
            let node = twin.id.clone();
            agent.graph.nodes.push(twin);
            let mut expected = agent.at(code, &node, None);
            expected.path = format!("{section}.{name}");
            mutants.push(agent.fault(format!("a second {name}"), vec![expected]));
        }
    }
    for id in agent.ids() {
        let mut agent = agent.clone();
        agent.graph.nodes.push(agent.node(&id).clone());
        let expected = agent.at("duplicate_node", &id, None);
        mutants.push(agent.fault(format!("a second node {id}"), vec![expected]));
    }
    mutants
}

fn unreachable_step(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut idle = agent.clone();
    let id = idle.add_node("idle", FILL_TEXT, json!({"format": "x", "values": {}}));
    let expected = idle.at("unused_step", &id, None);
    let idle = idle.fault("added a step without links".to_owned(), vec![expected]);

    let mut waiting = agent.clone();
    let stuck = waiting.add_node("stuck", ADD_TO_LIST, json!({"entry": 1}));
    let behind = waiting.add_node("behind", FILL_TEXT, json!({"format": "{{ x }}", "values": {}}));
    waiting.add_link((&stuck, "updated_list"), (&stuck, "list"));
    waiting.add_link((&stuck, "updated_list"), (&behind, "values_#_x"));
    let expected = waiting.at("unreachable_step", &behind, None);
    let waiting = waiting.fault("added a step behind a dead cycle".to_owned(), vec![expected]);
    vec![idle, waiting]
}

fn unfilled_output(agent: &Agent<'_>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for id in agent.ids_of(BlockKind::Output) {
        let mut agent = agent.clone();
        agent.graph.links.retain(|link| link.sink_id != id);
        let expected = agent.at("unfilled_output", &id, None);
        mutants.push(agent.fault(format!("nothing fills {id}"), vec![expected]));
    }
    let mut agent = agent.clone();
    let id = agent.add_node("extra", OUTPUT, json!({"name": "extra"}));
    let expected = agent.at("unfilled_output", &id, None);
    mutants.push(agent.fault("added an output".to_owned(), vec![expected]));
    mutants
}
