//! Values as a difference shows them: secrets are hidden, long values are cut.

use std::collections::HashSet;

use protocol::NodeId;
use protocol::graph::Graph;
use protocol::redact::is_sensitive;
use protocol::secret::{HIDDEN, SecretText};
use protocol::text::cut_end;
use serde_json::{Value, json};

use crate::AGENT_EXECUTOR;
use crate::catalog::BlockSpecs;
use crate::pins;
use crate::placeholders::{KnownNames, whole_reference};
use crate::secrets;
use crate::spec::{ANY_OF, tagged};

/// How much of a value is shown.
pub(crate) const MAX_CHARS: usize = 400;
/// How much of what two long texts have in common is shown before their difference.
const CONTEXT_CHARS: usize = 40;

/// The pins of a graph whose settings contain secrets.
pub(crate) struct SecretPins(HashSet<(NodeId, String)>);

impl SecretPins {
    pub(crate) fn of(graph: &Graph, blocks: &dyn BlockSpecs) -> Self {
        let mut without =
            Graph { nodes: graph.nodes.clone(), sub_graphs: Vec::new(), ..graph.clone() };
        secrets::remove(&mut without, blocks);
        let mut found = HashSet::new();
        for (node, without) in graph.nodes.iter().zip(&without.nodes) {
            for (pin, value) in &node.input_default {
                let left = without.input_default.get(pin);
                if left == Some(value) {
                    continue;
                }
                found.insert((node.id.clone(), pins::base(pin).to_owned()));
                // The inputs of another agent are pins of the step.
                let inputs = value.as_object().filter(|_| node.block_id.as_str() == AGENT_EXECUTOR);
                for (input, value) in inputs.into_iter().flatten() {
                    if left.and_then(|left| left.get(input)) != Some(value) {
                        found.insert((node.id.clone(), input.clone()));
                    }
                }
            }
        }
        Self(found)
    }

    fn has(&self, node: Option<&NodeId>, pin: &str) -> bool {
        node.is_some_and(|node| self.0.contains(&(node.clone(), pins::base(pin).to_owned())))
    }
}

/// Secrets of either graph, which are hidden wherever they appear.
#[derive(Default)]
pub(crate) struct SecretTexts(Vec<SecretText>);

impl SecretTexts {
    pub(crate) fn of(graphs: [&Graph; 2], blocks: &dyn BlockSpecs) -> Self {
        let mut texts: Vec<String> =
            graphs.iter().flat_map(|graph| secrets::secret_texts(graph, blocks)).collect();
        // A secret that contains another one is hidden as a whole.
        texts.sort_by_key(|text| (std::cmp::Reverse(text.len()), text.clone()));
        texts.dedup();
        Self(texts.into_iter().map(SecretText::from).collect())
    }

    pub(crate) fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |masked, secret| secret.removed_from(&masked))
    }

    /// Masks all texts of a value.
    pub(crate) fn mask_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.mask(text)),
            Value::Array(items) => items.iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, member)| (key.clone(), self.mask_value(member))).collect()
            }
            other => other.clone(),
        }
    }
}

/// A value of a spec, and where it is.
pub(crate) struct PinPlace<'a> {
    pub(crate) texts: &'a SecretTexts,
    pub(crate) secrets: &'a SecretPins,
    pub(crate) names: &'a dyn KnownNames,
    pub(crate) node: Option<&'a NodeId>,
    pub(crate) pin: &'a str,
}

impl PinPlace<'_> {
    pub(crate) fn hide(&self, value: &Value) -> Value {
        match self.secrets.has(self.node, self.pin) {
            true => json!(HIDDEN),
            false => self.texts.mask_value(&hide(value, is_sensitive(self.pin), self.names)),
        }
    }
}

/// Hides members with sensitive names. References and numbers are no secrets: `max_tokens` is shown.
fn hide(value: &Value, is_secret: bool, names: &dyn KnownNames) -> Value {
    match value {
        Value::String(text) if is_secret => match whole_reference(text, names) {
            Some(_) => value.clone(),
            None => json!(HIDDEN),
        },
        value if tagged(value, ANY_OF).is_some() => value.clone(),
        Value::Array(items) => items.iter().map(|item| hide(item, is_secret, names)).collect(),
        Value::Object(members) => {
            let hidden = members.iter().map(|(key, member)| {
                (key.clone(), hide(member, is_secret || is_sensitive(key), names))
            });
            Value::Object(hidden.collect())
        }
        other => other.clone(),
    }
}

/// The value, cut at the end if it is long.
pub(crate) fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(cut_end(text, MAX_CHARS)),
        other => {
            let text = other.to_string();
            match text.chars().count() > MAX_CHARS {
                true => json!(cut_end(&text, MAX_CHARS)),
                false => other.clone(),
            }
        }
    }
}

/// Two different values. Of long texts, what they begin with in common is cut, too, so that the difference shows.
pub(crate) fn cut_both(from: Option<Value>, to: Option<Value>) -> (Option<Value>, Option<Value>) {
    if let (Some(Value::String(a)), Some(Value::String(b))) = (&from, &to) {
        let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        let is_long = a.chars().count().max(b.chars().count()) > MAX_CHARS;
        if is_long && common > CONTEXT_CHARS {
            let start = common - CONTEXT_CHARS;
            let rest = |text: &str| {
                let rest: String = text.chars().skip(start).collect();
                Some(cut(&json!(format!("…{rest}"))))
            };
            return (rest(a), rest(b));
        }
    }
    (from.as_ref().map(cut), to.as_ref().map(cut))
}
