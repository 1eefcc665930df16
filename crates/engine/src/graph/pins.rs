//! Nested pins: how a link reaches into an output, and how parts of an input come together before a node runs.
//!
//! A name is a pin and then any number of steps: `rows_$_0_#_price` is the key `price` of the first of `rows`. JSON has
//! no attributes, so `_@_` means the same as `_#_` here.

use protocol::graph::{ATTRIBUTE_MARK, INDEX_MARK, KEY_MARK, TOOL_FIELD_MARK, TOOL_MARK};
use serde_json::{Map, Value};

/// The highest index that a pin may name: whoever writes a graph does not decide how much memory a list takes.
pub const MAX_INDEX: usize = 10_000;
/// The steps that one name may take. Without a limit, a long name would nest deeper than a stack can follow.
pub const MAX_STEPS: usize = 16;
/// The nulls with which the lists of one run's inputs may grow altogether.
const MAX_PADDING: usize = 10 * MAX_INDEX;
/// The pin on which an orchestrator calls its tools.
pub const TOOLS: &str = "tools";

/// The pin itself, without the steps into its value.
pub fn base(name: &str) -> &str {
    match first_mark(name) {
        Some((at, _)) => &name[..at],
        None => name,
    }
}

/// Whether the name reaches into the value of its pin.
pub fn is_nested(name: &str) -> bool {
    first_mark(name).is_some()
}

/// The steps that the name takes into its pin's value; none for a bare pin. `Err` says what is wrong with the name.
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

/// What a link named `name` carries when its source emits `value` on `pin`; `None` when that is nothing.
///
/// A bare pin carries null like any value. A step to null carries nothing, as a step to what is not there.
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

/// Where an orchestrator's output goes: `tools_^_<node>_~_<field>` names the sink, not a part of the value.
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

/// One run's inputs with every nested pin put into the value of its bare pin. What a step finds in its way and cannot
/// enter is replaced; a list that is too short grows with nulls.
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

/// How many nulls may still be added.
struct Padding(usize);

impl Padding {
    fn grow(&mut self, items: &mut Vec<Value>, length: usize) -> Result<(), String> {
        let missing = length.saturating_sub(items.len());
        self.0 = self.0.checked_sub(missing).ok_or_else(|| {
            format!("the inputs leave more than {MAX_PADDING} places of their lists empty")
        })?;
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
/// All marks are as long as each other, so that a step begins this far behind its mark.
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

/// Digits only: `parse` alone would take a plus sign too.
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
    fn a_link_reaches_into_an_output() {
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
    fn nested_inputs_come_together_on_top_of_their_base() {
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
    fn a_name_that_cannot_be_walked_is_refused() {
        for name in ["l_$_x", "l_$_10001", "l_$_-1", "l_$_", "v_#_", "v_#__$_0"] {
            let inputs = Map::from_iter([(name.to_owned(), json!(1))]);
            assert!(merge(inputs).is_err(), "{name}");
        }
    }

    #[test]
    fn names_decide_neither_how_deep_nor_how_long_values_become() {
        let deep = format!("l{}", "_$_0".repeat(MAX_STEPS + 1));
        assert!(merge(Map::from_iter([(deep, json!(1))])).is_err());
        let long = (0..11).map(|list| (format!("l{list}_$_{MAX_INDEX}"), json!(1)));
        assert!(merge(long.collect()).is_err());
    }

    #[test]
    fn a_tool_call_names_the_node_and_the_field_it_is_for() {
        let target = tool_target("tools_^_node-1_~_max_#_x");
        assert_eq!(target, Some(ToolTarget { node: "node-1", field: "max_#_x" }));
        assert_eq!(tool_target("tools"), None);
        assert!(is_tool("tools") && is_tool("tools_^_search_~_query") && !is_tool("toolset"));
    }
}
