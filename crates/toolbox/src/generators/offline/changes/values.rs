//! Changes of values: defaults of inputs, and literals in steps.

use graphs::spec::input_type_of_block;
use protocol::response::UserQuestion;
use serde_json::{Map, Value, json};

use super::spec_change::SpecChange;
use super::{Changed, Obstacle, target};
use crate::words::{self, Words, quoted};

/// A number with its unit.
const MAX_NUMBER_WORDS: usize = 2;

/// "Use 19 instead of 21", "replace 21 with 19".
pub(crate) fn replace(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let (old, new) = old_and_new(change.text, words)?;
    let old_number = words::number(&old);
    let new_value = literal(&new);
    let mut count = 0;
    let mut put = |value: &mut Value| count += replaced(value, &old, old_number, &new, &new_value);
    for (_, input) in &mut change.spec.inputs {
        input.settings.get_mut("value").into_iter().for_each(&mut put);
    }
    let is_reference: Vec<Vec<String>> = change
        .spec
        .steps
        .iter()
        .map(|(_, step)| {
            let is_whole =
                |value: &&Value| value.as_str().is_some_and(|text| change.whole(text).is_some());
            step.pins
                .iter()
                .filter(|(_, value)| is_whole(value))
                .map(|(pin, _)| pin.clone())
                .collect()
        })
        .collect();
    for ((_, step), references) in change.spec.steps.iter_mut().zip(is_reference) {
        for (pin, value) in &mut step.pins {
            if !references.contains(pin) {
                put(value);
            }
        }
    }
    match count {
        // "Change the tax to 19" is read as well; it sets a value.
        0 if words.has(&["change"]) => None,
        0 => Some(Err(Obstacle::Impossible(format!("The agent has no value “{old}”.")))),
        _ => Some(Ok(())),
    }
}

fn old_and_new(text: &str, words: &Words<'_>) -> Option<(String, String)> {
    let clean = |text: &str| text.trim().trim_matches(['“', '”', '"']).to_owned();
    let sides = |from: usize, (at, after): (usize, usize)| {
        (from < at && after < words.len())
            .then(|| (clean(words.span(from, at)), clean(words.span(after, words.len()))))
    };
    if let Some(instead) = words.find("instead of") {
        let from = words
            .after(&["use", "take", "put", "set"])
            .filter(|from| *from < instead.0)
            .unwrap_or(0);
        let (new, old) = sides(from, instead)?;
        return Some((old, new));
    }
    if let Some(from) = words.after(&["replace", "substitute", "swap"]) {
        let between = words.find("with").or_else(|| words.find("by"))?;
        if let [old, new, ..] = quoted(text)[..] {
            return Some((old.to_owned(), new.to_owned()));
        }
        return sides(from, between);
    }
    // "Change 21 to 19": only numbers and quoted texts; anything else names a value.
    let from = words.after(&["change"])?;
    let (old, new) = match quoted(text)[..] {
        [old, new, ..] => (old.to_owned(), new.to_owned()),
        _ => sides(from, words.find("to")?)?,
    };
    (words::number(&old).is_some() || quoted(text).len() > 1).then_some((old, new))
}

/// Replaces a literal, also inside lists, objects and texts; returns how often.
fn replaced(
    value: &mut Value,
    old: &str,
    old_number: Option<f64>,
    new: &str,
    new_value: &Value,
) -> usize {
    match value {
        Value::Number(number) => match old_number.is_some() && number.as_f64() == old_number {
            true if new_value.is_number() => {
                *value = new_value.clone();
                1
            }
            _ => 0,
        },
        Value::String(text) if text.contains(old) && old_number.is_none() => {
            *text = text.replace(old, new);
            1
        }
        Value::Array(items) => {
            items.iter_mut().map(|item| replaced(item, old, old_number, new, new_value)).sum()
        }
        Value::Object(fields) => {
            fields.values_mut().map(|field| replaced(field, old, old_number, new, new_value)).sum()
        }
        _ => 0,
    }
}

/// "Set the tax to 19 %", "the limit should be 30", "use 19 as the tax".
pub(crate) fn set(change: &mut SpecChange<'_>, words: &Words<'_>) -> Option<Changed> {
    let (named, written) = name_and_value(words)?;
    if target::key_words(&named).is_empty() {
        return None;
    }
    let found = match target::inputs(&change.spec, &named)[..] {
        [input] => Some(Place::Input(input.to_owned())),
        _ => step_setting(change, &named),
    };
    let place = match found.or_else(|| answered(change)) {
        Some(place) => place,
        None => return Some(Err(which(change, &named))),
    };
    Some(place.set(change, &written))
}

enum Place {
    Input(String),
    Pin { step: String, pin: String },
}

