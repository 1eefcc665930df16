//! Filters on texts. Whatever can grow a text pays before it does.

use std::borrow::Cow;

use serde_json::Value;

use super::TemplateError;
use super::budget::{Budget, Text};
use super::filters::Arguments;
use super::term::Term;
use super::{print, printf};

/// The longest width or indent that anything is filled up to.
pub(super) const WIDTH: usize = 1000;

/// `None` if there is no such filter on texts.
pub(super) fn apply<'r>(
    name: &str,
    term: &Term<'r>,
    arguments: &Arguments<'r>,
    budget: &Budget,
) -> Result<Option<Term<'r>>, TemplateError> {
    let Some(filter) = find(name) else { return Ok(None) };
    let text = term.printed(budget)?;
    filter(&Call { term, text, arguments, budget }).map(Some)
}

struct Call<'c, 'r> {
    term: &'c Term<'r>,
    text: Cow<'c, str>,
    arguments: &'c Arguments<'r>,
    budget: &'c Budget,
}

type Filter = for<'r> fn(&Call<'_, 'r>) -> Result<Term<'r>, TemplateError>;

fn find(name: &str) -> Option<Filter> {
    let filter: Filter = match name {
        "upper" => |call| call.changed(str::to_uppercase),
        "lower" => |call| call.changed(str::to_lowercase),
        "title" => |call| call.changed(title),
        "capitalize" => |call| call.changed(capitalize),
        "string" => |call| call.changed(str::to_owned),
        "trim" => |call| {
            call.changed(|text| match call.arguments.text(0, "chars") {
                Some(letters) => text.trim_matches(|c| letters.contains(c)).to_owned(),
                None => text.trim().to_owned(),
            })
        },
        "striptags" => |call| call.changed(without_tags),
        "escape" | "e" => |call| match call.term {
            Term::Markup(text) => Ok(Term::Markup(text.clone())),
            _ => print::escaped(&call.text, call.budget).map(|text| Term::Markup(text.into())),
        },
        "safe" => |call| {
            call.budget.pay(call.text.len())?;
            Ok(Term::Markup(call.text.as_ref().into()))
        },
        "replace" => replace,
        "split" => split,
        "lines" => |call| parts(call.text.lines(), call.budget),
        "wordcount" => |call| {
            call.budget.look(call.text.len())?;
            Ok(Term::made(call.text.split_whitespace().count()))
        },
        "truncate" => truncate,
        "indent" => indent,
        "center" => center,
        "format" => format,
        "urlencode" => |call| {
            call.budget.pay(call.text.len().saturating_mul(3))?;
            let encoded: String =
                url::form_urlencoded::byte_serialize(call.text.as_bytes()).collect();
            Ok(Term::made(encoded.replace('+', "%20")))
        },
        _ => return None,
    };
    Some(filter)
}

impl<'r> Call<'_, 'r> {
    /// For filters whose result is about as long as their text: no letter becomes more than three.
    fn changed(&self, change: impl FnOnce(&str) -> String) -> Result<Term<'r>, TemplateError> {
        self.budget.pay(self.text.len())?;
        let changed = change(&self.text);
        self.budget.pay(changed.len().saturating_sub(self.text.len()))?;
        Ok(Term::made(changed))
    }
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => {
            first.to_uppercase().chain(letters.as_str().to_lowercase().chars()).collect()
        }
        None => String::new(),
    }
}

fn title(text: &str) -> String {
    let mut inside = false;
    let mut titled = String::with_capacity(text.len());
    for letter in text.chars() {
        if inside {
            titled.extend(letter.to_lowercase());
        } else {
            titled.extend(letter.to_uppercase());
        }
        inside = letter.is_alphanumeric() || letter == '\'';
    }
    titled
}

