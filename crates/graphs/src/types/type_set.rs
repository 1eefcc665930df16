//! Sets of JSON types, as named in schemas.

use std::fmt;

use serde_json::Value;

/// A set of JSON types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TypeSet(u8);

impl TypeSet {
    const NOTHING: Self = Self(0);
    pub const NULL: Self = Self(1);
    pub const BOOLEAN: Self = Self(1 << 1);
    pub const INTEGER: Self = Self(1 << 2);
    /// Integers are numbers, too.
    pub const NUMBER: Self = Self(1 << 3 | Self::INTEGER.0);
    pub const TEXT: Self = Self(1 << 4);
    pub const LIST: Self = Self(1 << 5);
    pub const OBJECT: Self = Self(1 << 6);
    pub const ANY: Self = Self(0x7f);
    const SCALAR: Self = Self(Self::BOOLEAN.0 | Self::NUMBER.0 | Self::TEXT.0);

    /// The types that a schema accepts. A schema without types accepts anything.
    pub fn of(schema: &Value) -> Self {
        match schema.get("type") {
            Some(Value::String(name)) => return Self::named(name),
            Some(Value::Array(names)) => {
                return Self::union(names.iter().filter_map(Value::as_str).map(Self::named));
            }
            _ => {}
        }
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        if let Some(alternatives) = alternatives.and_then(Value::as_array) {
            return Self::union(alternatives.iter().map(Self::of));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Self::union(values.iter().map(Self::of_value));
        }
        schema.get("const").map_or(Self::ANY, Self::of_value)
    }

    pub fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self(Self::NUMBER.0 & !Self::INTEGER.0),
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::TEXT,
            Value::Array(_) => Self::LIST,
            Value::Object(_) => Self::OBJECT,
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::TEXT,
            "array" => Self::LIST,
            "object" => Self::OBJECT,
            _ => Self::ANY,
        }
    }

    fn union(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::NOTHING, |union, types| Self(union.0 | types.0))
    }

    /// Whether all types of the other set are in this one.
    pub fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn without_null(self) -> Self {
        Self(self.0 & !Self::NULL.0)
    }

    /// The set itself if it is exactly one type besides null.
    pub(crate) fn only(self) -> Option<Self> {
        let types = self.without_null();
        let single =
            [Self::BOOLEAN, Self::INTEGER, Self::NUMBER, Self::TEXT, Self::LIST, Self::OBJECT];
        single.into_iter().find(|only| *only == types)
    }

    /// Whether some value of these types can be passed to `sink`, converted if necessary.
    pub fn can_become(self, sink: Self) -> bool {
        let given = self.without_null();
        let converts = match sink.only() {
            // Anything can be written as text, wrapped in a list or put into an object.
            Some(Self::TEXT | Self::LIST | Self::OBJECT) => given != Self::NOTHING,
            Some(_) => given.intersects(Self::SCALAR),
            // A text may parse as any of them.
            None => given.intersects(Self::TEXT),
        };
        self.intersects(sink) || converts
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ANY {
            return f.write_str("anything");
        }
        // A number is named instead of an integer.
        let number = Self(Self::NUMBER.0 & !Self::INTEGER.0);
        let integer = if self.intersects(number) { Self::NOTHING } else { Self::INTEGER };
        let names = [
            (Self::TEXT, "text"),
            (number, "a number"),
            (integer, "a whole number"),
            (Self::BOOLEAN, "true or false"),
            (Self::LIST, "a list"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ];
        let named =
            names.iter().filter(|(types, _)| self.intersects(*types)).map(|(_, name)| *name);
        f.write_str(&named.collect::<Vec<_>>().join(" or "))
    }
}

impl fmt::Debug for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_names_the_types_it_accepts() {
        let table = [
            (json!(true), "anything"),
            (json!({}), "anything"),
            (json!({"type": "string"}), "text"),
            (json!({"type": ["integer", "null"]}), "a whole number or null"),
            (json!({"type": "number"}), "a number"),
            (json!({"anyOf": [{"type": "array"}, {"type": "null"}]}), "a list or null"),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), "text"),
            (json!({"enum": [1, 2.5]}), "a number"),
            (json!({"$ref": "#/x"}), "anything"),
        ];
        for (schema, expected) in table {
            assert_eq!(TypeSet::of(&schema).to_string(), expected, "{schema}");
        }
    }

    #[test]
    fn only_convertible_types_can_be_linked() {
        let (text, number, list) = (TypeSet::TEXT, TypeSet::NUMBER, TypeSet::LIST);
        let table = [
            (text, number, true),
            (number, text, true),
            (list, text, true),
            (list, number, false),
            (TypeSet::OBJECT, TypeSet::BOOLEAN, false),
            (TypeSet::OBJECT, list, true),
            (TypeSet::NULL, text, false),
            (TypeSet::ANY, number, true),
            (list, TypeSet::ANY, true),
            (text, TypeSet::union([list, number].into_iter()), true),
            (TypeSet::OBJECT, TypeSet::union([list, number].into_iter()), false),
        ];
        for (source, sink, expected) in table {
            assert_eq!(source.can_become(sink), expected, "{source} to {sink}");
        }
    }
}
