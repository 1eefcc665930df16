//! Values on either side of what a step compares with, so that a rehearsal takes both of its branches.

use protocol::block::BlockSpec;
use protocol::graph::Node;
use serde_json::{Map, Value, json};

use crate::types::TypeSet;
use crate::validate::node_pins;

/// Inputs of steps with two branches that are passed on, not compared.
pub const PASSED_ON: [&str; 2] = ["yes_value", "no_value"];
const ORDERING: [&str; 4] = ["<", ">", "<=", ">="];
/// A distance that a few calculations in between do not close.
const FAR: f64 = 1000.0;
const MAX_CONSTANTS: usize = 3;
/// How many values are made of one that has parts, and how deep its parts are varied.
const MAX_WHOLES: usize = 4;
const MAX_DEPTH: usize = 4;

/// What a step compares its other inputs with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boundary {
    pub constants: Vec<Value>,
    /// It asks for more or less, not for the same.
    pub is_ordered: bool,
}

impl Boundary {
    /// Adds what a step on the way compares with.
    pub fn add(&mut self, node: &Node, spec: &BlockSpec) {
        let new = constants(node, spec).into_iter().filter(|one| !self.constants.contains(one));
        let new: Vec<Value> = new.collect();
        self.constants.extend(new);
        self.constants.truncate(MAX_CONSTANTS);
        let settings = node.input_default.values().filter_map(Value::as_str);
        self.is_ordered |= settings.into_iter().any(|setting| ORDERING.contains(&setting));
    }
}

/// The texts, numbers and booleans that are set on a step and can be compared: not those that choose what it does.
pub fn constants(node: &Node, spec: &BlockSpec) -> Vec<Value> {
    let set = node.input_default.iter().filter(|(pin, value)| {
        let is_scalar = matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
        let schema = node_pins::schema(node, spec, pin);
        let chooses = schema.is_some_and(is_choice);
        is_scalar && !chooses && !PASSED_ON.contains(&pin.as_str())
    });
    set.map(|(_, value)| value.clone()).collect()
}

fn is_choice(schema: &Value) -> bool {
    let types = TypeSet::of(schema);
    let has_choices = ["enum", "const", "oneOf", "anyOf", "$ref", "allOf"]
        .iter()
        .any(|key| schema.get(*key).is_some());
    // Of the pins that have a type, only texts are compared: with what the step looks for.
    has_choices || (types != TypeSet::ANY && types.only() != Some(TypeSet::TEXT))
}

/// Values that may lead elsewhere than the current one, the most promising first. None of them is the current one.
pub fn near_values(schema: &Value, current: Option<&Value>, boundary: &Boundary) -> Vec<Value> {
    let mut values = candidates(schema, current, boundary, 0);
    let mut seen: Vec<Value> = current.into_iter().cloned().collect();
    values.retain(|value| {
        let is_new = !seen.contains(value);
        if is_new {
            seen.push(value.clone());
        }
        is_new
    });
    values
}