fn without_tags(text: &str) -> String {
    let mut inside = false;
    let kept = text.chars().filter(|letter| {
        let before = inside;
        inside = *letter == '<' || (inside && *letter != '>');
        !before && !inside
    });
    kept.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn replace<'r>(call: &Call<'_, 'r>) -> Result<Term<'r>, TemplateError> {
    let old = call.arguments.text(0, "old").unwrap_or_default();
    let new = call.arguments.get(1, "new").unwrap_or(&Term::Undefined).printed(call.budget)?;
    let limit = call.arguments.count(2, "count", usize::MAX);
    let mut out = Text::new(call.budget);
    let mut rest = 0;
    call.budget.look(call.text.len())?;
    for (at, found) in call.text.match_indices(old).take(limit) {
        out.push(&call.text[rest..at])?;
        out.push(&new)?;
        rest = at + found.len();
    }
    out.push(&call.text[rest..])?;
    Ok(Term::made(out.into_string()))
}

fn split<'r>(call: &Call<'_, 'r>) -> Result<Term<'r>, TemplateError> {
    match call.arguments.text(0, "sep").filter(|separator| !separator.is_empty()) {
        Some(separator) => parts(call.text.split(separator), call.budget),
        None => parts(call.text.split_whitespace(), call.budget),
    }
}

fn parts<'r, 't>(
    parts: impl Iterator<Item = &'t str>,
    budget: &Budget,
) -> Result<Term<'r>, TemplateError> {
    let part = |part: &str| {
        budget.pay(part.len() + size_of::<Value>())?;
        Ok(Value::String(part.to_owned()))
    };
    parts.map(part).collect::<Result<Vec<_>, TemplateError>>().map(Term::made)
}

fn truncate<'r>(call: &Call<'_, 'r>) -> Result<Term<'r>, TemplateError> {
    /// How much longer a text may be before it is worth cutting.
    const LEEWAY: usize = 5;
    let length = call.arguments.count(0, "length", 255);
    let end = call.arguments.text(2, "end").unwrap_or("...");
    let leeway = call.arguments.count(3, "leeway", LEEWAY);
    call.budget.look(call.text.len())?;
    let letters = call.text.chars().count();
    if letters <= length.saturating_add(leeway) {
        return call.changed(str::to_owned);
    }
    let kept: String = call.text.chars().take(length.saturating_sub(end.chars().count())).collect();
    let kept = match kept.rsplit_once(' ') {
        Some((words, _)) if !call.arguments.flag(1, "killwords") => words,
        _ => kept.as_str(),
    };
    call.budget.pay(kept.len() + end.len())?;
    Ok(Term::made(format!("{kept}{end}")))
}

fn indent<'r>(call: &Call<'_, 'r>) -> Result<Term<'r>, TemplateError> {
    let width = " ".repeat(call.arguments.count(0, "width", 4).min(WIDTH));
    let first = call.arguments.flag(1, "first");
    let blank = call.arguments.flag(2, "blank");
    let mut out = Text::new(call.budget);
    for (number, line) in call.text.split('\n').enumerate() {
        out.push(if number == 0 { "" } else { "\n" })?;
        if (number > 0 || first) && (blank || !line.trim().is_empty()) {
            out.push(&width)?;
        }
        out.push(line)?;
    }
    Ok(Term::made(out.into_string()))
}

fn center<'r>(call: &Call<'_, 'r>) -> Result<Term<'r>, TemplateError> {
    let width = call.arguments.count(0, "width", 80).min(WIDTH);
    call.budget.look(call.text.len())?;
    let space = width.saturating_sub(call.text.chars().count());
    let before = space / 2;
    call.changed(|text| format!("{}{text}{}", " ".repeat(before), " ".repeat(space - before)))
}

/// `"%.2f"|format(price)`, or the other way round: `price|format("%.2f")`.
fn format<'r>(call: &Call<'_, 'r>) -> Result<Term<'r>, TemplateError> {
    let mut out = Text::new(call.budget);
    match call.arguments.text(0, "format_string") {
        Some(form) if form.contains('%') && !call.text.contains('%') => {
            printf::write(form, std::slice::from_ref(call.term), &mut out)?;
        }
        _ => printf::write(&call.text, &call.arguments.positional, &mut out)?,
    }
    Ok(Term::made(out.into_string()))
}
