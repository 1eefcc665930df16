//! Finds what a sentence means by "the tax" or "sending": an input, a step, an output or a setting of a step.

use graphs::spec::AgentSpec;

/// Words of a sentence that name nothing.
const FILLERS: &[&str] = &[
    "the",
    "a",
    "an",
    "its",
    "my",
    "of",
    "for",
    "default",
    "value",
    "input",
    "output",
    "step",
    "in",
    "is",
    "it",
    "called",
    "named",
    "to",
    "setting",
    "be",
    "this",
    "that",
    "are",
    "return",
    "returns",
    "returning",
    "returned",
    "show",
    "showing",
];

/// The words of a name or a phrase that matter, in their basic form.
pub(crate) fn key_words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric());
    let words = split.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !FILLERS.contains(&word.as_str())).map(|word| basic_form(&word)).collect()
}

/// `sending`, `sends` and `sent` are `send`; good enough to compare words.
fn basic_form(word: &str) -> String {
    match word {
        "sent" => return "send".to_owned(),
        "percentage" | "percents" | "%" => return "percent".to_owned(),
        _ => {}
    }
    for (ending, replacement) in [("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 3) {
            return format!("{stem}{replacement}").trim_end_matches('e').to_owned();
        }
    }
    word.trim_end_matches('e').to_owned()
}

/// How well a candidate's names fit the words: 0 if a word is missing.
fn fit(wanted: &[String], names: &[&str]) -> usize {
    if wanted.is_empty() {
        return 0;
    }
    let of_name = |name: &str| {
        let words = key_words(name);
        let all = wanted.iter().all(|wanted| words.contains(wanted));
        match (all, words.len() == wanted.len()) {
            (true, true) => 3,
            (true, false) => 2,
            (false, _) => 0,
        }
    };
    names.iter().map(|name| of_name(name)).max().unwrap_or(0)
}

/// The candidates that fit best. Several of them: the words are ambiguous.
pub(crate) fn best<'a>(
    words: &str,
    candidates: impl Iterator<Item = (&'a str, Vec<&'a str>)>,
) -> Vec<&'a str> {
    let wanted = key_words(words);
    let mut found: Vec<(usize, &str)> = candidates
        .map(|(name, names)| (fit(&wanted, &names), name))
        .filter(|(fit, _)| *fit > 0)
        .collect();
    let highest = found.iter().map(|(fit, _)| *fit).max().unwrap_or(0);
    found.retain(|(fit, _)| *fit == highest);
    found.into_iter().map(|(_, name)| name).collect()
}

pub(crate) fn inputs<'a>(spec: &'a AgentSpec, words: &str) -> Vec<&'a str> {
    let names = spec.inputs.iter().map(|(name, input)| {
        let title = input.settings.get("title").and_then(|title| title.as_str());
        (name.as_str(), [Some(name.as_str()), title].into_iter().flatten().collect())
    });
    best(words, names)
}

pub(crate) fn steps<'a>(spec: &'a AgentSpec, words: &str) -> Vec<&'a str> {
    let names = spec.steps.iter().map(|(name, step)| {
        (
            name.as_str(),
            [Some(name.as_str()), step.label.as_deref()].into_iter().flatten().collect(),
        )
    });
    best(words, names)
}

pub(crate) fn outputs<'a>(spec: &'a AgentSpec, words: &str) -> Vec<&'a str> {
    best(words, spec.outputs.iter().map(|(name, _)| (name.as_str(), vec![name.as_str()])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_names_in_other_forms() {
        for (words, names, expected) in [
            ("the tax", vec!["tax_percent", "Tax in percent"], 2),
            ("sending", vec!["send"], 3),
            ("tax percentage", vec!["tax_percent"], 3),
            ("the rate", vec!["tax_percent"], 0),
            ("the", vec!["the"], 0),
        ] {
            assert_eq!(fit(&key_words(words), &names), expected, "{words}");
        }
    }
}
