//! Arithmetic, comparison and slicing.

use std::cmp::Ordering;
use std::mem::discriminant;

use minijinja::machinery::ast::{BinOpKind, CompareOpKind};
use serde_json::Value;

use super::EscapeMode;
use super::TemplateError;
use super::budget::{BudgetedText, RenderBudget, byte_size};
use super::print;
use super::value::TemplateValue;

pub(crate) fn binary<'r>(
    operator: BinOpKind,
    left: &TemplateValue<'r>,
    right: &TemplateValue<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let compared = |operator| compare(operator, left, right, budget).map(TemplateValue::computed);
    match operator {
        BinOpKind::Eq => compared(CompareOpKind::Eq),
        BinOpKind::Ne => compared(CompareOpKind::Ne),
        BinOpKind::Lt => compared(CompareOpKind::Lt),
        BinOpKind::Lte => compared(CompareOpKind::Lte),
        BinOpKind::Gt => compared(CompareOpKind::Gt),
        BinOpKind::Gte => compared(CompareOpKind::Gte),
        BinOpKind::In => compared(CompareOpKind::In),
        BinOpKind::ScAnd => Ok(if left.truth() { right.clone() } else { left.clone() }),
        BinOpKind::ScOr => Ok(if left.truth() { left.clone() } else { right.clone() }),
        BinOpKind::Concat => {
            let mut text = BudgetedText::new(budget);
            print::write(left, EscapeMode::None, &mut text)?;
            print::write(right, EscapeMode::None, &mut text)?;
            Ok(TemplateValue::computed(text.into_string()))
        }
        BinOpKind::Add => add(left, right, budget),
        BinOpKind::Mul => multiply(left, right, budget),
        BinOpKind::Sub => arithmetic(left, right, i64::checked_sub, |a, b| a - b),
        BinOpKind::Pow => {
            let whole = |a: i64, b: i64| a.checked_pow(u32::try_from(b).ok()?);
            arithmetic(left, right, whole, f64::powf)
        }
        BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem if right.number() == Some(0.0) => {
            Err(TemplateError::failed("division by zero"))
        }
        BinOpKind::Div => arithmetic(left, right, |_, _| None, |a, b| a / b),
        BinOpKind::FloorDiv => arithmetic(left, right, floor_div, |a: f64, b: f64| (a / b).floor()),
        BinOpKind::Rem => {
            let whole = |a: i64, b: i64| a.checked_sub(floor_div(a, b)?.checked_mul(b)?);
            arithmetic(left, right, whole, |a, b| a - (a / b).floor() * b)
        }
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let exact = quotient.checked_mul(b)? == a;
    if exact || (a < 0) == (b < 0) { Some(quotient) } else { quotient.checked_sub(1) }
}

/// Integer arithmetic while it does not overflow, otherwise floating-point.
fn arithmetic<'r>(
    left: &TemplateValue<'r>,
    right: &TemplateValue<'r>,
    whole: impl Fn(i64, i64) -> Option<i64>,
    floating: impl Fn(f64, f64) -> f64,
) -> Result<TemplateValue<'r>, TemplateError> {
    if let (Some(a), Some(b)) = (left.integer(), right.integer())
        && let Some(result) = whole(a, b)
    {
        return Ok(TemplateValue::computed(result));
    }
    match (left.number(), right.number()) {
        (Some(a), Some(b)) => Ok(TemplateValue::computed(floating(a, b))),
        _ => {
            let message = format!("{} and {} are not both numbers", left.kind(), right.kind());
            Err(TemplateError::failed(message))
        }
    }
}

pub(crate) fn negative<'r>(value: &TemplateValue<'r>) -> Result<TemplateValue<'r>, TemplateError> {
    arithmetic(&TemplateValue::computed(0), value, i64::checked_sub, |a, b| a - b)
}

fn add<'r>(
    left: &TemplateValue<'r>,
    right: &TemplateValue<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    if let (Some(a), Some(b)) = (left.text(), right.text()) {
        budget.charge(a.len() + b.len())?;
        return Ok(TemplateValue::computed([a, b].concat()));
    }
    if let (Some(a), Some(b)) = (left.list(), right.list()) {
        budget.charge(a.iter().chain(b).map(byte_size).sum())?;
        return Ok(TemplateValue::computed([a, b].concat()));
    }
    arithmetic(left, right, i64::checked_add, |a, b| a + b)
}

