//! `{{…}}` in texts: where they are, and what they refer to. Blocks that fill templates take the values by name; for all
//! other pins, `compile` adds a step that fills the text.

use std::collections::BTreeMap;

use protocol::graph::KEY_MARK;

use crate::reference::{INPUTS, Reference, Source, is_plain_name};

/// The block that fills a text with values, and its pins.
pub const FILL_TEXT: &str = "db7d8f02-2f44-4c55-ab7a-eae0941f0c30";
pub const FILL_TEXT_FORMAT: &str = "format";
pub const FILL_TEXT_VALUES: &str = "values";

/// Blocks that fill texts themselves: (block, pin of the text, pin of the values).
const TEMPLATE_PINS: [(&str, &str, &str); 5] = [
    (FILL_TEXT, FILL_TEXT_FORMAT, FILL_TEXT_VALUES),
    ("1f292d4a-41a4-4977-9684-7c8d560b9f91", "prompt", "prompt_values"),
    ("1f292d4a-41a4-4977-9684-7c8d560b9f91", "sys_prompt", "prompt_values"),
    ("ed55ac19-356e-4243-a6cb-bc599e9b716f", "prompt", "prompt_values"),
    ("ed55ac19-356e-4243-a6cb-bc599e9b716f", "sys_prompt", "prompt_values"),
];

/// The pin with the values for the template in this pin, if the block fills it.
pub fn values_pin(block: &str, pin: &str) -> Option<&'static str> {
    let found = TEMPLATE_PINS.iter().find(|(id, text, _)| *id == block && *text == pin);
    found.map(|(.., values)| *values)
}

/// The pins of templates whose values are in this pin.
pub fn template_pins(block: &str, values: &str) -> impl Iterator<Item = &'static str> {
    let found = TEMPLATE_PINS.iter().filter(move |(id, _, pin)| *id == block && *pin == values);
    found.map(|(_, text, _)| *text)
}

/// The template pins of a block, each with the pin of its values.
pub fn template_pairs(block: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let found = TEMPLATE_PINS.iter().filter(move |(id, ..)| *id == block);
    found.map(|(_, text, values)| (*text, *values))
}

/// The names that a text may refer to.
pub trait KnownNames {
    fn is_step(&self, name: &str) -> bool;
    fn is_input(&self, name: &str) -> bool;
}

/// The whole text as a reference, if it is one to a known step or to the inputs.
pub fn whole_reference(text: &str, names: &dyn KnownNames) -> Option<Reference> {
    let reference = Reference::parse(text)?;
    let is_known = reference.root() == INPUTS || names.is_step(reference.root());
    is_known.then_some(reference)
}

/// The references in the placeholders of a text, by the name under which the template expects the value: `page.response`
/// is expected as the member `response` of `page`.
pub fn references(text: &str, names: &dyn KnownNames) -> BTreeMap<String, Reference> {
    heads(text).filter_map(|head| named(head, names)).collect()
}

/// The first parts of the expressions between `{{` and `}}`, before any filter.
pub(crate) fn heads(text: &str) -> impl Iterator<Item = &str> {
    expressions(text).map(|expression| expression.split('|').next().unwrap_or_default().trim())
}

/// The text with other first parts of the expressions between `{{` and `}}`; `None` leaves one as it is.
pub(crate) fn replace_heads(text: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let mut pieces = text.split("{{");
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        replaced.push_str("{{");
        let Some((expression, rest)) = piece.split_once("}}") else {
            replaced.push_str(piece);
            continue;
        };
        let end = expression.find('|').unwrap_or(expression.len());
        let head = expression[..end].trim();
        let start = expression.len() - expression.trim_start().len();
        match replace(head).filter(|_| !head.is_empty()) {
            Some(new) => {
                let after = &expression[start + head.len()..];
                replaced.extend([&expression[..start], &new, after]);
            }
            None => replaced.push_str(expression),
        }
        replaced.extend(["}}", rest]);
    }
    replaced
}

/// What the first part of an expression refers to, and its name in the template.
pub(crate) fn named(head: &str, names: &dyn KnownNames) -> Option<(String, Reference)> {
    if is_plain_name(head) {
        return names.is_input(head).then(|| (head.to_owned(), Reference::input(head)));
    }
    let found = Reference::parse(head)?;
    match found.source {
        // `harbor.street`, where `harbor` is an input.
        Source::Pin { step, .. } if names.is_input(&step) => {
            Some((step.clone(), Reference::input(&step)))
        }
        Source::Pin { step, pin } if names.is_step(&step) => {
            let name = format!("{step}{KEY_MARK}{pin}");
            Some((name, Reference { source: Source::Pin { step, pin }, path: String::new() }))
        }
        Source::Pin { .. } => None,
        Source::Input(name) => Some((format!("{INPUTS}{KEY_MARK}{name}"), Reference::input(&name))),
    }
}

/// The expressions between `{{` and `}}`.
fn expressions(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;

    impl KnownNames for Names {
        fn is_step(&self, name: &str) -> bool {
            name == "page"
        }

        fn is_input(&self, name: &str) -> bool {
            name == "harbor" || name == "Due date"
        }
    }

    #[test]
    fn placeholders_refer_to_inputs_and_steps() {
        let text = "{{harbor}} {{ harbor.street }} {{ page.response | upper }} {{inputs[\"Due date\"]}} {{ other }} {{ x.y }}";
        let found: Vec<(String, String)> = references(text, &Names)
            .into_iter()
            .map(|(name, reference)| (name, reference.to_string()))
            .collect();
        let expected = [
            ("harbor", "inputs.harbor"),
            ("inputs_#_Due date", "inputs[\"Due date\"]"),
            ("page_#_response", "page.response"),
        ];
        assert_eq!(found, expected.map(|(name, to)| (name.to_owned(), to.to_owned())));
    }

    #[test]
    fn a_text_is_a_reference_only_to_known_names() {
        assert!(whole_reference("page.response", &Names).is_some());
        assert!(whole_reference("inputs.anything", &Names).is_some());
        assert!(whole_reference("example.org", &Names).is_none());
    }
}