fn name_and_value(words: &Words<'_>) -> Option<(String, String)> {
    let split = |from: usize, (at, after): (usize, usize)| {
        let (name, value) = (words.span(from, at), words.span(after, words.len()));
        (from < at && !value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    if let Some(from) = words.after(&["use", "take"]) {
        let between = words.find("as").or_else(|| words.find("for"))?;
        let (value, name) = split(from, between)?;
        return Some((name, value));
    }
    for phrase in ["should be", "must be", "shall be", "is now", "has to be"] {
        if let Some(between) = words.find(phrase) {
            return split(0, between);
        }
    }
    let verbs = [
        "set", "change", "make", "put", "raise", "lower", "increase", "decrease", "reduce",
        "adjust", "update", "edit", "move",
    ];
    let from = words.after(&verbs)?;
    if let Some(between) =
        words.find("to").or_else(|| words.find("at")).filter(|(at, _)| *at > from)
    {
        return split(from, between);
    }
    // "Make the tax 19 %": the value is the number at the end.
    let at = (from..words.len()).find(|at| words.number_at(*at).is_some())?;
    split(from, (at, at))
}

/// A literal setting of a step, named by the step and the pin, or by a pin that only one step has.
fn step_setting(change: &SpecChange<'_>, named: &str) -> Option<Place> {
    let wanted = target::key_words(named);
    let mut found = Vec::new();
    for (name, step) in &change.spec.steps {
        for (pin, value) in &step.pins {
            if !change.references_in(value).is_empty() {
                continue;
            }
            let mut words = target::key_words(name);
            words.extend(step.label.as_deref().map(target::key_words).unwrap_or_default());
            let pin_words = target::key_words(pin);
            let names_pin =
                pin_words.iter().all(|word| wanted.contains(word)) && !pin_words.is_empty();
            let fits = wanted.iter().all(|word| words.contains(word) || pin_words.contains(word));
            if fits && names_pin {
                found.push(Place::Pin { step: name.clone(), pin: pin.clone() });
            }
        }
    }
    match found.len() {
        1 => found.pop(),
        _ => None,
    }
}

/// What the answer to the question of `which` names.
fn answered(change: &SpecChange<'_>) -> Option<Place> {
    let answer = change.context.rsplit(['?', '\n']).find(|part| !part.trim().is_empty())?;
    match target::inputs(&change.spec, answer)[..] {
        [input] => Some(Place::Input(input.to_owned())),
        _ => step_setting(change, answer),
    }
}

fn which(change: &SpecChange<'_>, named: &str) -> Obstacle {
    let names: Vec<&str> = change.spec.inputs.iter().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() {
        return Obstacle::Impossible(format!(
            "The agent has no input or setting “{}”.",
            named.trim()
        ));
    }
    Obstacle::Question(UserQuestion {
        question: format!(
            "The agent has no single value that is called “{}”. Which of its inputs do you mean: {}?",
            named.trim(),
            names.join(", ")
        ),
        keyword: "input".to_owned(),
        example: names.first().map(|name| (*name).to_owned()),
    })
}

impl Place {
    fn set(self, change: &mut SpecChange<'_>, written: &str) -> Changed {
        match self {
            Place::Input(name) => {
                let Some((_, input)) =
                    change.spec.inputs.iter_mut().find(|(known, _)| *known == name)
                else {
                    return Ok(());
                };
                let kind = input_type_of_block(&input.block).map_or("any", |known| known.name);
                let value = typed(kind, written)
                    .map_err(|expected| wrong_value(&name, expected, written))?;
                put_default(&mut input.settings, value);
            }
            Place::Pin { step, pin } => {
                let Some((_, step)) =
                    change.spec.steps.iter_mut().find(|(known, _)| *known == step)
                else {
                    return Ok(());
                };
                let value = match step.pins.get(&pin) {
                    Some(Value::Number(_)) => typed("number", written)
                        .map_err(|expected| wrong_value(&pin, expected, written))?,
                    Some(Value::Bool(_)) => typed("boolean", written)
                        .map_err(|expected| wrong_value(&pin, expected, written))?,
                    _ => literal(written),
                };
                step.pins.insert(pin, value);
            }
        }
        Ok(())
    }
}

fn wrong_value(name: &str, expected: &str, written: &str) -> Obstacle {
    Obstacle::Impossible(format!("`{name}` takes {expected}, and “{}” is none.", written.trim()))
}

pub(crate) fn put_default(settings: &mut Map<String, Value>, value: Value) {
    settings.insert("value".to_owned(), value);
}

/// The value of an input of this type; `Err` says what it takes.
pub(crate) fn typed(kind: &str, written: &str) -> Result<Value, &'static str> {
    let text = unquoted(written);
    let lower = text.to_lowercase();
    match kind {
        "number" => first_number(text).ok_or("a number"),
        "boolean" => match lower.as_str() {
            "on" | "true" | "yes" => Ok(json!(true)),
            "off" | "false" | "no" => Ok(json!(false)),
            _ => Err("yes or no"),
        },
        "table" => {
            serde_json::from_str::<Value>(text).ok().filter(Value::is_array).ok_or("a table")
        }
        "any" => Ok(literal(text)),
        _ => Ok(json!(text)),
    }
}

/// `19`, `19 %` and `EUR 19` are the number 19. More words would say something else as well.
fn first_number(text: &str) -> Option<Value> {
    let mut words = text.split_whitespace().take(MAX_NUMBER_WORDS + 1);
    let is_short =
        words.clone().count() <= MAX_NUMBER_WORDS && words.clone().all(|word| word != "and");
    let number = words.find_map(words::number).filter(|_| is_short)?;
    Some(as_json(number))
}

/// A number if the text is one, otherwise the text.
fn literal(text: &str) -> Value {
    let text = unquoted(text);
    let plain = text.trim_end_matches('%').trim();
    words::number(plain).map_or_else(|| json!(text), as_json)
}

fn as_json(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => json!(number as i64),
        false => json!(number),
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    match quoted(text)[..] {
        [only] => only,
        _ => text,
    }
}
