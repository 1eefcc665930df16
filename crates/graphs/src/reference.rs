//! References in an agent spec: `step.pin`, `inputs.name`, and paths into their values such as `page.response.rows[0]`.

use std::fmt;

use protocol::graph::{INDEX_MARK, KEY_MARK};

use crate::pins::{self, PathStep};

/// The first part of a reference to an input of the agent.
pub const INPUTS: &str = "inputs";

/// A value of another step, or an input of the agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    pub source: Source,
    /// The path into the value, as in the names of pins: `_#_rows_$_0`. Empty for the whole value.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    Input(String),
    Pin { step: String, pin: String },
}

impl Reference {
    pub fn input(name: &str) -> Self {
        Self { source: Source::Input(name.to_owned()), path: String::new() }
    }

    pub fn pin(step: &str, name: &str) -> Self {
        let base = pins::base(name);
        let source = Source::Pin { step: step.to_owned(), pin: base.to_owned() };
        Self { source, path: name[base.len()..].to_owned() }
    }

    /// Reads `step.pin…` or `inputs.name…`; `None` if the text is not written like a reference. Whether the step exists is
    /// not known here.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = read_parts(text)?;
        if parts.len() < 2 {
            return None;
        }
        let rest = parts.split_off(2);
        let [Part::Key(step), Part::Key(pin)] = <[Part; 2]>::try_from(parts).ok()? else {
            return None;
        };
        let source = match step == INPUTS {
            true => Source::Input(pin),
            false => Source::Pin { step, pin },
        };
        let mut path = String::new();
        for part in rest {
            match part {
                Part::Key(key) => path.extend([KEY_MARK, &key]),
                Part::Index(index) => path.extend([INDEX_MARK, &index.to_string()]),
            }
        }
        // The marks of pin names cannot be part of a key.
        pins::steps(&format!("x{path}")).ok()?;
        Some(Self { source, path })
    }

    /// The name of the step, or `inputs`.
    pub fn root(&self) -> &str {
        match &self.source {
            Source::Input(_) => INPUTS,
            Source::Pin { step, .. } => step,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (root, name) = match &self.source {
            Source::Input(name) => (INPUTS, name),
            Source::Pin { step, pin } => (step.as_str(), pin),
        };
        f.write_str(root)?;
        write_key(f, name)?;
        for step in pins::steps(&format!("x{}", self.path)).unwrap_or_default() {
            match step {
                PathStep::Key(key) => write_key(f, key)?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    match is_plain_name(key) {
        true => write!(f, ".{key}"),
        false => write!(f, "[{}]", serde_json::Value::from(key)),
    }
}

/// Whether the name can stand in a reference without quotes: ASCII letters, digits and `_`, not beginning with a digit.
/// Templates have the same rule, so that a reference means the same in a text.
pub fn is_plain_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

enum Part {
    Key(String),
    Index(usize),
}

/// Splits `a.b["c d"][0]` into its parts.
fn read_parts(text: &str) -> Option<Vec<Part>> {
    let first = text.split(['.', '[']).next().filter(|name| is_plain_name(name))?;
    let mut parts = vec![Part::Key(first.to_owned())];
    let mut rest = &text[first.len()..];
    while !rest.is_empty() {
        if parts.len() > pins::MAX_STEPS + 2 {
            return None;
        }
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let key = &after[..end];
            if !is_plain_name(key) {
                return None;
            }
            parts.push(Part::Key(key.to_owned()));
            rest = &after[end..];
        } else {
            let inner = rest.strip_prefix('[')?;
            let mut values = serde_json::Deserializer::from_str(inner).into_iter();
            parts.push(match values.next()?.ok()? {
                serde_json::Value::String(key) if !key.is_empty() => Part::Key(key),
                serde_json::Value::Number(index) => {
                    Part::Index(usize::try_from(index.as_u64()?).ok()?)
                }
                _ => return None,
            });
            rest = inner[values.byte_offset()..].strip_prefix(']')?;
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_written_alike() {
        for text in [
            "page.response",
            "inputs.harbour",
            "page.response.rows[0].price",
            "page[\"odd name\"][\"a b\"][12]",
            "inputs[\"Due date\"]",
            "step_2.out_put",
        ] {
            let read = Reference::parse(text).expect(text);
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_not_references() {
        for text in [
            "",
            "page",
            "page.",
            ".page",
            "page response",
            "https://a.b",
            "3.5",
            "a.b c",
            "a..b",
            "a[0]",
            "a.b[",
            "a.b[x]",
            "a.b[-1]",
            "a.b[\"_#_\"]",
            "a.b!",
            "e.g., this",
        ] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }
}
