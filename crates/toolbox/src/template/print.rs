//! How values look in text: scalars and containers as Python prints them, because templates were written for that.

use std::fmt::{self, Write};

use serde_json::Value;

use super::budget::{Budget, Text};
use super::term::Term;
use super::{Escape, TemplateError};

pub(super) fn write(
    term: &Term<'_>,
    escape: Escape,
    out: &mut Text<'_>,
) -> Result<(), TemplateError> {
    match (term, escape) {
        (Term::Undefined, _) => Ok(()),
        (Term::Markup(text), _) => out.push(text),
        (_, Escape::Nothing) => plain(term, out).map_err(Into::into),
        (_, Escape::Html) => plain(term, &mut Escaping(out)).map_err(Into::into),
    }
}

pub(super) fn to_text(term: &Term<'_>, budget: &Budget) -> Result<String, TemplateError> {
    let mut text = Text::new(budget);
    write(term, Escape::Nothing, &mut text)?;
    Ok(text.into_string())
}

pub(super) fn escaped(text: &str, budget: &Budget) -> Result<String, TemplateError> {
    let mut out = Text::new(budget);
    Escaping(&mut out).write_str(text)?;
    Ok(out.into_string())
}

fn plain(term: &Term<'_>, out: &mut impl Write) -> fmt::Result {
    match (term.text(), term.value()) {
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

struct Escaping<'t, 'b>(&'t mut Text<'b>);

impl Write for Escaping<'_, '_> {
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
