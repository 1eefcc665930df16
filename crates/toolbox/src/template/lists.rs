//! Filters on lists and dictionaries. A copy of an element is paid for like everything that is made.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::Escape;
use super::TemplateError;
use super::budget::{Budget, Text, weight};
use super::checks::check;
use super::filters::{Arguments, elements};
use super::operators::{self, order};
use super::print;
use super::term::Term;
use crate::values::place;

/// `None` if there is no such filter on lists.
pub(super) fn apply<'r>(
    name: &str,
    term: &Term<'r>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Option<Term<'r>>, TemplateError> {
    let all = || elements(term, budget);
    Ok(Some(match name {
        "length" | "count" => Term::made(length(term, budget)?),
        "first" => term_at(term, 0, budget)?,
        "last" => term_at(term, -1, budget)?,
        "list" => Term::made(all()?),
        "reverse" => match term.text() {
            Some(text) => {
                budget.pay(text.len())?;
                Term::made(text.chars().rev().collect::<String>())
            }
            None => Term::made(all()?.into_iter().rev().collect::<Vec<_>>()),
        },
        "join" => join(term, arguments, budget)?,
        "sum" => sum(all()?, arguments, budget)?,
        "min" => extreme(all()?, Ordering::Less, budget)?,
        "max" => extreme(all()?, Ordering::Greater, budget)?,
        "sort" => Term::made(sorted(all()?, arguments, budget)?),
        "unique" => Term::made(unique(all()?, budget)?),
        "items" => Term::made(pairs(term, budget)?),
        "keys" => Term::made(all()?),
        "values" => {
            let values = term.object().into_iter().flat_map(|fields| fields.values());
            Term::made(values.map(|value| budget.copy(value)).collect::<Result<Vec<_>, _>>()?)
        }
        "dictsort" => {
            let mut pairs = pairs(term, budget)?;
            pairs.sort_by(|a, b| a[0].as_str().cmp(&b[0].as_str()));
            Term::made(pairs)
        }
        "batch" => batch(all()?, arguments)?,
        "map" => map(all()?, arguments, budget)?,
        "select" => chosen(all()?, None, arguments, true, budget)?,
        "reject" => chosen(all()?, None, arguments, false, budget)?,
        "selectattr" => chosen(all()?, attribute(arguments), arguments, true, budget)?,
        "rejectattr" => chosen(all()?, attribute(arguments), arguments, false, budget)?,
        _ => return Ok(None),
    }))
}

fn attribute<'a>(arguments: &'a Arguments<'_>) -> Option<&'a str> {
    arguments.text(0, "attribute")
}

fn length(term: &Term<'_>, budget: &Budget) -> Result<usize, TemplateError> {
    match (term.text(), term.value()) {
        (Some(text), _) => {
            budget.look(text.len())?;
            Ok(text.chars().count())
        }
        (None, Some(Value::Array(items))) => Ok(items.len()),
        (None, Some(Value::Object(fields))) => Ok(fields.len()),
        _ if matches!(term, Term::Undefined) => Ok(0),
        _ => Err(TemplateError::failed(format!("{} has no length", term.kind()))),
    }
}

fn term_at<'r>(term: &Term<'r>, index: i64, budget: &Budget) -> Result<Term<'r>, TemplateError> {
    if term.list().is_some() {
        return term.part(budget, |value| {
            let items = value.as_array()?;
            items.get(place(index, items.len())?)
        });
    }
    let mut items = elements(term, budget)?;
    let place = place(index, items.len());
    Ok(place.map_or(Term::Undefined, |place| Term::made(items.swap_remove(place))))
}

fn join<'r>(
    term: &Term<'r>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    let separator = arguments.text(0, "d").unwrap_or_default();
    let field = arguments.text(1, "attribute");
    let mut out = Text::new(budget);
    let mut add = |index: usize, item: &Value| {
        budget.step()?;
        out.push(if index == 0 { "" } else { separator })?;
        let item = field.map_or(Some(item), |path| at(item, path));
        item.map_or(Ok(()), |item| print::write(&Term::Given(item), Escape::Nothing, &mut out))
    };
    match term.list() {
        Some(items) => items.iter().enumerate().try_for_each(|(index, item)| add(index, item))?,
        None => {
            let items = elements(term, budget)?;
            items.iter().enumerate().try_for_each(|(index, item)| add(index, item))?;
        }
    }
    Ok(Term::made(out.into_string()))
}

