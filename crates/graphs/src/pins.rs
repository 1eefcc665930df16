//! Nested pins: how a link extracts a part of an output, and how parts of an input are merged before a node runs.
//!
//! A name is a pin followed by any number of path steps: `rows_$_0_#_price` is the key `price` of the first item of
//! `rows`. JSON has no attributes, so `_@_` means the same as `_#_` here.

use protocol::graph::{ATTRIBUTE_MARK, INDEX_MARK, KEY_MARK, TOOL_FIELD_MARK, TOOL_MARK};
use serde_json::{Map, Value};

/// The highest index that a pin may name. Bounds the memory that a graph's author can make a list take.
pub const MAX_INDEX: usize = 10_000;
/// How many steps one name may have. Without a limit, a long name would nest deeper than the stack allows.
pub const MAX_STEPS: usize = 16;
/// How many nulls may be added in total to the lists of one node run's inputs.
const MAX_PADDING: usize = 10 * MAX_INDEX;
/// The output pin of an orchestrator's tool calls.
pub const TOOLS: &str = "tools";

/// The pin itself, without path steps.
pub fn base(name: &str) -> &str {
    match first_mark(name) {
        Some((at, _)) => &name[..at],
        None => name,
    }
}

/// Whether the name has path steps.
pub fn is_nested(name: &str) -> bool {
    first_mark(name).is_some()
}

/// The path steps of the name; empty for a bare pin. `Err` describes what is wrong with the name.
pub fn steps(name: &str) -> Result<Vec<PathStep<'_>>, String> {
    read_steps(&name[base(name).len()..]).ok_or_else(|| {
        format!(
            "`{name}` is not the name of a pin: after a mark comes a key, or an index up to {MAX_INDEX}, and \
             there are at most {MAX_STEPS} marks"
        )
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// The value that a link named `name` carries when its source emits `value` on `pin`, or `None` if it carries nothing.
///
/// A bare pin carries null like any value. A path that leads to null carries nothing, like a path that does not exist.
pub fn pick(name: &str, (pin, value): (&str, &Value)) -> Option<Value> {
    if name == pin {
        return Some(value.clone());
    }
    let path = name.strip_prefix(pin)?;
    let mut reached = value;
    for step in read_steps(path)? {
        reached = match step {
            PathStep::Key(key) => reached.as_object()?.get(key)?,
            PathStep::Index(index) => reached.as_array()?.get(index)?,
        };
    }
    (!reached.is_null()).then(|| reached.clone())
}

/// Target of an orchestrator's output: `tools_^_<node>_~_<field>` names the sink, not a part of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolTarget<'a> {
    pub node: &'a str,
    pub field: &'a str,
}

pub fn tool_target(pin: &str) -> Option<ToolTarget<'_>> {
    let rest = pin.strip_prefix(TOOLS)?.strip_prefix(TOOL_MARK)?;
    let (node, field) = rest.split_once(TOOL_FIELD_MARK)?;
    Some(ToolTarget { node, field })
}

/// Whether a link with this source name carries tool calls.
pub fn is_tool(name: &str) -> bool {
    name == TOOLS || name.strip_prefix(TOOLS).is_some_and(|rest| rest.starts_with(TOOL_MARK))
}

/// Merges every nested pin into the value of its bare pin. A value that a step cannot descend into is replaced; a list
/// that is too short is padded with nulls.
pub fn merge(inputs: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let (nested, bare): (Vec<_>, Vec<_>) =
        inputs.into_iter().partition(|(name, _)| is_nested(name));
    let mut merged = Map::from_iter(bare);
    let mut padding = Padding(MAX_PADDING);
    for (name, value) in nested {
        let whole = merged.entry(base(&name)).or_insert(Value::Null);
        put(whole, &steps(&name)?, value, &mut padding)?;
    }
    Ok(merged)
}

/// How many more nulls may be added.
struct Padding(usize);

impl Padding {
    fn grow(&mut self, items: &mut Vec<Value>, length: usize) -> Result<(), String> {
        let missing = length.saturating_sub(items.len());
        self.0 = self
            .0
            .checked_sub(missing)
            .ok_or_else(|| format!("the inputs leave more than {MAX_PADDING} list items empty"))?;
        items.resize(items.len() + missing, Value::Null);
        Ok(())
    }
}

