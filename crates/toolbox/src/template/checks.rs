//! Jinja tests: `is defined`, `is odd`, `is in`.

use minijinja::machinery::ast::CompareOpKind;
use serde_json::Value;

use super::TemplateError;
use super::budget::RenderBudget;
use super::filters::CallArguments;
use super::operators::compare;
use super::value::TemplateValue;

/// Evaluates `value is name`.
pub(crate) fn check(
    name: &str,
    value: &TemplateValue<'_>,
    arguments: &CallArguments<'_>,
    budget: &RenderBudget,
) -> Result<bool, TemplateError> {
    let other = arguments.positional.first().unwrap_or(&TemplateValue::Undefined);
    let compared = |operator| compare(operator, value, other, budget);
    let is_unchanged_by = |change: fn(&str) -> String| -> Result<bool, TemplateError> {
        let text = value.text().unwrap_or_default();
        budget.charge(text.len())?;
        Ok(change(text) == text)
    };
    Ok(match name {
        "defined" => !matches!(value, TemplateValue::Undefined),
        "undefined" => matches!(value, TemplateValue::Undefined),
        "none" => value.is_none(),
        "string" => value.text().is_some(),
        "number" => value.as_json().is_some_and(Value::is_number),
        "integer" => value.as_json().is_some_and(|value| value.is_i64() || value.is_u64()),
        "float" => value.as_json().is_some_and(Value::is_f64),
        "boolean" => value.as_json().is_some_and(Value::is_boolean),
        "true" => value.as_json() == Some(&Value::Bool(true)),
        "false" => value.as_json() == Some(&Value::Bool(false)),
        "mapping" => value.object().is_some(),
        "sequence" | "iterable" => {
            value.list().is_some() || value.object().is_some() || value.text().is_some()
        }
        "odd" => value.integer().is_some_and(|number| number % 2 != 0),
        "even" => value.integer().is_some_and(|number| number % 2 == 0),
        "divisibleby" => match (value.integer(), other.integer()) {
            (Some(number), Some(by)) => number.checked_rem(by) == Some(0),
            _ => false,
        },
        "lower" => is_unchanged_by(str::to_lowercase)?,
        "upper" => is_unchanged_by(str::to_uppercase)?,
        "eq" | "equalto" | "==" | "sameas" => compared(CompareOpKind::Eq)?,
        "ne" | "!=" => compared(CompareOpKind::Ne)?,
        "lt" | "lessthan" | "<" => compared(CompareOpKind::Lt)?,
        "le" | "<=" => compared(CompareOpKind::Lte)?,
        "gt" | "greaterthan" | ">" => compared(CompareOpKind::Gt)?,
        "ge" | ">=" => compared(CompareOpKind::Gte)?,
        "in" => compared(CompareOpKind::In)?,
        _ => return Err(TemplateError::failed(format!("unknown test `{name}`"))),
    })
}
