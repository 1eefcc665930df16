//! Sets a value of a spec: a pin of a step, a member of an input, or the value or a setting of an output.

use protocol::graph::GraphProblem;
use serde_json::{Map, Value, json};

use super::entries::{check_pin_name, edit_output, entry, read_inputs};
use super::pin_value;
use crate::names::NodeName;
use crate::pins;
use crate::spec::{AgentSpec, input_value};

/// Sets or clears a pin of a step, or a member of an input or an output.
pub(crate) fn set(
    spec: &mut AgentSpec,
    node: &NodeName,
    pin: &str,
    value: Option<&Value>,
) -> Result<(), GraphProblem> {
    match node {
        NodeName::Step(name) => {
            check_pin_name(pin)?;
            let Some(step) = entry(&mut spec.steps, name) else { return Ok(()) };
            match value {
                Some(value) => pin_value::set(&mut step.pins, pin, value.clone()),
                None => pin_value::clear(&mut step.pins, pin),
            }
        }
        NodeName::Output(name) if pins::base(pin) == "value" => {
            check_pin_name(pin)?;
            let Some(output) = entry(&mut spec.outputs, name) else { return Ok(()) };
            edit_output(output, |values| {
                match value {
                    Some(value) => pin_value::set(values, pin, value.clone()),
                    None => pin_value::clear(values, pin),
                }
                Ok(())
            })?;
        }
        NodeName::Output(name) => {
            let Some(output) = entry(&mut spec.outputs, name) else { return Ok(()) };
            put(&mut output.settings, pin, value);
        }
        NodeName::Input(name) => set_input(spec, name, pin, value)?,
        NodeName::Text(_) => {}
    }
    Ok(())
}

/// Sets a member of an input as the spec writes it, such as `type` or `default`.
fn set_input(
    spec: &mut AgentSpec,
    name: &str,
    setting: &str,
    value: Option<&Value>,
) -> Result<(), GraphProblem> {
    let Some(input) = entry(&mut spec.inputs, name) else { return Ok(()) };
    let mut members = match input_value(input) {
        Value::Object(members) => members,
        kind => Map::from_iter([("type".to_owned(), kind)]),
    };
    if setting == "type" || setting == "block" {
        members.retain(|key, _| key != "type" && key != "block");
        members.shift_insert(0, setting.to_owned(), value.cloned().unwrap_or(json!("any")));
    } else {
        put(&mut members, setting, value);
    }
    *input = read_inputs(&Map::from_iter([(name.to_owned(), Value::Object(members))]))?
        .pop()
        .map_or_else(|| input.clone(), |(_, input)| input);
    Ok(())
}

fn put(members: &mut Map<String, Value>, key: &str, value: Option<&Value>) {
    match value {
        Some(value) => {
            members.insert(key.to_owned(), value.clone());
        }
        None => {
            members.shift_remove(key);
        }
    }
}
