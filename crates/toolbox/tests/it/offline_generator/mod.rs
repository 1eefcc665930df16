//! Agents from plain sentences without a model: which goals and changes are understood, and that every agent is valid.

mod changes;
mod goals;
mod refusals;

use std::sync::Arc;

use graphs::compile::{CompileContext, compile};
use graphs::spec::{self, AgentSpec};
use graphs::validate::check;
use pilothouse_toolbox::blocks;
use pilothouse_toolbox::generators::{GeneratorOptions, connect};
use pilothouse_toolbox::providers::{self, CONTEXT_TOKENS, ProviderOptions};
use ports::AgentGenerator;
use ports::agent_generator::{AgentGoal, Decomposition, GenerateAgent, Generated, UpdateAgent};
use ports::call_services::GivenAgent;
use protocol::GraphId;
use protocol::graph::Graph;
use serde_json::Value;

use crate::blocks::world;
use crate::building::all_blocks;

pub(crate) fn generator() -> Arc<dyn AgentGenerator> {
    let offline = ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS };
    let provider = providers::connect(&offline).expect("the offline pilot");
    let blocks = blocks::all(&world::dependencies());
    connect(&GeneratorOptions::Offline, provider, &blocks).expect("the generator")
}

pub(crate) fn goal(description: &str, context: Option<&str>) -> AgentGoal {
    AgentGoal {
        description: description.to_owned(),
        context: context.map(str::to_owned),
        ..AgentGoal::default()
    }
}

/// The agent for a goal that is understood, as a spec. It must be valid, without warnings.
pub(crate) async fn built(goal: &AgentGoal) -> AgentSpec {
    let generator = generator();
    let instructions = match generator.decompose(goal).await.expect("a plan") {
        Decomposition::Instructions(instructions) => instructions,
        other => panic!("{goal:?}: {other:?}"),
    };
    let steps = instructions["steps"].as_array().expect("steps");
    assert!(steps.iter().all(|step| step["description"].is_string()), "{instructions}");
    let request = GenerateAgent { goal: goal.clone(), instructions, operation: None };
    match generator.generate(&request).await.expect("an agent") {
        Generated::Agent(GivenAgent::Spec(spec)) => checked(&spec).0,
        other => panic!("{goal:?}: {other:?}"),
    }
}

/// The agent after a change.
pub(crate) async fn updated(spec: &AgentSpec, change: &str, context: Option<&str>) -> Generated {
    let (_, graph) = compiled(&spec::to_value(spec));
    let request = UpdateAgent {
        change: goal(change, context),
        current: Box::new(graph),
        current_spec: spec::to_yaml(spec),
        operation: None,
    };
    generator().update(&request).await.expect("an answer")
}

/// Compiles and validates an agent that must have no problems.
pub(crate) fn checked(value: &Value) -> (AgentSpec, Graph) {
    let (read, graph) = compiled(value);
    let report = check(&graph, &all_blocks(), None);
    let problems: Vec<_> = report.problems().collect();
    assert!(problems.is_empty(), "{problems:#?}\n{value:#}");
    (read, graph)
}

fn compiled(value: &Value) -> (AgentSpec, Graph) {
    let blocks = all_blocks();
    let read = spec::from_value(value).unwrap_or_else(|why| panic!("{why:#?}\n{value:#}"));
    let id = GraphId::from("offline");
    let context = CompileContext { blocks: &blocks, agents: &Vec::new(), id: &id, previous: None };
    let compiled = compile(&read, context);
    assert_eq!(compiled.problems, [], "{value:#}");
    (read, compiled.graph)
}

/// The default of an input.
pub(crate) fn default<'a>(spec: &'a AgentSpec, input: &str) -> &'a Value {
    let input = spec.input(input).unwrap_or_else(|| panic!("{input} in {:?}", spec.inputs));
    input.settings.get("value").unwrap_or(&Value::Null)
}
