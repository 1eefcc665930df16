//! Decides whether the values that one schema describes can never be passed to a pin with another schema, although their
//! types can be converted.

use std::cell::Cell;

use serde_json::Value;

use super::{TypeSet, member_schema};

/// Why no value fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    pub why: String,
    pub expected: String,
    pub got: String,
}

/// `None` if some value fits, or if that is not known. `left` is the number of comparisons that may still be made.
pub fn misfit(given: &Value, taken: &Value, left: &Cell<usize>) -> Option<Misfit> {
    let (from, to) = (TypeSet::of(given), TypeSet::of(taken));
    // Other types are converted first, and a null is never converted.
    if !from.can_become(to) {
        return None;
    }
    if from == TypeSet::ANY || to == TypeSet::ANY {
        return None;
    }
    inside(given, taken, left)
}

fn inside(given: &Value, taken: &Value, left: &Cell<usize>) -> Option<Misfit> {
    left.set(left.get().checked_sub(1)?);
    let (from, to) = (TypeSet::of(given), TypeSet::of(taken));
    if let Some(found) = choices(given, taken, left) {
        return Some(found);
    }
    match (from.only(), to.only()) {
        (Some(TypeSet::LIST), Some(TypeSet::LIST)) => {
            let (given, taken) = (given.get("items")?, taken.get("items")?);
            within("an item", given, taken, left)
        }
        (Some(TypeSet::OBJECT), Some(TypeSet::OBJECT)) => members(given, taken, left),
        _ => None,
    }
}

/// A part of the value: its type must be convertible too.
fn within(what: &str, given: &Value, taken: &Value, left: &Cell<usize>) -> Option<Misfit> {
    let (from, to) = (TypeSet::of(given), TypeSet::of(taken));
    if !from.can_become(to) {
        return Some(Misfit {
            why: format!("{what} is {from}, and {to} is needed"),
            expected: to.to_string(),
            got: from.to_string(),
        });
    }
    let found = inside(given, taken, left)?;
    Some(Misfit { why: format!("{what}: {}", found.why), ..found })
}

/// Two lists of choices without a common one.
fn choices(given: &Value, taken: &Value, left: &Cell<usize>) -> Option<Misfit> {
    const SHOWN: usize = 10;
    let given = given.get("enum")?.as_array()?;
    let taken = taken.get("enum")?.as_array()?;
    left.set(left.get().checked_sub(given.len().saturating_mul(taken.len()))?);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let known: Vec<String> = taken.iter().map(text).collect();
    // Values are converted, so that `5` may become `"5"`.
    if given.iter().any(|value| known.contains(&text(value))) || given.is_empty() {
        return None;
    }
    let listed =
        |values: &[Value]| values.iter().take(SHOWN).map(text).collect::<Vec<_>>().join(", ");
    Some(Misfit {
        why: "none of its choices is one of the choices there".to_owned(),
        expected: format!("one of {}", listed(taken)),
        got: format!("one of {}", listed(given)),
    })
}

fn members(given: &Value, taken: &Value, left: &Cell<usize>) -> Option<Misfit> {
    let known = given.get("properties")?.as_object()?;
    let is_closed = given.get("additionalProperties") == Some(&Value::Bool(false));
    let required = taken.get("required").and_then(Value::as_array).into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        left.set(left.get().checked_sub(1)?);
        if is_closed && !known.contains_key(key) {
            return Some(Misfit {
                why: format!("the member `{key}` is missing"),
                expected: format!("an object with `{key}`"),
                got: "an object without it".to_owned(),
            });
        }
    }
    let always = given.get("required").and_then(Value::as_array);
    for (key, member) in known {
        left.set(left.get().checked_sub(1)?);
        // A member that may be absent does no harm.
        let is_certain = always.is_some_and(|names| names.iter().take(100).any(|name| name == key));
        let Some(of_member) = member_schema(taken, key).filter(|_| is_certain) else { continue };
        if let Some(found) = within(&format!("the member `{key}`"), member, of_member, left) {
            return Some(found);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_without_a_common_value_do_not_fit() {
        let numbers = json!({"type": "array", "items": {"type": "number"}});
        let objects = json!({"type": "array", "items": {"type": "object"}});
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let any = json!({"type": "array"});
        let colors = json!({"enum": ["red", "blue"]});
        let moods = json!({"enum": ["glad", "sad"]});
        let some = json!({"enum": ["blue", "sad"]});
        let closed = json!({"type": "object", "properties": {"a": {"type": "array"}},
            "required": ["a"], "additionalProperties": false});
        let wants_b = json!({"type": "object", "required": ["b"]});
        let wants_a = json!({"type": "object", "properties": {"a": {"type": "number"}}});
        let text = json!({"type": "string"});
        let table = [
            (&objects, &numbers, true),
            (&texts, &numbers, false),
            (&numbers, &texts, false),
            (&any, &numbers, false),
            (&colors, &moods, true),
            (&colors, &some, false),
            (&colors, &text, false),
            (&text, &colors, false),
            (&closed, &wants_b, true),
            (&closed, &wants_a, true),
            (&wants_b, &wants_a, false),
        ];
        for (given, taken, expected) in table {
            let found = misfit(given, taken, &Cell::new(1000));
            assert_eq!(found.is_some(), expected, "{given} to {taken}: {found:?}");
        }
    }

    #[test]
    fn nothing_is_decided_beyond_the_limit() {
        let colors = json!({"enum": ["red", "blue"]});
        let moods = json!({"enum": ["glad", "sad"]});
        assert_eq!(misfit(&colors, &moods, &Cell::new(3)), None);
    }
}
