//! Filters on lists and dictionaries. Copies of elements are charged to the budget.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::EscapeMode;
use super::TemplateError;
use super::budget::{BudgetedText, RenderBudget, byte_size};
use super::checks::check;
use super::filters::{CallArguments, elements};
use super::operators::{self, order};
use super::print;
use super::value::TemplateValue;
use crate::values::place;

/// `None` if no list filter has this name.
pub(crate) fn apply<'r>(
    name: &str,
    value: &TemplateValue<'r>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<Option<TemplateValue<'r>>, TemplateError> {
    let all = || elements(value, budget);
    Ok(Some(match name {
        "length" | "count" => TemplateValue::computed(length(value, budget)?),
        "first" => value_at(value, 0, budget)?,
        "last" => value_at(value, -1, budget)?,
        "list" => TemplateValue::computed(all()?),
        "reverse" => match value.text() {
            Some(text) => {
                budget.charge(text.len())?;
                TemplateValue::computed(text.chars().rev().collect::<String>())
            }
            None => TemplateValue::computed(all()?.into_iter().rev().collect::<Vec<_>>()),
        },
        "join" => join(value, arguments, budget)?,
        "sum" => sum(all()?, arguments, budget)?,
        "min" => extreme(all()?, Ordering::Less, budget)?,
        "max" => extreme(all()?, Ordering::Greater, budget)?,
        "sort" => TemplateValue::computed(sorted(all()?, arguments, budget)?),
        "unique" => TemplateValue::computed(unique(all()?, budget)?),
        "items" => TemplateValue::computed(pairs(value, budget)?),
        "keys" => TemplateValue::computed(all()?),
        "values" => {
            let values = value.object().into_iter().flat_map(|fields| fields.values());
            TemplateValue::computed(
                values.map(|value| budget.copy(value)).collect::<Result<Vec<_>, _>>()?,
            )
        }
        "dictsort" => {
            let mut pairs = pairs(value, budget)?;
            pairs.sort_by(|a, b| a[0].as_str().cmp(&b[0].as_str()));
            TemplateValue::computed(pairs)
        }
        "batch" => batch(all()?, arguments)?,
        "map" => map(all()?, arguments, budget)?,
        "select" => filter_items(all()?, None, arguments, true, budget)?,
        "reject" => filter_items(all()?, None, arguments, false, budget)?,
        "selectattr" => filter_items(all()?, attribute(arguments), arguments, true, budget)?,
        "rejectattr" => filter_items(all()?, attribute(arguments), arguments, false, budget)?,
        _ => return Ok(None),
    }))
}

fn attribute<'a>(arguments: &'a CallArguments<'_>) -> Option<&'a str> {
    arguments.text(0, "attribute")
}

fn length(value: &TemplateValue<'_>, budget: &RenderBudget) -> Result<usize, TemplateError> {
    match (value.text(), value.as_json()) {
        (Some(text), _) => {
            budget.charge_read(text.len())?;
            Ok(text.chars().count())
        }
        (None, Some(Value::Array(items))) => Ok(items.len()),
        (None, Some(Value::Object(fields))) => Ok(fields.len()),
        _ if matches!(value, TemplateValue::Undefined) => Ok(0),
        _ => Err(TemplateError::failed(format!("{} has no length", value.kind()))),
    }
}

fn value_at<'r>(
    value: &TemplateValue<'r>,
    index: i64,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    if value.list().is_some() {
        return value.part(budget, |value| {
            let items = value.as_array()?;
            items.get(place(index, items.len())?)
        });
    }
    let mut items = elements(value, budget)?;
    let index = place(index, items.len());
    Ok(index.map_or(TemplateValue::Undefined, |index| {
        TemplateValue::computed(items.swap_remove(index))
    }))
}

fn join<'r>(
    value: &TemplateValue<'r>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let separator = arguments.text(0, "d").unwrap_or_default();
    let field = arguments.text(1, "attribute");
    let mut out = BudgetedText::new(budget);
    let mut add = |index: usize, item: &Value| {
        budget.step()?;
        out.push(if index == 0 { "" } else { separator })?;
        let item = field.map_or(Some(item), |path| at(item, path));
        item.map_or(Ok(()), |item| {
            print::write(&TemplateValue::Input(item), EscapeMode::None, &mut out)
        })
    };
    match value.list() {
        Some(items) => items.iter().enumerate().try_for_each(|(index, item)| add(index, item))?,
        None => {
            let items = elements(value, budget)?;
            items.iter().enumerate().try_for_each(|(index, item)| add(index, item))?;
        }
    }
    Ok(TemplateValue::computed(out.into_string()))
}

/// The field at a path such as `address.city`.
fn at<'v>(item: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(item, |item, name| match item {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

