//! Renames a step, an input or an output of a spec, together with all references to it.

use serde_json::Value;

use super::references::{GivenNames, StepBlocks, head_reference};
use super::{ANY_OF, AgentSpec, LITERAL};
use crate::names::NodeName;
use crate::placeholders::{KnownNames, replace_heads, whole_reference};
use crate::reference::{INPUTS, Reference, Source, is_plain_name};

/// The new name must be valid and free. `Err` is the path of a text in which it already means something else; the spec is
/// useless then.
pub(crate) fn rename(
    spec: &mut AgentSpec,
    blocks: &StepBlocks<'_>,
    from: &NodeName,
    to: &str,
) -> Result<(), String> {
    match from {
        NodeName::Input(name) => change_key(&mut spec.inputs, name, to),
        NodeName::Step(name) => change_key(&mut spec.steps, name, to),
        NodeName::Output(name) => change_key(&mut spec.outputs, name, to),
        NodeName::Text(_) => {}
    }
    if matches!(from, NodeName::Output(_)) {
        return Ok(());
    }
    let renaming = Renaming { from, to };
    for (name, step) in &mut spec.steps {
        let block = blocks.of(step);
        let given: Vec<GivenNames> =
            step.pins.keys().map(|pin| GivenNames::of(step, block, pin)).collect();
        for ((pin, value), given) in step.pins.iter_mut().zip(given) {
            renaming.value(value, &given).map_err(|_| format!("steps.{name}.{pin}"))?;
        }
    }
    for (_, output) in &mut spec.outputs {
        if let Some(value) = &mut output.from {
            // Nothing is given to the text of an output.
            let _ = renaming.value(value, &GivenNames::none());
        }
    }
    Ok(())
}

fn change_key<T>(entries: &mut [(String, T)], from: &str, to: &str) {
    if let Some((name, _)) = entries.iter_mut().find(|(name, _)| name == from) {
        *name = to.to_owned();
    }
}

struct Renaming<'a> {
    from: &'a NodeName,
    to: &'a str,
}

/// The new name is already a name in the template.
struct Ambiguous;

impl Renaming<'_> {
    fn value(&self, value: &mut Value, given: &GivenNames) -> Result<(), Ambiguous> {
        match value {
            Value::String(text) => {
                // Other names may be written with escapes.
                if is_plain_name(self.from.as_str()) && !text.contains(self.from.as_str()) {
                    return Ok(());
                }
                *text = match whole_reference(text, self).and_then(|found| self.renamed(found)) {
                    Some(reference) => reference.to_string(),
                    None => self.text(text, given)?,
                };
            }
            Value::Array(items) => {
                for item in items {
                    self.value(item, given)?;
                }
            }
            Value::Object(members) => {
                let is_alone = members.len() == 1;
                for (key, member) in members {
                    match key.as_str() {
                        LITERAL if is_alone => {}
                        // References only: texts are not filled there.
                        ANY_OF if is_alone => self.value(member, &GivenNames::All)?,
                        _ => self.value(member, given)?,
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&self, text: &str, given: &GivenNames) -> Result<String, Ambiguous> {
        let replaced = replace_heads(text, |head| {
            let reference = self.renamed(head_reference(head, self, given)?)?;
            let is_qualified = Reference::parse(head).is_some_and(|found| found.root() == INPUTS);
            Some(match (&reference.source, self.from) {
                (Source::Input(_), NodeName::Input(old)) if !is_qualified => {
                    let rest = &head[old.len()..];
                    match is_plain_name(self.to) && self.to != INPUTS {
                        true => format!("{}{rest}", self.to),
                        false => format!("{}{rest}", Reference::input(self.to)),
                    }
                }
                // What follows the name is kept as it is written.
                (Source::Pin { .. }, _) => {
                    format!("{}{}", self.to, &head[self.from.as_str().len()..])
                }
                _ => self.renamed(Reference::parse(head)?)?.to_string(),
            })
        });
        match replaced != text && given.has(self.to) {
            true => Err(Ambiguous),
            false => Ok(replaced),
        }
    }

    /// The reference with the new name, if it is one to what is renamed.
    fn renamed(&self, reference: Reference) -> Option<Reference> {
        let source = match (reference.source, self.from) {
            (Source::Input(name), NodeName::Input(old)) if name == *old => {
                Source::Input(self.to.to_owned())
            }
            (Source::Pin { step, pin }, NodeName::Step(old)) if step == *old => {
                Source::Pin { step: self.to.to_owned(), pin }
            }
            _ => return None,
        };
        Some(Reference { source, path: reference.path })
    }
}

/// Only what is renamed matters here.
impl KnownNames for Renaming<'_> {
    fn is_step(&self, name: &str) -> bool {
        matches!(self.from, NodeName::Step(known) if known == name)
    }

    fn is_input(&self, name: &str) -> bool {
        matches!(self.from, NodeName::Input(known) if known == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::{read, to_value};
    use crate::validate::fixtures::TestBlocks;

    fn renamed(value: Value, from: &NodeName, to: &str) -> Value {
        let document = json!({
            "name": "",
            "inputs": {"city": "string"},
            "steps": {"page": {"block": "pass"}, "other": {"block": "pass", "input": value}},
        });
        let mut spec = read(&document).expect("a spec");
        let blocks = TestBlocks::default();
        rename(&mut spec, &StepBlocks::new(&blocks), from, to).expect("renamed");
        to_value(&spec)["steps"]["other"]["input"].clone()
    }

    #[test]
    fn references_are_renamed_wherever_they_are() {
        let page = NodeName::Step("page".to_owned());
        let city = NodeName::Input("city".to_owned());
        let table = [
            (&page, "site", json!("page.output.a[0]"), json!("site.output.a[0]")),
            (&page, "site", json!("pages.output"), json!("pages.output")),
            (
                &page,
                "site",
                json!("see {{ page.output.x|upper }} page"),
                json!("see {{ site.output.x|upper }} page"),
            ),
            (
                &page,
                "site",
                json!("{{page}} {{ pages.x }} {{page.x"),
                json!("{{page}} {{ pages.x }} {{page.x"),
            ),
            (
                &page,
                "site",
                json!({"$any": ["page.a", "inputs.city"]}),
                json!({"$any": ["site.a", "inputs.city"]}),
            ),
            (&page, "site", json!([{"k": "page.a"}, 1]), json!([{"k": "site.a"}, 1])),
            (&page, "site", json!({"$literal": "page.a"}), json!({"$literal": "page.a"})),
            (&city, "town", json!("inputs.city"), json!("inputs.town")),
            (
                &city,
                "town",
                json!("{{city}} {{ city.x }} {{ inputs.city }}"),
                json!("{{town}} {{ town.x }} {{ inputs.town }}"),
            ),
            (
                &city,
                "Old town",
                json!("{{city}} {{city.x}}"),
                json!("{{inputs[\"Old town\"]}} {{inputs[\"Old town\"].x}}"),
            ),
            (&city, "inputs", json!("{{city.x}}"), json!("{{inputs.inputs.x}}")),
        ];
        for (from, to, before, after) in table {
            assert_eq!(renamed(before.clone(), from, to), after, "{before}");
        }
    }
}
