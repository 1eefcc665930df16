//! Which filters and methods there are. Those on texts and on lists are next door.

use std::fmt::Write;

use serde_json::Value;

use super::TemplateError;
use super::budget::{Budget, Text};
use super::term::Term;
use super::{lists, texts};

/// What stands between the parentheses of a filter, a test or a method.
#[derive(Default)]
pub(super) struct Arguments<'r> {
    pub(super) positional: Vec<Term<'r>>,
    pub(super) named: Vec<(&'r str, Term<'r>)>,
}

impl<'r> Arguments<'r> {
    pub(super) fn get(&self, position: usize, name: &str) -> Option<&Term<'r>> {
        let named = self.named.iter().find(|(given, _)| *given == name).map(|(_, term)| term);
        named.or_else(|| self.positional.get(position))
    }

    pub(super) fn text(&self, position: usize, name: &str) -> Option<&str> {
        self.get(position, name)?.text()
    }

    pub(super) fn count(&self, position: usize, name: &str, otherwise: usize) -> usize {
        let given = self.get(position, name).and_then(Term::integer);
        given.map_or(otherwise, |count| usize::try_from(count).unwrap_or(0))
    }

    pub(super) fn flag(&self, position: usize, name: &str) -> bool {
        self.get(position, name).is_some_and(Term::truth)
    }
}

pub(super) fn apply<'r>(
    name: &str,
    term: Term<'r>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    match name {
        "default" | "d" => {
            let empty = arguments.flag(1, "boolean") && !term.truth();
            let otherwise = arguments.get(0, "default_value").cloned();
            let missing = matches!(term, Term::Undefined) || empty;
            Ok(if missing { otherwise.unwrap_or(Term::Word("")) } else { term })
        }
        "abs" => number(&term, |whole| whole.checked_abs(), f64::abs),
        "int" => Ok(Term::made(whole(&term, arguments.get(0, "default")))),
        "float" => {
            let otherwise = arguments.get(0, "default").and_then(Term::number).unwrap_or(0.0);
            let read = term.number().or_else(|| term.text()?.trim().parse().ok());
            Ok(Term::made(read.unwrap_or(otherwise)))
        }
        "round" => round(&term, arguments),
        "tojson" => {
            let value = term.to_value(budget)?;
            let mut text = Text::new(budget);
            if arguments.get(0, "indent").is_some() {
                write!(text, "{value:#}")?;
            } else {
                write!(text, "{value}")?;
            }
            Ok(Term::made(text.into_string()))
        }
        _ => match texts::apply(name, &term, arguments, budget)? {
            Some(text) => Ok(text),
            None => lists::apply(name, &term, arguments, budget)?
                .ok_or_else(|| TemplateError::failed(format!("there is no filter `{name}`"))),
        },
    }
}

/// Methods of Python's texts and dictionaries, as far as a filter does the same.
pub(super) fn method<'r>(
    name: &str,
    of: Term<'r>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    let filter = match name {
        "get" => {
            let key = arguments.text(0, "key").unwrap_or_default();
            return Ok(match of.part(budget, |value| value.as_object()?.get(key))? {
                Term::Undefined => arguments.get(1, "default").cloned().unwrap_or(Term::Undefined),
                found => found,
            });
        }
        "join" => {
            let list = arguments.get(0, "iterable").cloned().unwrap_or(Term::Undefined);
            let separator = Arguments { positional: vec![of], named: Vec::new() };
            return apply("join", list, &separator, budget);
        }
        "startswith" | "endswith" => {
            let (text, part) = (of.text().unwrap_or_default(), arguments.text(0, "prefix"));
            let part = part.unwrap_or_default();
            let fits =
                if name == "startswith" { text.starts_with(part) } else { text.ends_with(part) };
            return Ok(Term::made(fits));
        }
        "strip" => "trim",
        "splitlines" => "lines",
        "items" | "keys" | "values" | "upper" | "lower" | "title" | "capitalize" | "replace"
        | "split" | "format" => name,
        _ => return Err(TemplateError::failed(format!("there is no method `{name}`"))),
    };
    apply(filter, of, arguments, budget)
}

/// The elements of what a filter or a loop goes through: items, keys or letters.
pub(super) fn elements(term: &Term<'_>, budget: &Budget) -> Result<Vec<Value>, TemplateError> {
    if let Some(text) = term.text() {
        budget.pay(text.len().saturating_mul(size_of::<Value>() + 8))?;
        return Ok(text.chars().map(|letter| Value::String(letter.to_string())).collect());
    }
    match term.value() {
        Some(Value::Array(items)) => items.iter().map(|item| budget.copy(item)).collect(),
        Some(Value::Object(fields)) => {
            let key = |key: &String| {
                budget.pay(key.len() + size_of::<Value>())?;
                Ok(Value::String(key.clone()))
            };
            fields.keys().map(key).collect()
        }
        _ if matches!(term, Term::Undefined) => Ok(Vec::new()),
        _ => Err(TemplateError::failed(format!("{} has no elements", term.kind()))),
    }
}

fn number<'r>(
    term: &Term<'r>,
    whole: impl Fn(i64) -> Option<i64>,
    floating: impl Fn(f64) -> f64,
) -> Result<Term<'r>, TemplateError> {
    match (term.integer().and_then(whole), term.number()) {
        (Some(whole), _) => Ok(Term::made(whole)),
        (None, Some(number)) => Ok(Term::made(floating(number))),
        (None, None) => Err(TemplateError::failed(format!("{} is no number", term.kind()))),
    }
}

fn whole(term: &Term<'_>, otherwise: Option<&Term<'_>>) -> i64 {
    let read = match term.text() {
        Some(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|number| number as i64))
        }
        None => term.integer().or_else(|| term.number().map(|number| number as i64)),
    };
    read.or_else(|| otherwise.and_then(Term::integer)).unwrap_or(0)
}

fn round<'r>(term: &Term<'r>, arguments: &Arguments<'r>) -> Result<Term<'r>, TemplateError> {
    let precision = arguments.count(0, "precision", 0).min(15);
    let scale = 10f64.powi(i32::try_from(precision).unwrap_or(0));
    let method = arguments.text(1, "method").unwrap_or("common");
    number(
        term,
        |_| None,
        |number| {
            let scaled = number * scale;
            let rounded = match method {
                "ceil" => scaled.ceil(),
                "floor" => scaled.floor(),
                _ => scaled.round(),
            };
            rounded / scale
        },
    )
}
