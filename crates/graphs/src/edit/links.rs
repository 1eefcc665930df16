//! Links as values of a spec: a reference, or `$any` with several.

use serde_json::{Map, Value, json};

use super::pin_value;
use crate::placeholders::{KnownNames, whole_reference};
use crate::reference::Reference;
use crate::spec::references::{GivenNames, collect};
use crate::spec::{ANY_OF, tagged};

/// Why a link could not be added or removed.
pub(crate) enum LinkRefusal {
    /// The pin has it already.
    Exists,
    /// The pin has no such link, but these.
    Missing(Vec<String>),
    /// The value of the pin is a text, a list or an object with references in it.
    Composed,
}

/// Adds a link to a pin. A literal value of the pin is replaced, because it would have no effect.
pub(crate) fn connect(
    pins: &mut Map<String, Value>,
    sink: &str,
    from: &Reference,
    names: &dyn KnownNames,
) -> Result<(), LinkRefusal> {
    let present = pin_value::get(pins, sink);
    if present.is_some_and(|value| is_composed(value, names)) {
        return Err(LinkRefusal::Composed);
    }
    let mut links = present.map(|value| references(value, names)).unwrap_or_default();
    if links.contains(from) {
        return Err(LinkRefusal::Exists);
    }
    links.push(from.clone());
    pin_value::set(pins, sink, as_value(&links));
    Ok(())
}

/// Removes one link of a pin.
pub(crate) fn disconnect(
    pins: &mut Map<String, Value>,
    sink: &str,
    from: &Reference,
    names: &dyn KnownNames,
) -> Result<(), LinkRefusal> {
    let present = pin_value::get(pins, sink);
    let mut links = present.map(|value| references(value, names)).unwrap_or_default();
    let Some(at) = links.iter().position(|link| link == from) else {
        return Err(match present.is_some_and(|value| is_composed(value, names)) {
            true => LinkRefusal::Composed,
            false => LinkRefusal::Missing(links.iter().map(Reference::to_string).collect()),
        });
    };
    links.remove(at);
    match links.is_empty() {
        true => pin_value::clear(pins, sink),
        false => pin_value::set(pins, sink, as_value(&links)),
    }
    Ok(())
}

fn references(value: &Value, names: &dyn KnownNames) -> Vec<Reference> {
    let texts = match (value, tagged(value, ANY_OF)) {
        (Value::String(text), _) => vec![text.as_str()],
        (_, Some(all)) => all.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().filter_map(|text| whole_reference(text, names)).collect()
}

fn is_composed(value: &Value, names: &dyn KnownNames) -> bool {
    let mut found = Vec::new();
    collect(value, String::new(), names, &GivenNames::none(), &mut found);
    found.iter().any(|found| found.in_text || !found.sink.is_empty())
}

fn as_value(links: &[Reference]) -> Value {
    match links {
        [only] => json!(only.to_string()),
        several => {
            json!({ ANY_OF: several.iter().map(Reference::to_string).collect::<Vec<_>>() })
        }
    }
}