fn put(
    place: &mut Value,
    path: &[PathStep<'_>],
    value: Value,
    padding: &mut Padding,
) -> Result<(), String> {
    let Some((step, rest)) = path.split_first() else {
        *place = value;
        return Ok(());
    };
    let next = match *step {
        PathStep::Key(key) => {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            &mut place[key]
        }
        PathStep::Index(index) => {
            if !place.is_array() {
                *place = Value::Array(Vec::new());
            }
            if let Value::Array(items) = place {
                padding.grow(items, index + 1)?;
            }
            &mut place[index]
        }
    };
    put(next, rest, value, padding)
}

#[derive(Clone, Copy)]
enum Mark {
    Key,
    Index,
}

const MARKS: [(&str, Mark); 3] =
    [(KEY_MARK, Mark::Key), (ATTRIBUTE_MARK, Mark::Key), (INDEX_MARK, Mark::Index)];
/// All marks have the same length, so a step starts this many bytes after its mark.
const MARK_BYTES: usize = KEY_MARK.len();
const _: () = assert!(MARK_BYTES == INDEX_MARK.len() && MARK_BYTES == ATTRIBUTE_MARK.len());

fn first_mark(name: &str) -> Option<(usize, Mark)> {
    let found = MARKS.iter().filter_map(|(mark, kind)| Some((name.find(mark)?, *kind)));
    found.min_by_key(|(at, _)| *at)
}

fn read_steps(path: &str) -> Option<Vec<PathStep<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return None;
        }
        let (0, mark) = first_mark(rest)? else { return None };
        rest = &rest[MARK_BYTES..];
        let (name, more) = rest.split_at(base(rest).len());
        steps.push(match mark {
            Mark::Key if name.is_empty() => return None,
            Mark::Key => PathStep::Key(name),
            Mark::Index => PathStep::Index(index(name)?),
        });
        rest = more;
    }
    Some(steps)
}

/// Digits only: `parse` alone would also accept a plus sign.
fn index(digits: &str) -> Option<usize> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|index| plain && *index <= MAX_INDEX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_base_of_a_name_ends_at_its_first_mark() {
        let table = [
            ("text", "text"),
            ("values_#_name", "values"),
            ("items_$_0_#_a", "items"),
            ("data_@_x_$_1", "data"),
            ("a_b", "a_b"),
        ];
        for (name, expected) in table {
            assert_eq!(base(name), expected, "{name}");
        }
    }

    #[test]
    fn a_link_extracts_a_part_of_an_output() {
        let value = json!({"rows": [{"price": 3}, {"price": null}], "a": {"b": "c"}});
        let table = [
            ("out", Some(value.clone())),
            ("out_#_a_#_b", Some(json!("c"))),
            ("out_@_a_@_b", Some(json!("c"))),
            ("out_#_rows_$_0_#_price", Some(json!(3))),
            ("out_#_rows_$_0", Some(json!({"price": 3}))),
            ("out_#_rows_$_1_#_price", None),
            ("out_#_rows_$_2", None),
            ("out_#_rows_$_-1", None),
            ("out_#_rows_$_+1", None),
            ("out_$_0", None),
            ("out_#_nothing", None),
            ("out_#_", None),
            ("output", None),
            ("other", None),
        ];
        for (name, expected) in table {
            assert_eq!(pick(name, ("out", &value)), expected, "{name}");
        }
        assert_eq!(pick("out", ("out", &Value::Null)), Some(Value::Null));
    }

    #[test]
    fn nested_inputs_are_merged_into_their_base() {
        let table = [
            (json!({"a": 1}), json!({"a": 1})),
            (json!({"v_#_x": 1, "v_#_y": 2}), json!({"v": {"x": 1, "y": 2}})),
            (json!({"v": {"x": 0, "z": 3}, "v_#_x": 1}), json!({"v": {"x": 1, "z": 3}})),
            (json!({"l_$_2": "c", "l_$_0": "a"}), json!({"l": ["a", null, "c"]})),
            (json!({"l": ["a"], "l_$_1": "b"}), json!({"l": ["a", "b"]})),
            (json!({"d_@_x": 1}), json!({"d": {"x": 1}})),
            (json!({"t_$_0_#_n": 1, "t_$_0_#_m": 2}), json!({"t": [{"n": 1, "m": 2}]})),
            (json!({"v": "text", "v_#_x": 1}), json!({"v": {"x": 1}})),
        ];
        for (inputs, expected) in table {
            let merged = merge(inputs.as_object().expect("an object").clone()).expect("merges");
            assert_eq!(Value::Object(merged), expected, "{inputs}");
        }
    }

    #[test]
    fn an_invalid_pin_name_is_refused() {
        for name in ["l_$_x", "l_$_10001", "l_$_-1", "l_$_", "v_#_", "v_#__$_0"] {
            let inputs = Map::from_iter([(name.to_owned(), json!(1))]);
            assert!(merge(inputs).is_err(), "{name}");
        }
    }

    #[test]
    fn pin_names_cannot_make_values_too_deep_or_too_long() {
        let deep = format!("l{}", "_$_0".repeat(MAX_STEPS + 1));
        assert!(merge(Map::from_iter([(deep, json!(1))])).is_err());
        let long = (0..11).map(|list| (format!("l{list}_$_{MAX_INDEX}"), json!(1)));
        assert!(merge(long.collect()).is_err());
    }

    #[test]
    fn a_tool_call_names_its_target_node_and_field() {
        let target = tool_target("tools_^_node-1_~_max_#_x");
        assert_eq!(target, Some(ToolTarget { node: "node-1", field: "max_#_x" }));
        assert_eq!(tool_target("tools"), None);
        assert!(is_tool("tools") && is_tool("tools_^_search_~_query") && !is_tool("toolset"));
    }
}
