//! Applies filters and methods by name. Text filters are in `texts`, list filters in `lists`.

use std::fmt::Write;

use serde_json::Value;

use super::TemplateError;
use super::budget::{BudgetedText, RenderBudget};
use super::value::TemplateValue;
use super::{lists, texts};

/// The arguments of a filter, test or method.
#[derive(Default)]
pub(crate) struct CallArguments<'r> {
    pub(crate) positional: Vec<TemplateValue<'r>>,
    pub(crate) named: Vec<(&'r str, TemplateValue<'r>)>,
}

impl<'r> CallArguments<'r> {
    pub(crate) fn get(&self, position: usize, name: &str) -> Option<&TemplateValue<'r>> {
        let named =
            self.named.iter().find(|(argument, _)| *argument == name).map(|(_, value)| value);
        named.or_else(|| self.positional.get(position))
    }

    pub(crate) fn text(&self, position: usize, name: &str) -> Option<&str> {
        self.get(position, name)?.text()
    }

    pub(crate) fn count(&self, position: usize, name: &str, default: usize) -> usize {
        let count = self.get(position, name).and_then(TemplateValue::integer);
        count.map_or(default, |count| usize::try_from(count).unwrap_or(0))
    }

    pub(crate) fn flag(&self, position: usize, name: &str) -> bool {
        self.get(position, name).is_some_and(TemplateValue::truth)
    }
}

pub(crate) fn apply<'r>(
    name: &str,
    value: TemplateValue<'r>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    match name {
        "default" | "d" => {
            let empty = arguments.flag(1, "boolean") && !value.truth();
            let default = arguments.get(0, "default_value").cloned();
            let missing = matches!(value, TemplateValue::Undefined) || empty;
            Ok(if missing { default.unwrap_or(TemplateValue::Literal("")) } else { value })
        }
        "abs" => number(&value, |whole| whole.checked_abs(), f64::abs),
        "int" => Ok(TemplateValue::computed(whole(&value, arguments.get(0, "default")))),
        "float" => {
            let default =
                arguments.get(0, "default").and_then(TemplateValue::number).unwrap_or(0.0);
            let read = value.number().or_else(|| value.text()?.trim().parse().ok());
            Ok(TemplateValue::computed(read.unwrap_or(default)))
        }
        "round" => round(&value, arguments),
        "tojson" => {
            let value = value.to_value(budget)?;
            let mut text = BudgetedText::new(budget);
            if arguments.get(0, "indent").is_some() {
                write!(text, "{value:#}")?;
            } else {
                write!(text, "{value}")?;
            }
            Ok(TemplateValue::computed(text.into_string()))
        }
        _ => match texts::apply(name, &value, arguments, budget)? {
            Some(text) => Ok(text),
            None => lists::apply(name, &value, arguments, budget)?
                .ok_or_else(|| TemplateError::failed(format!("unknown filter `{name}`"))),
        },
    }
}

/// Methods of Python strings and dictionaries that have an equivalent filter.
pub(crate) fn method<'r>(
    name: &str,
    of: TemplateValue<'r>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let filter = match name {
        "get" => {
            let key = arguments.text(0, "key").unwrap_or_default();
            return Ok(match of.part(budget, |value| value.as_object()?.get(key))? {
                TemplateValue::Undefined => {
                    arguments.get(1, "default").cloned().unwrap_or(TemplateValue::Undefined)
                }
                found => found,
            });
        }
        "join" => {
            let list = arguments.get(0, "iterable").cloned().unwrap_or(TemplateValue::Undefined);
            let separator = CallArguments { positional: vec![of], named: Vec::new() };
            return apply("join", list, &separator, budget);
        }
        "startswith" | "endswith" => {
            let (text, part) = (of.text().unwrap_or_default(), arguments.text(0, "prefix"));
            let part = part.unwrap_or_default();
            let fits =
                if name == "startswith" { text.starts_with(part) } else { text.ends_with(part) };
            return Ok(TemplateValue::computed(fits));
        }
        "strip" => "trim",
        "splitlines" => "lines",
        "items" | "keys" | "values" | "upper" | "lower" | "title" | "capitalize" | "replace"
        | "split" | "format" => name,
        _ => return Err(TemplateError::failed(format!("unknown method `{name}`"))),
    };
    apply(filter, of, arguments, budget)
}

/// The elements that a filter or loop iterates over: items, keys or characters.
pub(crate) fn elements(
    value: &TemplateValue<'_>,
    budget: &RenderBudget,
) -> Result<Vec<Value>, TemplateError> {
    if let Some(text) = value.text() {
        budget.charge(text.len().saturating_mul(size_of::<Value>() + 8))?;
        return Ok(text.chars().map(|letter| Value::String(letter.to_string())).collect());
    }
    match value.as_json() {
        Some(Value::Array(items)) => items.iter().map(|item| budget.copy(item)).collect(),
        Some(Value::Object(fields)) => {
            let key = |key: &String| {
                budget.charge(key.len() + size_of::<Value>())?;
                Ok(Value::String(key.clone()))
            };
            fields.keys().map(key).collect()
        }
        _ if matches!(value, TemplateValue::Undefined) => Ok(Vec::new()),
        _ => Err(TemplateError::failed(format!("{} is not iterable", value.kind()))),
    }
}

fn number<'r>(
    value: &TemplateValue<'r>,
    whole: impl Fn(i64) -> Option<i64>,
    floating: impl Fn(f64) -> f64,
) -> Result<TemplateValue<'r>, TemplateError> {
    match (value.integer().and_then(whole), value.number()) {
        (Some(whole), _) => Ok(TemplateValue::computed(whole)),
        (None, Some(number)) => Ok(TemplateValue::computed(floating(number))),
        (None, None) => Err(TemplateError::failed(format!("{} is not a number", value.kind()))),
    }
}

fn whole(value: &TemplateValue<'_>, default: Option<&TemplateValue<'_>>) -> i64 {
    let read = match value.text() {
        Some(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|number| number as i64))
        }
        None => value.integer().or_else(|| value.number().map(|number| number as i64)),
    };
    read.or_else(|| default.and_then(TemplateValue::integer)).unwrap_or(0)
}

fn round<'r>(
    value: &TemplateValue<'r>,
    arguments: &CallArguments<'r>,
) -> Result<TemplateValue<'r>, TemplateError> {
    let precision = arguments.count(0, "precision", 0).min(15);
    let scale = 10f64.powi(i32::try_from(precision).unwrap_or(0));
    let method = arguments.text(1, "method").unwrap_or("common");
    number(
        value,
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