fn multiply<'r>(
    left: &TemplateValue<'r>,
    right: &TemplateValue<'r>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let repeated = match (left.text(), right.text()) {
        (Some(text), None) => Some((text, right.integer())),
        (None, Some(text)) => Some((text, left.integer())),
        _ => None,
    };
    if let Some((text, Some(times))) = repeated {
        let times = usize::try_from(times).unwrap_or(0);
        budget.charge(text.len().saturating_mul(times))?;
        return Ok(TemplateValue::computed(text.repeat(times)));
    }
    arithmetic(left, right, i64::checked_mul, |a, b| a * b)
}

pub(crate) fn compare(
    operator: CompareOpKind,
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
    budget: &RenderBudget,
) -> Result<bool, TemplateError> {
    Ok(match operator {
        CompareOpKind::Eq => equal(left, right, budget)?,
        CompareOpKind::Ne => !equal(left, right, budget)?,
        CompareOpKind::Lt => order(left, right, budget)? == Ordering::Less,
        CompareOpKind::Lte => order(left, right, budget)? != Ordering::Greater,
        CompareOpKind::Gt => order(left, right, budget)? == Ordering::Greater,
        CompareOpKind::Gte => order(left, right, budget)? != Ordering::Less,
        CompareOpKind::In => contains(right, left, budget)?,
        CompareOpKind::NotIn => !contains(right, left, budget)?,
    })
}

pub(crate) fn equal(
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
    budget: &RenderBudget,
) -> Result<bool, TemplateError> {
    if let (Some(a), Some(b)) = (left.text(), right.text()) {
        budget.charge_read(a.len().min(b.len()))?;
        return Ok(a == b);
    }
    if let (Some(a), Some(b)) = (left.number(), right.number()) {
        return Ok(a == b);
    }
    match (left.as_json(), right.as_json()) {
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() != b.len() => Ok(false),
        (Some(Value::Object(a)), Some(Value::Object(b))) if a.len() != b.len() => Ok(false),
        (Some(a), Some(b)) if discriminant(a) == discriminant(b) => {
            budget.charge_read(byte_size(a))?;
            Ok(a == b)
        }
        _ => Ok(matches!((left, right), (TemplateValue::Undefined, TemplateValue::Undefined))),
    }
}

pub(crate) fn order(
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
    budget: &RenderBudget,
) -> Result<Ordering, TemplateError> {
    if let (Some(a), Some(b)) = (left.text(), right.text()) {
        budget.charge_read(a.len().min(b.len()))?;
        return Ok(a.cmp(b));
    }
    if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
        return Ok(a.cmp(&b));
    }
    let numbers = left.number().zip(right.number());
    numbers.and_then(|(a, b)| a.partial_cmp(&b)).ok_or_else(|| {
        TemplateError::failed(format!("{} and {} cannot be ordered", left.kind(), right.kind()))
    })
}

fn contains(
    container: &TemplateValue<'_>,
    wanted: &TemplateValue<'_>,
    budget: &RenderBudget,
) -> Result<bool, TemplateError> {
    if let Some(text) = container.text() {
        budget.charge_read(text.len())?;
        return Ok(wanted.text().is_some_and(|wanted| text.contains(wanted)));
    }
    if let Some(fields) = container.object() {
        return Ok(wanted.text().is_some_and(|key| fields.contains_key(key)));
    }
    for item in container.list().unwrap_or_default() {
        budget.step()?;
        if equal(&TemplateValue::Input(item), wanted, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn slice<'r>(
    of: &TemplateValue<'r>,
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let Ok(step) = usize::try_from(step) else {
        return Err(TemplateError::failed("a slice must not have a negative step"));
    };
    if step == 0 {
        return Err(TemplateError::failed("a slice must not have a step of 0"));
    }
    let range = |length: usize| {
        let clamp = |index: i64| {
            let end = i64::try_from(length).unwrap_or(i64::MAX);
            let index = if index < 0 { index.saturating_add(end) } else { index };
            usize::try_from(index.clamp(0, end)).unwrap_or(0)
        };
        let (start, stop) = (start.map_or(0, clamp), stop.map_or(length, clamp));
        (start, stop.saturating_sub(start))
    };
    if let Some(text) = of.text() {
        budget.charge_read(text.len())?;
        let (start, count) = range(text.chars().count());
        let part: String = text.chars().skip(start).take(count).step_by(step).collect();
        budget.charge(part.len())?;
        return Ok(TemplateValue::computed(part));
    }
    let Some(items) = of.list() else {
        return Err(TemplateError::failed(format!("{} cannot be sliced", of.kind())));
    };
    let (start, count) = range(items.len());
    let part = items.iter().skip(start).take(count).step_by(step);
    part.map(|item| budget.copy(item))
        .collect::<Result<Vec<Value>, _>>()
        .map(TemplateValue::computed)
}
