//! Puts values where the nested names of pins lead: `headers_#_Accept` into an object, `items_$_2` into a list.

use serde_json::{Map, Value, json};

use crate::pins::{self, PathStep};
use crate::spec::{LITERAL, tagged};

/// Puts the value at the place that a nested name describes, within lists and objects only.
pub(crate) fn put_nested(values: &mut Map<String, Value>, name: &str, value: &Value) -> bool {
    let Ok(steps) = pins::steps(name) else { return false };
    let base = pins::base(name).to_owned();
    let mut place = values
        .get(&base)
        .cloned()
        .filter(|value| !value.is_null())
        .unwrap_or_else(|| empty(&steps));
    if tagged(&place, LITERAL).is_some() || !put_at(&mut place, &steps, value) {
        return false;
    }
    values.insert(base, place);
    true
}

fn put_at(place: &mut Value, steps: &[PathStep<'_>], value: &Value) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        *place = value.clone();
        return true;
    };
    match (step, place) {
        // A member that a link replaces is not a setting, so it has no place among them.
        (PathStep::Key(key), Value::Object(members)) if rest.is_empty() => {
            members.shift_remove(*key);
            members.insert((*key).to_owned(), value.clone());
            true
        }
        (PathStep::Key(key), Value::Object(members)) => {
            let member = members.entry((*key).to_owned()).or_insert(Value::Null);
            if member.is_null() {
                *member = empty(rest);
            }
            put_at(member, rest, value)
        }
        (PathStep::Index(index), Value::Array(items)) => {
            // A list with many empty places is better shown by the name of the pin.
            const MOST_EMPTY: usize = 20;
            if *index > items.len() + MOST_EMPTY {
                return false;
            }
            if items.len() <= *index {
                items.resize(*index + 1, Value::Null);
            }
            if items[*index].is_null() {
                items[*index] = empty(rest);
            }
            put_at(&mut items[*index], rest, value)
        }
        _ => false,
    }
}

/// A value into which the steps can lead.
fn empty(steps: &[PathStep<'_>]) -> Value {
    match steps.first() {
        Some(PathStep::Key(_)) => json!({}),
        Some(PathStep::Index(_)) => json!([]),
        None => Value::Null,
    }
}
