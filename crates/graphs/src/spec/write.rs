//! Writes a spec as a JSON value or as YAML. What has a default is left out.

use serde_json::{Map, Value, json};

use super::input_types::{self, RENAMED_SETTINGS};
use super::read::SETTINGS_OF_OUTPUTS;
use super::{AgentSpec, InputSpec, OutputSpec, StepSpec, StepTarget};

/// The members of a step that are not pins.
pub(crate) const STEP_MEMBERS: [&str; 4] = ["block", "agent", "label", "with"];

pub fn to_yaml(spec: &AgentSpec) -> String {
    let options = serde_saphyr::ser_options! { no_lang_directive: true };
    // A JSON value always has a YAML form.
    serde_saphyr::to_string_with_options(&to_value(spec), options).unwrap_or_default()
}

pub fn to_value(spec: &AgentSpec) -> Value {
    let mut members = Map::new();
    members.insert("name".to_owned(), json!(spec.name));
    let texts = [
        ("description", Some(&spec.description).filter(|text| !text.is_empty())),
        ("instructions", spec.instructions.as_ref()),
        ("recommended_schedule", spec.recommended_schedule.as_ref()),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            members.insert(key.to_owned(), json!(text));
        }
    }
    let mut section = |name: &str, entries: Map<String, Value>| {
        if !entries.is_empty() {
            members.insert(name.to_owned(), Value::Object(entries));
        }
    };
    section(
        "inputs",
        spec.inputs.iter().map(|(name, one)| (name.clone(), input_value(one))).collect(),
    );
    section(
        "steps",
        spec.steps.iter().map(|(name, one)| (name.clone(), step_value(one))).collect(),
    );
    section(
        "outputs",
        spec.outputs.iter().map(|(name, one)| (name.clone(), output_value(one))).collect(),
    );
    Value::Object(members)
}

pub(crate) fn input_value(input: &InputSpec) -> Value {
    let mut members = Map::new();
    // A text with options would be read as a choice.
    let named = input_types::input_type_of_block(&input.block)
        .filter(|known| known.name != "string" || !input.settings.contains_key("options"));
    match named {
        Some(known) if input.settings.is_empty() => return json!(known.name),
        Some(known) => members.insert("type".to_owned(), json!(known.name)),
        None => members.insert("block".to_owned(), json!(input.block)),
    };
    for (setting, value) in &input.settings {
        let renamed = RENAMED_SETTINGS.iter().find(|(_, in_block)| in_block == setting);
        let name = renamed.map_or(setting.as_str(), |(in_spec, _)| in_spec);
        members.insert(name.to_owned(), value.clone());
    }
    Value::Object(members)
}

pub(crate) fn step_value(step: &StepSpec) -> Value {
    let mut members = Map::new();
    match &step.runs {
        StepTarget::Block(block) => members.insert("block".to_owned(), json!(block)),
        StepTarget::Agent { id, version: Some(version) } => {
            members.insert("agent".to_owned(), json!(format!("{id}@{version}")))
        }
        StepTarget::Agent { id, version: None } => members.insert("agent".to_owned(), json!(id)),
    };
    if let Some(label) = &step.label {
        members.insert("label".to_owned(), json!(label));
    }
    let (reserved, plain): (Map<_, _>, Map<_, _>) =
        step.pins.clone().into_iter().partition(|(pin, _)| STEP_MEMBERS.contains(&pin.as_str()));
    members.extend(plain);
    if !reserved.is_empty() {
        members.insert("with".to_owned(), Value::Object(reserved));
    }
    Value::Object(members)
}

pub(crate) fn output_value(output: &OutputSpec) -> Value {
    if output.settings.is_empty() {
        // An object would be read as settings.
        return match &output.from {
            Some(Value::Object(from)) if !from.keys().any(|key| key.starts_with('$')) => {
                json!({ "from": from })
            }
            Some(from) => from.clone(),
            None => Value::Null,
        };
    }
    let mut members = Map::new();
    let is_settings_only =
        output.settings.keys().all(|key| SETTINGS_OF_OUTPUTS.contains(&key.as_str()));
    // Without it, unusual settings would be read as the value.
    if output.from.is_some() || !is_settings_only {
        members.insert("from".to_owned(), output.from.clone().unwrap_or(Value::Null));
    }
    members.extend(output.settings.clone());
    Value::Object(members)
}
