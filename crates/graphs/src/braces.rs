//! Placeholders with wrong braces: `{name}` and `{ {name} }` instead of `{{name}}`.

use std::collections::HashSet;

use crate::reference::is_plain_name;

/// The text with two braces around the names that have a value; `None` if nothing has to be repaired. Anything else in
/// braces, such as JSON, stays as it is, and so do the tags of templates.
pub(crate) fn repaired(text: &str, names: &HashSet<String>) -> Option<String> {
    let mut rest = text;
    let mut done = String::with_capacity(text.len() + 8);
    let mut is_changed = false;
    while let Some(at) = rest.find('{') {
        done.push_str(&rest[..at]);
        rest = &rest[at..];
        let tags = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];
        if let Some((_, close)) = tags.iter().find(|(open, _)| rest.starts_with(open)) {
            let end = rest[2..].find(close).map_or(rest.len(), |end| 2 + end + close.len());
            done.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        match placeholder(rest).filter(|(name, _)| names.contains(*name)) {
            Some((name, length)) => {
                done.extend(["{{", name, "}}"]);
                rest = &rest[length..];
                is_changed = true;
            }
            None => {
                done.push('{');
                rest = &rest[1..];
            }
        }
    }
    done.push_str(rest);
    is_changed.then_some(done)
}

/// The name in `{name}` or `{ {name} }` at the start of a text, and the length of the whole.
fn placeholder(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix('{')?.trim_start_matches(' ');
    let (inner, closes) = match inner.strip_prefix('{') {
        Some(inner) => (inner.trim_start_matches(' '), 2),
        None => (inner, 1),
    };
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, mut rest) = inner.split_at(end);
    for _ in 0..closes {
        rest = rest.trim_start_matches(' ').strip_prefix('}')?;
    }
    is_plain_name(name).then_some((name, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_value_get_two_braces() {
        let names: HashSet<String> = ["a", "page"].map(str::to_owned).into();
        let table = [
            ("{a} and { page }", Some("{{a}} and {{page}}")),
            ("{ {a} } { { page } }", Some("{{a}} {{page}}")),
            ("{{a}} {{ page }}", None),
            ("{b} {\"a\": 1} {a: 1} {a", None),
            ("{% if a %}{a}{% endif %}", Some("{% if a %}{{a}}{% endif %}")),
            ("{# {a} #} {{ {a} }}", None),
            ("no braces", None),
            ("{", None),
        ];
        for (text, expected) in table {
            assert_eq!(repaired(text, &names).as_deref(), expected, "{text}");
            if let Some(done) = repaired(text, &names) {
                assert_eq!(repaired(&done, &names), None, "{text} is repaired at once");
            }
        }
    }
}
