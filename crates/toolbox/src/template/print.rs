//! Prints values as Python does, because existing templates expect that.

use std::fmt::{self, Write};

use serde_json::Value;

use super::budget::{BudgetedText, RenderBudget};
use super::value::TemplateValue;
use super::{EscapeMode, TemplateError};

pub(crate) fn write(
    value: &TemplateValue<'_>,
    escape: EscapeMode,
    out: &mut BudgetedText<'_>,
) -> Result<(), TemplateError> {
    match (value, escape) {
        (TemplateValue::Undefined, _) => Ok(()),
        (TemplateValue::Markup(text), _) => out.push(text),
        (_, EscapeMode::None) => plain(value, out).map_err(Into::into),
        (_, EscapeMode::Html) => plain(value, &mut HtmlEscaper(out)).map_err(Into::into),
    }
}

pub(crate) fn to_text(
    value: &TemplateValue<'_>,
    budget: &RenderBudget,
) -> Result<String, TemplateError> {
    let mut text = BudgetedText::new(budget);
    write(value, EscapeMode::None, &mut text)?;
    Ok(text.into_string())
}

pub(crate) fn escaped(text: &str, budget: &RenderBudget) -> Result<String, TemplateError> {
    let mut out = BudgetedText::new(budget);
    HtmlEscaper(&mut out).write_str(text)?;
    Ok(out.into_string())
}

fn plain(value: &TemplateValue<'_>, out: &mut impl Write) -> fmt::Result {
    match (value.text(), value.as_json()) {
        (Some(text), _) => out.write_str(text),
        (None, Some(value)) => python(value, out),
        (None, None) => Ok(()),
    }
}

fn python(value: &Value, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::Null => out.write_str("None"),
        Value::Bool(true) => out.write_str("True"),
        Value::Bool(false) => out.write_str("False"),
        Value::Number(number) => write!(out, "{number}"),
        Value::String(text) => quoted(text, out),
        Value::Array(items) => {
            out.write_char('[')?;
            for (index, item) in items.iter().enumerate() {
                out.write_str(if index == 0 { "" } else { ", " })?;
                python(item, out)?;
            }
            out.write_char(']')
        }
        Value::Object(fields) => {
            out.write_char('{')?;
            for (index, (key, value)) in fields.iter().enumerate() {
                out.write_str(if index == 0 { "" } else { ", " })?;
                quoted(key, out)?;
                out.write_str(": ")?;
                python(value, out)?;
            }
            out.write_char('}')
        }
    }
}

fn quoted(text: &str, out: &mut impl Write) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.write_char(quote)?;
    for letter in text.chars() {
        match letter {
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\\' => out.write_str("\\\\")?,
            letter if letter == quote => write!(out, "\\{letter}")?,
            letter => out.write_char(letter)?,
        }
    }
    out.write_char(quote)
}

struct HtmlEscaper<'t, 'b>(&'t mut BudgetedText<'b>);

impl Write for HtmlEscaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(['<', '>', '&', '"', '\'']) {
            let (before, entity) = match part.chars().next_back() {
                Some('<') => (&part[..part.len() - 1], "&lt;"),
                Some('>') => (&part[..part.len() - 1], "&gt;"),
                Some('&') => (&part[..part.len() - 1], "&amp;"),
                Some('"') => (&part[..part.len() - 1], "&#34;"),
                Some('\'') => (&part[..part.len() - 1], "&#39;"),
                _ => (part, ""),
            };
            self.0.write_str(before)?;
            self.0.write_str(entity)?;
        }
        Ok(())
    }
}
