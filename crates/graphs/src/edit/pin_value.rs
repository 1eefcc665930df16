//! Values of pins by name, also by names that lead into a value: `headers_#_Accept`.

use serde_json::{Map, Value};

use crate::nested_value::put_nested;
use crate::pins::{self, PathStep};
use crate::spec::{ANY_OF, LITERAL, tagged};

pub(crate) fn get<'a>(values: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(value) = values.get(name) {
        return Some(value);
    }
    let mut reached = values.get(pins::base(name))?;
    for step in pins::steps(name).ok()? {
        if is_tagged(reached) {
            return None;
        }
        reached = match step {
            PathStep::Key(key) => reached.as_object()?.get(key)?,
            PathStep::Index(index) => reached.as_array()?.get(index)?,
        };
    }
    Some(reached)
}

/// Sets the value, inside the value of the pin if there is one.
pub(crate) fn set(values: &mut Map<String, Value>, name: &str, value: Value) {
    let is_whole = values.contains_key(name) || !pins::is_nested(name);
    let base = values.get(pins::base(name));
    if is_whole || base.is_some_and(is_tagged) || !put_nested(values, name, &value) {
        values.insert(name.to_owned(), value);
    }
}

/// Removes the value. An item of a list becomes null, so that the others keep their places.
pub(crate) fn clear(values: &mut Map<String, Value>, name: &str) {
    if values.shift_remove(name).is_some() {
        return;
    }
    let Ok(steps) = pins::steps(name) else { return };
    let Some((last, steps)) = steps.split_last() else { return };
    let Some(mut reached) = values.get_mut(pins::base(name)) else { return };
    for step in steps {
        let next = match step {
            PathStep::Key(key) => reached.as_object_mut().and_then(|members| members.get_mut(*key)),
            PathStep::Index(index) => {
                reached.as_array_mut().and_then(|items| items.get_mut(*index))
            }
        };
        let Some(next) = next else { return };
        reached = next;
    }
    match (last, reached) {
        (PathStep::Key(key), Value::Object(members)) => {
            members.shift_remove(*key);
        }
        (PathStep::Index(index), Value::Array(items)) => {
            if let Some(item) = items.get_mut(*index) {
                *item = Value::Null;
            }
        }
        _ => {}
    }
}

fn is_tagged(value: &Value) -> bool {
    tagged(value, LITERAL).is_some() || tagged(value, ANY_OF).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn a_name_leads_into_a_value() {
        let before = json!({"h": {"a": 1, "l": [1, 2]}, "t": {"$literal": {"a": 1}}, "o_#_p": 5});
        let table = [
            (
                "h_#_a",
                Some(json!(1)),
                json!({"h": {"l": [1, 2], "a": 9}, "t": {"$literal": {"a": 1}}, "o_#_p": 5}),
            ),
            (
                "h_#_l_$_1",
                Some(json!(2)),
                json!({"h": {"a": 1, "l": [1, 9]}, "t": {"$literal": {"a": 1}}, "o_#_p": 5}),
            ),
            (
                "o_#_p",
                Some(json!(5)),
                json!({"h": {"a": 1, "l": [1, 2]}, "t": {"$literal": {"a": 1}}, "o_#_p": 9}),
            ),
            (
                "n_#_m",
                None,
                json!({"h": {"a": 1, "l": [1, 2]}, "t": {"$literal": {"a": 1}}, "o_#_p": 5, "n": {"m": 9}}),
            ),
            (
                "t_#_a",
                None,
                json!({"h": {"a": 1, "l": [1, 2]}, "t": {"$literal": {"a": 1}}, "o_#_p": 5, "t_#_a": 9}),
            ),
        ];
        for (name, value, after) in table {
            let mut values = object(before.clone());
            assert_eq!(get(&values, name).cloned(), value, "{name}");
            set(&mut values, name, json!(9));
            assert_eq!(Value::Object(values), after, "{name}");
        }
    }

    #[test]
    fn a_cleared_item_leaves_its_place() {
        let mut values = object(json!({"h": {"a": 1, "l": [1, 2]}, "x": 3}));
        for name in ["h_#_a", "h_#_l_$_0", "x", "nothing", "h_#_l_$_7"] {
            clear(&mut values, name);
        }
        assert_eq!(Value::Object(values), json!({"h": {"l": [null, 2]}}));
    }
}
