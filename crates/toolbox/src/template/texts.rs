//! Filters on texts. Filters that can grow a text charge the budget first.

use std::borrow::Cow;

use serde_json::Value;

use super::TemplateError;
use super::budget::{BudgetedText, RenderBudget};
use super::filters::CallArguments;
use super::value::TemplateValue;
use super::{print, printf};

/// Limit on padding widths and indents.
pub(crate) const MAX_WIDTH: usize = 1000;

/// `None` if no text filter has this name.
pub(crate) fn apply<'r>(
    name: &str,
    value: &TemplateValue<'r>,
    arguments: &CallArguments<'r>,
    budget: &RenderBudget,
) -> Result<Option<TemplateValue<'r>>, TemplateError> {
    let Some(filter) = find(name) else { return Ok(None) };
    let text = value.to_text(budget)?;
    filter(&TextFilterCall { value, text, arguments, budget }).map(Some)
}

struct TextFilterCall<'c, 'r> {
    value: &'c TemplateValue<'r>,
    text: Cow<'c, str>,
    arguments: &'c CallArguments<'r>,
    budget: &'c RenderBudget,
}

type TextFilter = for<'r> fn(&TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError>;

fn find(name: &str) -> Option<TextFilter> {
    let filter: TextFilter = match name {
        "upper" => |call| call.transform(str::to_uppercase),
        "lower" => |call| call.transform(str::to_lowercase),
        "title" => |call| call.transform(title),
        "capitalize" => |call| call.transform(capitalize),
        "string" => |call| call.transform(str::to_owned),
        "trim" => |call| {
            call.transform(|text| match call.arguments.text(0, "chars") {
                Some(characters) => text.trim_matches(|c| characters.contains(c)).to_owned(),
                None => text.trim().to_owned(),
            })
        },
        "striptags" => |call| call.transform(without_tags),
        "escape" | "e" => |call| match call.value {
            TemplateValue::Markup(text) => Ok(TemplateValue::Markup(text.clone())),
            _ => print::escaped(&call.text, call.budget)
                .map(|text| TemplateValue::Markup(text.into())),
        },
        "safe" => |call| {
            call.budget.charge(call.text.len())?;
            Ok(TemplateValue::Markup(call.text.as_ref().into()))
        },
        "replace" => replace,
        "split" => split,
        "lines" => |call| parts(call.text.lines(), call.budget),
        "wordcount" => |call| {
            call.budget.charge_read(call.text.len())?;
            Ok(TemplateValue::computed(call.text.split_whitespace().count()))
        },
        "truncate" => truncate,
        "indent" => indent,
        "center" => center,
        "format" => format,
        "urlencode" => |call| {
            call.budget.charge(call.text.len().saturating_mul(3))?;
            let encoded: String =
                url::form_urlencoded::byte_serialize(call.text.as_bytes()).collect();
            Ok(TemplateValue::computed(encoded.replace('+', "%20")))
        },
        _ => return None,
    };
    Some(filter)
}

impl<'r> TextFilterCall<'_, 'r> {
    /// For filters whose result is about as long as the text: no character becomes more than three.
    fn transform(
        &self,
        change: impl FnOnce(&str) -> String,
    ) -> Result<TemplateValue<'r>, TemplateError> {
        self.budget.charge(self.text.len())?;
        let changed = change(&self.text);
        self.budget.charge(changed.len().saturating_sub(self.text.len()))?;
        Ok(TemplateValue::computed(changed))
    }
}

fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => {
            first.to_uppercase().chain(characters.as_str().to_lowercase().chars()).collect()
        }
        None => String::new(),
    }
}

fn title(text: &str) -> String {
    let mut inside = false;
    let mut titled = String::with_capacity(text.len());
    for character in text.chars() {
        if inside {
            titled.extend(character.to_lowercase());
        } else {
            titled.extend(character.to_uppercase());
        }
        inside = character.is_alphanumeric() || character == '\'';
    }
    titled
}

