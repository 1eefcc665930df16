//! Decides whether an agent can be started with the given inputs.

use ports::call_services::AgentDescription;
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
pub(crate) struct StartOptions {
    pub(crate) use_defaults: bool,
    pub(crate) dry_run: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartObstacle {
    /// The agent is started by an external event only.
    ExternalTrigger,
    /// Inputs that the agent does not have.
    UnknownInputs(Vec<String>),
    /// The agent has inputs, and the call gives neither inputs nor `use_defaults`.
    InputsNotGiven,
    /// Required inputs that are missing.
    MissingInputs(Vec<String>),
}

/// The first obstacle, if there is one. Unknown names are checked first and also in a dry run, which skips the later
/// checks.
pub(crate) fn find_obstacle(
    agent: &AgentDescription,
    inputs: &Map<String, Value>,
    options: StartOptions,
) -> Option<StartObstacle> {
    if agent.flags.has_external_trigger {
        return Some(StartObstacle::ExternalTrigger);
    }
    let names = agent.input_schema["properties"].as_object();
    let takes = |name: &String| names.is_some_and(|names| names.contains_key(name));
    let unknown: Vec<String> = inputs.keys().filter(|name| !takes(name)).cloned().collect();
    if !unknown.is_empty() {
        return Some(StartObstacle::UnknownInputs(unknown));
    }
    if options.dry_run {
        return None;
    }
    let takes_any = names.is_some_and(|names| !names.is_empty());
    if takes_any && inputs.is_empty() && !options.use_defaults {
        return Some(StartObstacle::InputsNotGiven);
    }
    let required = agent.input_schema["required"].as_array().into_iter().flatten();
    let missing: Vec<String> = required
        .filter_map(Value::as_str)
        .filter(|name| !inputs.contains_key(*name))
        .map(str::to_owned)
        .collect();
    (!missing.is_empty()).then_some(StartObstacle::MissingInputs(missing))
}

#[cfg(test)]
mod tests {
    use protocol::graph::{Graph, GraphFlags};
    use serde_json::json;

    use super::*;

    fn agent(input_schema: Value, has_external_trigger: bool) -> AgentDescription {
        AgentDescription {
            graph: Graph::default(),
            input_schema,
            output_schema: json!({}),
            flags: GraphFlags { has_external_trigger, ..GraphFlags::default() },
        }
    }

    #[test]
    fn the_first_obstacle_is_found() {
        let takes = json!({"properties": {"a": {}, "b": {}}, "required": ["a"]});
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (schema, trigger, inputs, use_defaults, dry_run, expected) in [
            (json!({}), false, json!({}), false, false, None),
            (json!({"properties": {}}), false, json!({}), false, false, None),
            (
                takes.clone(),
                true,
                json!({"x": 1}),
                false,
                true,
                Some(StartObstacle::ExternalTrigger),
            ),
            (
                takes.clone(),
                false,
                json!({"x": 1}),
                true,
                false,
                Some(StartObstacle::UnknownInputs(names(&["x"]))),
            ),
            (
                takes.clone(),
                false,
                json!({"x": 1}),
                false,
                true,
                Some(StartObstacle::UnknownInputs(names(&["x"]))),
            ),
            (takes.clone(), false, json!({}), false, true, None),
            (takes.clone(), false, json!({}), false, false, Some(StartObstacle::InputsNotGiven)),
            (
                takes.clone(),
                false,
                json!({}),
                true,
                false,
                Some(StartObstacle::MissingInputs(names(&["a"]))),
            ),
            (
                takes.clone(),
                false,
                json!({"b": 1}),
                false,
                false,
                Some(StartObstacle::MissingInputs(names(&["a"]))),
            ),
            (takes.clone(), false, json!({"a": null}), false, false, None),
        ] {
            let given = inputs.as_object().expect("an object");
            let options = StartOptions { use_defaults, dry_run };
            assert_eq!(
                find_obstacle(&agent(schema, trigger), given, options),
                expected,
                "{inputs}"
            );
        }
    }
}