fn candidates(
    schema: &Value,
    current: Option<&Value>,
    boundary: &Boundary,
    depth: usize,
) -> Vec<Value> {
    let constants = &boundary.constants;
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let (named, others): (Vec<&Value>, Vec<&Value>) =
            choices.iter().partition(|choice| constants.contains(choice));
        return named.into_iter().chain(others).cloned().collect();
    }
    let declared = TypeSet::of(schema);
    let types = match (declared == TypeSet::ANY, constants.first(), current) {
        (false, ..) => declared,
        (true, Some(constant), _) => TypeSet::of_value(constant),
        (true, None, Some(current)) => TypeSet::of_value(current),
        (true, None, None) => TypeSet::TEXT,
    };
    if types.intersects(TypeSet::NUMBER) {
        let whole = types.only() == Some(TypeSet::INTEGER) && declared != TypeSet::ANY;
        numbers(current, boundary).into_iter().filter_map(|one| number(one, whole)).collect()
    } else if types.intersects(TypeSet::TEXT) {
        texts(schema, current, boundary)
    } else if types.intersects(TypeSet::BOOLEAN) {
        match current {
            Some(Value::Bool(yes)) => vec![json!(!yes)],
            _ => vec![json!(true), json!(false)],
        }
    } else if types.intersects(TypeSet::LIST) {
        let items = schema.get("items").unwrap_or(&Value::Bool(true));
        let parts = current.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let parts: Vec<Vec<Value>> =
            parts.iter().map(|part| parts_of(items, part, boundary, depth)).collect();
        let mut wholes: Vec<Value> = (0..MAX_WHOLES)
            .filter(|round| parts.iter().any(|part| part.len() > round + 1))
            .map(|round| parts.iter().filter_map(|part| nth(part, round)).collect())
            .collect();
        wholes.push(json!([]));
        wholes
    } else if types.intersects(TypeSet::OBJECT) {
        let members = current.and_then(Value::as_object).into_iter().flatten();
        let parts: Vec<(&String, Vec<Value>)> = members
            .map(|(key, part)| {
                let schema = schema.get("properties").and_then(|all| all.get(key));
                (key, parts_of(schema.unwrap_or(&Value::Bool(true)), part, boundary, depth))
            })
            .collect();
        let whole = |round: usize| -> Map<String, Value> {
            parts
                .iter()
                .filter_map(|(key, part)| Some(((*key).clone(), nth(part, round)?)))
                .collect()
        };
        let mut wholes: Vec<Value> = (0..MAX_WHOLES)
            .filter(|round| parts.iter().any(|(_, part)| part.len() > round + 1))
            .map(|round| Value::Object(whole(round)))
            .collect();
        wholes.push(json!({}));
        wholes
    } else {
        Vec::new()
    }
}

/// The part itself, and the other values that it may have.
fn parts_of(schema: &Value, part: &Value, boundary: &Boundary, depth: usize) -> Vec<Value> {
    let mut values = vec![part.clone()];
    if depth < MAX_DEPTH {
        let others = candidates(schema, Some(part), boundary, depth + 1);
        values.extend(others.into_iter().filter(|other| other != part));
    }
    values
}

/// The other value of this round, or else the part itself.
fn nth(values: &[Value], round: usize) -> Option<Value> {
    values.get(round + 1).or(values.first()).cloned()
}

/// For each constant: next to it on the other side than the current value, far away there, and the constant itself.
fn numbers(current: Option<&Value>, boundary: &Boundary) -> Vec<f64> {
    let mut constants: Vec<f64> = boundary.constants.iter().filter_map(as_number).collect();
    let current = current.and_then(as_number);
    if constants.is_empty() {
        constants.push(current.unwrap_or(0.0));
    }
    let away = |constant: f64| if current.is_some_and(|now| now > constant) { -1.0 } else { 1.0 };
    let next = constants.iter().map(|constant| constant + away(*constant));
    let far =
        constants.iter().map(|constant| constant + away(*constant) * (FAR + 10.0 * constant.abs()));
    let opposite = constants.iter().map(|constant| constant - away(*constant));
    match boundary.is_ordered {
        true => next.chain(far).chain(constants.iter().copied()).chain(opposite).collect(),
        false => constants.iter().copied().chain(next).chain(far).collect(),
    }
}