/// A field by its path: `address.city`.
fn at<'v>(item: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(item, |item, name| match item {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

fn sum<'r>(
    items: Vec<Value>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    use minijinja::machinery::ast::BinOpKind::Add;
    let start = arguments.get(1, "start").cloned().unwrap_or_else(|| Term::made(0));
    items.into_iter().try_fold(start, |total, item| {
        let item = match attribute(arguments) {
            Some(path) => at(&item, path).map_or(Term::made(0), |value| Term::made(value.clone())),
            None => Term::made(item),
        };
        operators::binary(Add, &total, &item, budget)
    })
}

fn extreme<'r>(
    items: Vec<Value>,
    wanted: Ordering,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    let mut found: Option<Value> = None;
    for item in items {
        let better = match &found {
            Some(best) => order(&Term::Given(&item), &Term::Given(best), budget)? == wanted,
            None => true,
        };
        if better {
            found = Some(item);
        }
    }
    Ok(found.map_or(Term::Undefined, Term::made))
}

fn sorted(
    mut items: Vec<Value>,
    arguments: &Arguments<'_>,
    budget: &Budget,
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
        let ordered = budget.step().and_then(|()| order(&Term::Given(a), &Term::Given(b), budget));
        let ordered = ordered.unwrap_or_else(|error| {
            failure = Some(error);
            Ordering::Equal
        });
        if reverse { ordered.reverse() } else { ordered }
    });
    failure.map_or(Ok(items), Err)
}

fn unique(items: Vec<Value>, budget: &Budget) -> Result<Vec<Value>, TemplateError> {
    let mut seen = std::collections::HashSet::new();
    let mut kept = Vec::new();
    for item in items {
        budget.pay(weight(&item))?;
        if seen.insert(item.to_string()) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn pairs(term: &Term<'_>, budget: &Budget) -> Result<Vec<Value>, TemplateError> {
    let Some(fields) = term.object() else {
        return Err(TemplateError::failed(format!("{} has no items", term.kind())));
    };
    let pair = |(key, value): (&String, &Value)| {
        budget.pay(key.len() + 2 * size_of::<Value>())?;
        Ok(json!([key, budget.copy(value)?]))
    };
    fields.iter().map(pair).collect()
}

fn batch<'r>(items: Vec<Value>, arguments: &Arguments<'r>) -> Result<Term<'r>, TemplateError> {
    let size = arguments.count(0, "linecount", 0);
    if size == 0 {
        return Err(TemplateError::failed("`batch` wants a size"));
    }
    let mut batches: Vec<Vec<Value>> = Vec::new();
    for item in items {
        match batches.last_mut() {
            Some(last) if last.len() < size => last.push(item),
            _ => batches.push(vec![item]),
        }
    }
    Ok(Term::made(batches))
}

fn map<'r>(
    items: Vec<Value>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    let field = arguments.named.iter().find(|(name, _)| *name == "attribute");
    let each = |item: Value| match field.and_then(|(_, field)| field.text()) {
        Some(path) => Ok(at(&item, path).cloned().unwrap_or(Value::Null)),
        None => {
            let filter = arguments.text(0, "filter").unwrap_or_default();
            let more = arguments.positional.iter().skip(1).cloned().collect();
            let more = Arguments { positional: more, named: Vec::new() };
            super::filters::apply(filter, Term::made(item), &more, budget)?.to_value(budget)
        }
    };
    let step = |item| budget.step().and_then(|()| each(item));
    items.into_iter().map(step).collect::<Result<Vec<_>, _>>().map(Term::made)
}

/// The elements that pass a test, by themselves or by one of their fields.
fn chosen<'r>(
    items: Vec<Value>,
    field: Option<&str>,
    arguments: &Arguments<'r>,
    keep: bool,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    let skip = usize::from(field.is_some());
    let test = arguments.positional.get(skip).and_then(Term::text);
    let more = arguments.positional.iter().skip(skip + 1).cloned().collect();
    let more = Arguments { positional: more, named: Vec::new() };
    let mut kept = Vec::new();
    for item in items {
        budget.step()?;
        let looked_at = match field {
            Some(path) => at(&item, path).map_or(Term::Undefined, Term::Given),
            None => Term::Given(&item),
        };
        let passes = match test {
            Some(test) => check(test, &looked_at, &more, budget)?,
            None => looked_at.truth(),
        };
        if passes == keep {
            kept.push(item);
        }
    }
    Ok(Term::made(kept))
}