fn sum<'r>(
    items: Vec<Value>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    use minijinja::machinery::ast::BinOpKind::Add;
    let start = arguments.get(1, "start").cloned().unwrap_or_else(|| TemplateValue::computed(0));
    items.into_iter().try_fold(start, |total, item| {
        let item = match attribute(arguments) {
            Some(path) => at(&item, path)
                .map_or(TemplateValue::computed(0), |value| TemplateValue::computed(value.clone())),
            None => TemplateValue::computed(item),
        };
        operators::binary(Add, &total, &item, budget)
    })
}

fn extreme<'r>(
    items: Vec<Value>,
    wanted: Ordering,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let mut found: Option<Value> = None;
    for item in items {
        let better = match &found {
            Some(best) => {
                order(&TemplateValue::Input(&item), &TemplateValue::Input(best), budget)? == wanted
            }
            None => true,
        };
        if better {
            found = Some(item);
        }
    }
    Ok(found.map_or(TemplateValue::Undefined, TemplateValue::computed))
}

fn sorted(
    mut items: Vec<Value>,
    arguments: &CallArguments<'_>,
    budget: &RenderBudget,
) -> Result<Vec<Value>, TemplateError> {
    let field = arguments.text(2, "attribute");
    let reverse = arguments.flag(0, "reverse");
    let mut failure = None;
    items.sort_by(|a, b| {
        let (a, b) = match field {
            Some(path) => {
                (at(a, path).unwrap_or(&Value::Null), at(b, path).unwrap_or(&Value::Null))
            }
            None => (a, b),
        };
        let ordered = budget
            .step()
            .and_then(|()| order(&TemplateValue::Input(a), &TemplateValue::Input(b), budget));
        let ordered = ordered.unwrap_or_else(|error| {
            failure = Some(error);
            Ordering::Equal
        });
        if reverse { ordered.reverse() } else { ordered }
    });
    failure.map_or(Ok(items), Err)
}

fn unique(items: Vec<Value>, budget: &RenderBudget) -> Result<Vec<Value>, TemplateError> {
    let mut seen = std::collections::HashSet::new();
    let mut kept = Vec::new();
    for item in items {
        budget.charge(byte_size(&item))?;
        if seen.insert(item.to_string()) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn pairs(value: &TemplateValue<'_>, budget: &RenderBudget) -> Result<Vec<Value>, TemplateError> {
    let Some(fields) = value.object() else {
        return Err(TemplateError::failed(format!("{} is not a dictionary", value.kind())));
    };
    let pair = |(key, value): (&String, &Value)| {
        budget.charge(key.len() + 2 * size_of::<Value>())?;
        Ok(json!([key, budget.copy(value)?]))
    };
    fields.iter().map(pair).collect()
}

fn batch<'r>(
    items: Vec<Value>,
    arguments: &CallArguments<'r>,
) -> Result<TemplateValue<'r>, TemplateError> {
    let size = arguments.count(0, "linecount", 0);
    if size == 0 {
        return Err(TemplateError::failed("`batch` needs a size"));
    }
    let mut batches: Vec<Vec<Value>> = Vec::new();
    for item in items {
        match batches.last_mut() {
            Some(last) if last.len() < size => last.push(item),
            _ => batches.push(vec![item]),
        }
    }
    Ok(TemplateValue::computed(batches))
}

fn map<'r>(
    items: Vec<Value>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let field = arguments.named.iter().find(|(name, _)| *name == "attribute");
    let each = |item: Value| match field.and_then(|(_, field)| field.text()) {
        Some(path) => Ok(at(&item, path).cloned().unwrap_or(Value::Null)),
        None => {
            let filter = arguments.text(0, "filter").unwrap_or_default();
            let more = arguments.positional.iter().skip(1).cloned().collect();
            let more = CallArguments { positional: more, named: Vec::new() };
            super::filters::apply(filter, TemplateValue::computed(item), &more, budget)?
                .to_value(budget)
        }
    };
    let step = |item| budget.step().and_then(|()| each(item));
    items.into_iter().map(step).collect::<Result<Vec<_>, _>>().map(TemplateValue::computed)
}

/// The elements that pass (or fail) a test, on the element itself or one of its fields.
fn filter_items<'r>(
    items: Vec<Value>,
    field: Option<&str>,
    arguments: &CallArguments<'r>,
    keep: bool,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let skip = usize::from(field.is_some());
    let test = arguments.positional.get(skip).and_then(TemplateValue::text);
    let more = arguments.positional.iter().skip(skip + 1).cloned().collect();
    let more = CallArguments { positional: more, named: Vec::new() };
    let mut kept = Vec::new();
    for item in items {
        budget.step()?;
        let tested = match field {
            Some(path) => at(&item, path).map_or(TemplateValue::Undefined, TemplateValue::Input),
            None => TemplateValue::Input(&item),
        };
        let passes = match test {
            Some(test) => check(test, &tested, &more, budget)?,
            None => tested.truth(),
        };
        if passes == keep {
            kept.push(item);
        }
    }
    Ok(TemplateValue::computed(kept))
}
