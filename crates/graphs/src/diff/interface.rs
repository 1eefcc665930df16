//! Differences of what an agent takes and gives, and whether they break those who use it.

use protocol::graph::Graph;
use protocol::graph_diff::{FieldChange, FieldsDiff, InterfaceDiff, InterfaceField};
use protocol::secret::HIDDEN;
use serde_json::{Value, json};

use super::matching::NamePairs;
use super::shown_value::{SecretTexts, cut};
use crate::catalog::BlockSpecs;
use crate::names::NodeName;
use crate::schema::{input_schema, output_schema};
use crate::types::TypeSet;

pub(crate) fn compare(
    from: &Graph,
    to: &Graph,
    pairs: &NamePairs,
    secrets: &SecretTexts,
    blocks: &dyn BlockSpecs,
) -> InterfaceDiff {
    let inputs = (&input_schema(from, blocks), &input_schema(to, blocks));
    let inputs = fields(inputs, Side::Inputs, secrets, |name| {
        Some(pairs.after(&NodeName::Input(name.to_owned()))?.as_str())
    });
    let outputs = (&output_schema(from, blocks), &output_schema(to, blocks));
    let outputs = fields(outputs, Side::Outputs, secrets, |name| {
        Some(pairs.after(&NodeName::Output(name.to_owned()))?.as_str())
    });
    InterfaceDiff { inputs, outputs }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Inputs,
    Outputs,
}

fn fields<'a>(
    (from, to): (&Value, &Value),
    side: Side,
    secrets: &SecretTexts,
    name_after: impl Fn(&str) -> Option<&'a str>,
) -> FieldsDiff {
    let (before, after) = (read(from, side), read(to, side));
    let shown = |field: InterfaceField| shown(field, secrets);
    let find =
        |all: &[InterfaceField], name: &str| all.iter().find(|field| field.name == name).cloned();
    let mut diff = FieldsDiff::default();
    let mut matched = Vec::new();
    for field in before {
        let name = name_after(&field.name).unwrap_or(&field.name).to_owned();
        match find(&after, &name).filter(|_| !matched.contains(&name)) {
            None => diff.removed.push(shown(field)),
            Some(now) => {
                matched.push(name);
                if now != field {
                    diff.changed.push(FieldChange { from: shown(field), to: shown(now) });
                }
            }
        }
    }
    let added = after.into_iter().filter(|field| !matched.contains(&field.name));
    diff.added = added.map(shown).collect();
    diff.added.sort_by(|a, b| a.name.cmp(&b.name));
    diff.removed.sort_by(|a, b| a.name.cmp(&b.name));
    diff.changed.sort_by(|a, b| a.to.name.cmp(&b.to.name));
    diff.breaking = is_breaking(&diff, side);
    diff
}

/// Whether those who use the agent as it was may fail: an input that they give is gone or takes less, one that they do not
/// give is required, or an output is gone or gives something else.
pub(crate) fn is_breaking(diff: &FieldsDiff, side: Side) -> bool {
    let breaks = |change: &FieldChange| {
        let FieldChange { from, to } = change;
        let (old, new) = (TypeSet::of(&from.schema), TypeSet::of(&to.schema));
        let is_narrower = match side {
            Side::Inputs => !new.includes(old) || !includes_choices(&to.schema, &from.schema),
            Side::Outputs => !old.includes(new) || !includes_choices(&from.schema, &to.schema),
        };
        from.name != to.name || is_narrower || (to.required && !from.required)
    };
    !diff.removed.is_empty()
        || diff.added.iter().any(|field| field.required)
        || diff.changed.iter().any(breaks)
}

/// Whether all choices of the second schema are allowed by the first one.
fn includes_choices(wide: &Value, narrow: &Value) -> bool {
    let choices = |schema: &Value| schema.get("enum").and_then(Value::as_array).cloned();
    match (choices(wide), choices(narrow)) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => narrow.iter().all(|choice| wide.contains(choice)),
    }
}

fn read(schema: &Value, side: Side) -> Vec<InterfaceField> {
    let required: Vec<&str> = match side {
        Side::Inputs => {
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
        }
        // An agent always may give an output or not.
        Side::Outputs => Vec::new(),
    };
    let fields = schema["properties"].as_object().into_iter().flatten();
    let field = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        // Without a title of its own, a field has its name as title.
        if let Some(members) = schema.as_object_mut()
            && members.get("title") == Some(&json!(name))
        {
            members.shift_remove("title");
        }
        InterfaceField { name: name.clone(), schema, required: required.contains(&name.as_str()) }
    };
    fields.map(field).collect()
}

fn shown(mut field: InterfaceField, secrets: &SecretTexts) -> InterfaceField {
    let is_secret = field.schema["secret"] == true;
    if let Some(members) = field.schema.as_object_mut() {
        for (key, member) in members {
            match key.as_str() {
                "default" if is_secret => *member = json!(HIDDEN),
                "default" | "description" | "placeholder" | "title" => {
                    *member = cut(&secrets.mask_value(member));
                }
                _ => {}
            }
        }
    }
    field
}
