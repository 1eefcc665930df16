//! What a template asks of a value: `is defined`, `is odd`, `is in`.

use minijinja::machinery::ast::CompareOpKind;
use serde_json::Value;

use super::TemplateError;
use super::budget::Budget;
use super::filters::Arguments;
use super::operators::compare;
use super::term::Term;

/// `value is name`
pub(super) fn check(
    name: &str,
    term: &Term<'_>,
    arguments: &Arguments<'_>,
    budget: &Budget,
) -> Result<bool, TemplateError> {
    let other = arguments.positional.first().unwrap_or(&Term::Undefined);
    let compared = |operator| compare(operator, term, other, budget);
    let cased = |change: fn(&str) -> String| -> Result<bool, TemplateError> {
        let text = term.text().unwrap_or_default();
        budget.pay(text.len())?;
        Ok(change(text) == text)
    };
    Ok(match name {
        "defined" => !matches!(term, Term::Undefined),
        "undefined" => matches!(term, Term::Undefined),
        "none" => term.is_none(),
        "string" => term.text().is_some(),
        "number" => term.value().is_some_and(Value::is_number),
        "integer" => term.value().is_some_and(|value| value.is_i64() || value.is_u64()),
        "float" => term.value().is_some_and(Value::is_f64),
        "boolean" => term.value().is_some_and(Value::is_boolean),
        "true" => term.value() == Some(&Value::Bool(true)),
        "false" => term.value() == Some(&Value::Bool(false)),
        "mapping" => term.object().is_some(),
        "sequence" | "iterable" => {
            term.list().is_some() || term.object().is_some() || term.text().is_some()
        }
        "odd" => term.integer().is_some_and(|number| number % 2 != 0),
        "even" => term.integer().is_some_and(|number| number % 2 == 0),
        "divisibleby" => match (term.integer(), other.integer()) {
            (Some(number), Some(by)) => number.checked_rem(by) == Some(0),
            _ => false,
        },
        "lower" => cased(str::to_lowercase)?,
        "upper" => cased(str::to_uppercase)?,
        "eq" | "equalto" | "==" | "sameas" => compared(CompareOpKind::Eq)?,
        "ne" | "!=" => compared(CompareOpKind::Ne)?,
        "lt" | "lessthan" | "<" => compared(CompareOpKind::Lt)?,
        "le" | "<=" => compared(CompareOpKind::Lte)?,
        "gt" | "greaterthan" | ">" => compared(CompareOpKind::Gt)?,
        "ge" | ">=" => compared(CompareOpKind::Gte)?,
        "in" => compared(CompareOpKind::In)?,
        _ => return Err(TemplateError::failed(format!("there is no test `{name}`"))),
    })
}
