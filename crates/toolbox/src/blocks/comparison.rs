//! Equality and order of JSON values by meaning, so that `1` equals `1.0`.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether two values are equal. A boolean equals 0 or 1.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => same_number(&a, &b),
            _ => a == b,
        },
    }
}

/// `None` if the values cannot be ordered: different types, dictionaries or null.
pub(crate) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Array(a), Value::Array(b)) => {
            let first = a.iter().zip(b).find(|(a, b)| !equal(a, b));
            first.map_or_else(|| Some(a.len().cmp(&b.len())), |(a, b)| order(a, b))
        }
        _ => match (number(a)?, number(b)?) {
            (a, b) if a.is_i64() && b.is_i64() => a.as_i64().partial_cmp(&b.as_i64()),
            (a, b) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
    }
}

/// A string that is the same for equal values, for sets of values. Unlike in `equal`, a boolean is not a number here.
pub(crate) fn key(value: &Value) -> String {
    let mut key = String::new();
    write_key(value, &mut key);
    key
}

fn write_key(value: &Value, key: &mut String) {
    match value {
        Value::Array(items) => {
            key.push('[');
            for item in items {
                write_key(item, key);
                key.push(',');
            }
            key.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            key.push('{');
            for (name, value) in fields {
                write_key(&Value::from(name.as_str()), key);
                key.push(':');
                write_key(value, key);
                key.push(',');
            }
            key.push('}');
        }
        Value::Number(number) => match whole(number) {
            Some(whole) => key.push_str(&whole.to_string()),
            None => key.push_str(&number.to_string()),
        },
        _ => key.push_str(&value.to_string()),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::Bool(yes) => Some(Number::from(u8::from(*yes))),
        _ => None,
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64())
}

/// A float as an integer, if it has no fraction and is within the exact integer range of `f64`.
fn whole(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_with_the_same_meaning_are_equal_and_share_a_key() {
        let same = [
            (json!(1), json!(1.0)),
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1})),
            (json!(null), json!(null)),
        ];
        for (a, b) in same {
            assert!(equal(&a, &b) && key(&a) == key(&b), "{a} {b}");
        }
        let different = [
            (json!(1), json!("1")),
            (json!([]), json!({})),
            (json!("a\",\"b"), json!(["a", "b"])),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64)),
        ];
        for (a, b) in different {
            assert!(!equal(&a, &b) && key(&a) != key(&b), "{a} {b}");
        }
        assert!(equal(&json!(true), &json!(1)) && key(&json!(true)) != key(&json!(1)));
    }

    #[test]
    fn only_values_of_the_same_type_can_be_ordered() {
        assert_eq!(order(&json!(1), &json!(1.5)), Some(Ordering::Less));
        assert_eq!(order(&json!("b"), &json!("a")), Some(Ordering::Greater));
        assert_eq!(order(&json!([1, 2]), &json!([1])), Some(Ordering::Greater));
        assert_eq!(order(&json!("1"), &json!(1)), None);
        assert_eq!(order(&json!({}), &json!({})), None);
    }
}