fn without_tags(text: &str) -> String {
    let mut inside = false;
    let kept = text.chars().filter(|character| {
        let before = inside;
        inside = *character == '<' || (inside && *character != '>');
        !before && !inside
    });
    kept.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn replace<'r>(call: &TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError> {
    let old = call.arguments.text(0, "old").unwrap_or_default();
    let new =
        call.arguments.get(1, "new").unwrap_or(&TemplateValue::Undefined).to_text(call.budget)?;
    let limit = call.arguments.count(2, "count", usize::MAX);
    let mut out = BudgetedText::new(call.budget);
    let mut rest = 0;
    call.budget.charge_read(call.text.len())?;
    for (at, found) in call.text.match_indices(old).take(limit) {
        out.push(&call.text[rest..at])?;
        out.push(&new)?;
        rest = at + found.len();
    }
    out.push(&call.text[rest..])?;
    Ok(TemplateValue::computed(out.into_string()))
}

fn split<'r>(call: &TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError> {
    match call.arguments.text(0, "sep").filter(|separator| !separator.is_empty()) {
        Some(separator) => parts(call.text.split(separator), call.budget),
        None => parts(call.text.split_whitespace(), call.budget),
    }
}

fn parts<'r, 't>(
    parts: impl Iterator<Item = &'t str>,
    budget: &RenderBudget,
) -> Result<TemplateValue<'r>, TemplateError> {
    let part = |part: &str| {
        budget.charge(part.len() + size_of::<Value>())?;
        Ok(Value::String(part.to_owned()))
    };
    parts.map(part).collect::<Result<Vec<_>, TemplateError>>().map(TemplateValue::computed)
}

fn truncate<'r>(call: &TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError> {
    /// How far a text may exceed the length without being cut.
    const LEEWAY: usize = 5;
    let length = call.arguments.count(0, "length", 255);
    let end = call.arguments.text(2, "end").unwrap_or("...");
    let leeway = call.arguments.count(3, "leeway", LEEWAY);
    call.budget.charge_read(call.text.len())?;
    let characters = call.text.chars().count();
    if characters <= length.saturating_add(leeway) {
        return call.transform(str::to_owned);
    }
    let kept: String = call.text.chars().take(length.saturating_sub(end.chars().count())).collect();
    let kept = match kept.rsplit_once(' ') {
        Some((words, _)) if !call.arguments.flag(1, "killwords") => words,
        _ => kept.as_str(),
    };
    call.budget.charge(kept.len() + end.len())?;
    Ok(TemplateValue::computed(format!("{kept}{end}")))
}

fn indent<'r>(call: &TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError> {
    let width = " ".repeat(call.arguments.count(0, "width", 4).min(MAX_WIDTH));
    let first = call.arguments.flag(1, "first");
    let blank = call.arguments.flag(2, "blank");
    let mut out = BudgetedText::new(call.budget);
    for (number, line) in call.text.split('\n').enumerate() {
        out.push(if number == 0 { "" } else { "\n" })?;
        if (number > 0 || first) && (blank || !line.trim().is_empty()) {
            out.push(&width)?;
        }
        out.push(line)?;
    }
    Ok(TemplateValue::computed(out.into_string()))
}

fn center<'r>(call: &TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError> {
    let width = call.arguments.count(0, "width", 80).min(MAX_WIDTH);
    call.budget.charge_read(call.text.len())?;
    let space = width.saturating_sub(call.text.chars().count());
    let before = space / 2;
    call.transform(|text| format!("{}{text}{}", " ".repeat(before), " ".repeat(space - before)))
}

/// `"%.2f"|format(price)`, or in the other order: `price|format("%.2f")`.
fn format<'r>(call: &TextFilterCall<'_, 'r>) -> Result<TemplateValue<'r>, TemplateError> {
    let mut out = BudgetedText::new(call.budget);
    match call.arguments.text(0, "format_string") {
        Some(format) if format.contains('%') && !call.text.contains('%') => {
            printf::write(format, std::slice::from_ref(call.value), &mut out)?;
        }
        _ => printf::write(&call.text, &call.arguments.positional, &mut out)?,
    }
    Ok(TemplateValue::computed(out.into_string()))
}
