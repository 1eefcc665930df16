//! Values made from a schema and a seed, for rehearsals: plausible, small, and the same each time.

mod inferred;
mod near;
mod outputs;

pub use inferred::{PinSchemas, SampleSchemas};
pub use near::{Boundary, PASSED_ON, constants, near_values};
pub use outputs::{BRANCHES, is_error_pin, outputs};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::types::TypeSet;

/// How deep a made value is nested at most.
const MAX_DEPTH: usize = 4;
/// The most members that a made object has.
const MAX_MEMBERS: usize = 20;
/// The most items that a made list has.
const MAX_ITEMS: u64 = 20;
/// A file with a header and one row, so that it can be read as text and as a table.
const FILE: &str = "data:text/csv;base64,bmFtZSxhbW91bnQKU2FtcGxlLDEK";
/// `format` of a text that is compared with numbers.
const NUMBER_FORMAT: &str = "number";

/// A value that the schema accepts. `name` is what the value is called: it makes texts readable and values different.
pub fn sample(schema: &Value, name: &str, seed: u64) -> Value {
    value(schema, name, seed, 0)
}

fn value(schema: &Value, name: &str, seed: u64, depth: usize) -> Value {
    if let Some(choices) =
        schema.get("enum").and_then(Value::as_array).filter(|all| !all.is_empty())
    {
        return choices[pick(seed, name, choices.len())].clone();
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    for key in ["anyOf", "oneOf"] {
        let alternatives = schema.get(key).and_then(Value::as_array);
        let real = alternatives.and_then(|all| {
            all.iter().find(|one| one.get("type").is_none_or(|kind| kind != "null"))
        });
        if let Some(one) = real {
            return value(one, name, seed, depth);
        }
    }
    let types = TypeSet::of(schema);
    if types == TypeSet::ANY || types.intersects(TypeSet::TEXT) {
        text(schema, name, seed)
    } else if types.intersects(TypeSet::OBJECT) {
        object(schema, seed, depth)
    } else if types.intersects(TypeSet::LIST) {
        list(schema, name, seed, depth)
    } else if types.intersects(TypeSet::NUMBER) {
        number(schema, types, name, seed)
    } else if types.intersects(TypeSet::BOOLEAN) {
        json!(pick(seed, name, 2) == 0)
    } else {
        Value::Null
    }
}

fn text(schema: &Value, name: &str, seed: u64) -> Value {
    let number = pick(seed, name, 900) + 100;
    json!(match schema.get("format").and_then(Value::as_str) {
        Some("date") => format!("2026-03-{:02}", number % 28 + 1),
        Some("time") => format!("{:02}:30:00", number % 24),
        Some("date-time") => format!("2026-03-{:02}T09:30:00Z", number % 28 + 1),
        Some("uri" | "url") => format!("https://example.com/{number}"),
        Some("email") => format!("person{number}@example.com"),
        Some("file") => FILE.to_owned(),
        Some(NUMBER_FORMAT) => (number % 99 + 1).to_string(),
        Some("uuid") => format!("00000000-0000-4000-8000-{number:012}"),
        _ => {
            let longest = schema.get("maxLength").and_then(Value::as_u64);
            let text = format!("Sample {} {number}", name.replace('_', " "));
            text.chars().take(longest.map_or(200, |longest| longest as usize)).collect()
        }
    })
}

fn number(schema: &Value, types: TypeSet, name: &str, seed: u64) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let made = 1.0 + pick(seed, name, 99) as f64;
    let made = least.map_or(made, |least| made.max(least));
    let made = most.map_or(made, |most| made.min(most));
    // A whole number is a number, too.
    #[expect(clippy::cast_possible_truncation, reason = "it is small, or a bound of the schema")]
    match made.fract() == 0.0 || types == TypeSet::INTEGER {
        true => json!(made as i64),
        false => json!(made),
    }
}

fn list(schema: &Value, name: &str, seed: u64, depth: usize) -> Value {
    let items = schema.get("items").cloned().unwrap_or(Value::Bool(true));
    if depth >= MAX_DEPTH {
        return json!([]);
    }
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let items = (1..=least.clamp(2, MAX_ITEMS))
        .map(|at| value(&items, name, seed.wrapping_add(at), depth + 1));
    items.collect()
}

fn object(schema: &Value, seed: u64, depth: usize) -> Value {
    let mut members = Map::new();
    let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    if depth < MAX_DEPTH {
        for (key, of_member) in named.take(MAX_MEMBERS) {
            members.insert(key.clone(), value(of_member, key, seed, depth + 1));
        }
    }
    Value::Object(members)
}

/// A number below `count`, from the seed and the name.
fn pick(seed: u64, name: &str, count: usize) -> usize {
    let mut digest = Sha256::new();
    digest.update(seed.to_le_bytes());
    digest.update(name.as_bytes());
    let bytes = digest.finalize();
    let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    number % count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::value_problem;

    #[test]
    fn a_sample_fits_its_schema_and_is_the_same_each_time() {
        let schemas = [
            json!({"type": "string", "maxLength": 8}),
            json!({"type": "string", "format": "date"}),
            json!({"type": ["integer", "null"], "minimum": 200, "maximum": 300}),
            json!({"type": "number", "maximum": 0.5}),
            json!({"type": "boolean"}),
            json!({"enum": ["a", "b"]}),
            json!({"type": "array", "items": {"type": "object", "properties": {
                "id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}
            }}}),
            json!({"anyOf": [{"type": "null"}, {"type": "number"}]}),
            json!({"oneOf": [{"const": "x"}]}),
            json!({"type": "array", "items": {"type": "number"}, "minItems": 5}),
            json!({}),
        ];
        for schema in schemas {
            for seed in 0..20 {
                let made = sample(&schema, "thing", seed);
                assert_eq!(made, sample(&schema, "thing", seed));
                assert_eq!(value_problem(made.clone(), &schema), None, "{schema}: {made}");
            }
        }
    }

    #[test]
    fn a_made_up_file_has_its_content_inside() {
        let file = sample(&json!({"type": ["string", "null"], "format": "file"}), "chart", 3);
        assert_eq!(file, json!(FILE), "no such file is in the workspace");
    }

    #[test]
    fn a_schema_that_contains_itself_many_times_makes_a_small_value() {
        let mut schema = json!({"type": "string"});
        for _ in 0..60 {
            schema = json!({"type": "object", "properties": {"a": schema.clone(), "b": schema}});
            if schema.to_string().len() > 100_000 {
                break;
            }
        }
        assert!(sample(&schema, "x", 1).to_string().len() < 1_000);
    }
}
