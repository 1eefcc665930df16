//! Reports names in templates that nothing gives a value to. They would print nothing.

use std::collections::{BTreeSet, HashSet};

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use protocol::graph::GraphProblem;
use serde_json::Value;

use super::index::{GraphIndex, IndexedNode};
use crate::braces;
use crate::pins::{self, PathStep};
use crate::placeholders::template_pairs;
use crate::problem::{ProblemCode, ProblemDetails};

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    index.in_order().flat_map(|placed| of_node(index, placed)).collect()
}

fn of_node(index: &GraphIndex<'_>, placed: IndexedNode<'_>) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    for (pin, values) in template_pairs(placed.node.block_id.as_str()) {
        let is_linked = |link: &&protocol::graph::Link| pins::base(&link.sink_name) == pin;
        let text = placed.node.input_default.get(pin).and_then(Value::as_str);
        let Some(text) = text.filter(|_| !index.arriving(&placed.node.id).iter().any(is_linked))
        else {
            continue;
        };
        let Some(given) = given_names(index, placed, values) else { continue };
        if let Some(repaired) = braces::repaired(text, &given) {
            let message = format!(
                "The text `{pin}` of {placed} has a value in single or spaced braces. Write `{{{{name}}}}`."
            );
            let problem = index.at_pin(ProblemCode::UnfilledPlaceholder, placed.node, pin, message);
            let mut problem = problem.expected("two braces on each side").got("other braces");
            problem.edit = index.set(placed.node, pin, Some(Value::from(repaired)));
            problems.push(problem);
        }
        for name in free_names(text).into_iter().filter(|name| !given.contains(name.as_str())) {
            let message = format!(
                "The text `{pin}` of {placed} uses `{name}`, but nothing gives it a value: link one to \
                 `{values}_#_{name}`."
            );
            let problem = index.at_pin(ProblemCode::UnfilledPlaceholder, placed.node, pin, message);
            problems.push(problem.expected(format!("a value for `{name}`")).got(name));
        }
    }
    problems
}

/// The names of the values that a template gets; `None` if they come as a whole and are not known.
pub(crate) fn given_names(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    values: &str,
) -> Option<HashSet<String>> {
    let mut names = HashSet::new();
    let mut nested = |name: &str| match pins::steps(name).unwrap_or_default().first() {
        Some(PathStep::Key(key)) => {
            names.insert((*key).to_owned());
            true
        }
        _ => false,
    };
    // A link from a missing node brings nothing.
    let arriving = index.arriving(&placed.node.id).iter();
    for link in arriving.filter(|link| index.nodes.contains_key(&link.source_id)) {
        if pins::base(&link.sink_name) == values && !nested(&link.sink_name) {
            return None;
        }
    }
    for (name, value) in &placed.node.input_default {
        if pins::base(name) != values {
            continue;
        }
        match value {
            _ if pins::is_nested(name) => {
                nested(name);
            }
            Value::Object(members) => members.keys().for_each(|key| {
                nested(&format!("{values}_#_{key}"));
            }),
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            _ => return None,
        }
    }
    Some(names)
}

/// The names that a template takes from its values. Names that it tests (`is defined`, `default`) may be absent.
///
/// Reads tokens instead of the syntax tree: recursion over a tree from an untrusted text could overflow the stack.
fn free_names(template: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    if !template.contains('{') {
        return used;
    }
    let tokens = tokenize(template, false, SyntaxConfig::default());
    let Ok(tokens) = tokens.map(|token| Ok(token?.0)).collect::<Result<Vec<_>, minijinja::Error>>()
    else {
        return used;
    };
    let mut bound: HashSet<&str> = RESERVED.into();
    let mut tested: HashSet<&str> = HashSet::new();
    let at = |position: Option<usize>| position.and_then(|position| tokens.get(position));
    let mut tag = "";
    let mut is_binding = false;
    for (position, token) in tokens.iter().enumerate() {
        let previous = at(position.checked_sub(1));
        let next = at(Some(position + 1));
        let after_next = at(Some(position + 2));
        match token {
            Token::BlockStart => tag = "",
            Token::VariableStart => tag = "=",
            Token::BlockEnd | Token::VariableEnd => is_binding = false,
            // `set` binds what is before `=`, `for` what is before `in`.
            Token::Assign if tag == "set" => is_binding = false,
            Token::Ident("in") if tag == "for" => is_binding = false,
            Token::Ident(name) => {
                if tag.is_empty() {
                    tag = name;
                    is_binding = matches!(*name, "for" | "set" | "macro" | "with" | "call");
                    continue;
                }
                let is_member = matches!(previous, Some(Token::Dot | Token::Pipe));
                let is_argument_name = matches!(next, Some(Token::Assign));
                if is_binding {
                    bound.insert(name);
                } else if !is_member
                    && !is_argument_name
                    && !is_test_name(previous, &tokens, position)
                {
                    used.insert((*name).to_owned());
                }
                let has_default = matches!(
                    (next, after_next),
                    (Some(Token::Pipe), Some(Token::Ident("default" | "d")))
                );
                if has_default || matches!(next, Some(Token::Ident("is"))) {
                    tested.insert(name);
                }
            }
            _ => {}
        }
    }
    used.retain(|name| !bound.contains(name.as_str()) && !tested.contains(name.as_str()));
    used
}

/// Words of the language, and names that every template has.
const RESERVED: [&str; 26] = [
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "elif",
    "true",
    "True",
    "false",
    "False",
    "none",
    "None",
    "loop",
    "range",
    "dict",
    "namespace",
    "recursive",
    "caller",
    "self",
    "super",
    "filter",
    "cycler",
    "joiner",
    "lipsum",
];

/// Whether the name follows `is` or `is not`.
fn is_test_name(previous: Option<&Token<'_>>, tokens: &[Token<'_>], position: usize) -> bool {
    match previous {
        Some(Token::Ident("is")) => true,
        Some(Token::Ident("not")) => {
            let before = position.checked_sub(2).and_then(|before| tokens.get(before));
            matches!(before, Some(Token::Ident("is")))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::free_names;

    #[test]
    fn a_template_takes_the_names_that_it_does_not_bind_or_test() {
        let table = [
            ("plain", ""),
            ("{{ a }} {{b.c}} {{ d['x'] }}", "a b d"),
            ("{{ '%.2f'|format(net|float * rate) }}", "net rate"),
            ("{% for item in items %}{{ item.x }}{{ loop.index }}{% endfor %}", "items"),
            ("{% set x = y %}{{ x }}", "y"),
            ("{% set out %}{{ z }}{% endset %}{{ out }}", "z"),
            ("{{ long|join(', ') if long else 'none' }}", "long"),
            ("{{ a|default('x') }}{% if b is defined %}{{ b }}{% endif %}", ""),
            ("{{ c is not none }}", ""),
            ("{% for k, v in pairs %}{{ k }}{{ v }}{% endfor %}", "pairs"),
            ("{{ items|map(attribute=key) }}", "items key"),
            ("{{ unfinished", "unfinished"),
            ("{% raw %}{{ a }}{% endraw %}", ""),
        ];
        for (template, expected) in table {
            let found: Vec<String> = free_names(template).into_iter().collect();
            let mut expected: Vec<&str> = expected.split_whitespace().collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{template}");
        }
    }
}