fn texts(schema: &Value, current: Option<&Value>, boundary: &Boundary) -> Vec<Value> {
    let of_text = |text: &Value| text.as_str().map(str::to_owned);
    let constants: Vec<String> = boundary.constants.iter().filter_map(of_text).collect();
    match schema.get("format").and_then(Value::as_str) {
        Some("file") => return Vec::new(),
        Some("date") => {
            let dates =
                constants.into_iter().chain(["2000-01-01", "2099-12-31"].map(str::to_owned));
            return dates.map(Value::String).collect();
        }
        Some("time") => {
            let times = constants.into_iter().chain(["00:00:00", "23:59:59"].map(str::to_owned));
            return times.map(Value::String).collect();
        }
        _ => {}
    }
    // A text that is compared with numbers is a number.
    if constants.is_empty() && boundary.constants.iter().any(Value::is_number) {
        let numbers = numbers(current, boundary).into_iter().filter_map(|one| number(one, false));
        return numbers.map(|number| json!(number.to_string())).collect();
    }
    let others = constants.first().map(|constant| format!("Not {constant}"));
    let above = constants.first().map(|constant| format!("{constant}z"));
    let is_same = |text: &Value| constants.iter().any(|constant| text.as_str() == Some(constant));
    let mut texts: Vec<String> = match current.is_some_and(is_same) {
        true => others.into_iter().chain(constants).collect(),
        false => constants.into_iter().chain(others).collect(),
    };
    texts.extend(above.filter(|_| boundary.is_ordered));
    texts.push(String::new());
    texts.into_iter().map(Value::String).collect()
}

fn as_number(value: &Value) -> Option<f64> {
    let parsed = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    parsed.filter(|number| number.is_finite())
}

/// A whole number if it is one.
fn number(value: f64, whole: bool) -> Option<Value> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "beyond the range of whole numbers it is rounded"
    )]
    match whole || value.fract() == 0.0 {
        true => Some(json!(value as i64)),
        false => value.is_finite().then(|| json!(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_on_both_sides_of_what_is_compared_with() {
        let ordered = |constants: Value| Boundary {
            constants: constants.as_array().cloned().unwrap_or_default(),
            is_ordered: true,
        };
        let equal = |constants: Value| Boundary { is_ordered: false, ..ordered(constants) };
        let (number, text) = (json!({"type": "number"}), json!({"type": "string"}));
        for (schema, current, boundary, first) in [
            (&number, json!(1), ordered(json!([3])), vec![json!(4), json!(1033), json!(3)]),
            (&number, json!(9), ordered(json!([3])), vec![json!(2), json!(-1027), json!(3)]),
            (&number, json!(9), equal(json!([3])), vec![json!(3), json!(2)]),
            (&number, json!(1), ordered(json!(["3.5"])), vec![json!(4.5)]),
            (&number, json!(5), ordered(json!([])), vec![json!(6), json!(1055)]),
            (&json!({"type": "integer"}), json!(1), ordered(json!([3.5])), vec![json!(4)]),
            (&json!({}), json!("x"), ordered(json!([3])), vec![json!(4)]),
            (&text, json!("x"), equal(json!(["red"])), vec![json!("red"), json!("Not red")]),
            (&text, json!("red"), equal(json!(["red"])), vec![json!("Not red"), json!("")]),
            (&text, json!("7"), ordered(json!([3.5])), vec![json!("2.5")]),
            (&json!({"type": "boolean"}), json!(true), equal(json!([])), vec![json!(false)]),
            (&json!({"type": "array"}), json!([]), equal(json!([])), vec![]),
            (
                &json!({"type": "object", "properties": {"rows": {"type": "array", "items": {
                    "type": "object", "properties": {"height": {"type": "number"}}}}}}),
                json!({"rows": [{"height": 9}, {"height": 1}]}),
                ordered(json!([3])),
                vec![json!({"rows": [{"height": 2}, {"height": 4}]})],
            ),
            (
                &json!({"enum": ["a", "b", "c"]}),
                json!("a"),
                equal(json!(["c"])),
                vec![json!("c"), json!("b")],
            ),
            (&json!({"type": "string", "format": "file"}), json!("x"), equal(json!(["y"])), vec![]),
        ] {
            let found = near_values(schema, Some(&current), &boundary);
            assert!(found.starts_with(&first), "{schema} {current} {boundary:?}: {found:?}");
            assert!(!found.contains(&current), "{found:?}");
            assert_eq!(found.is_empty(), first.is_empty());
        }
    }
}
