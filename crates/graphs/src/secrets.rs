//! Secrets in the settings of an agent: keys and passwords are removed when the agent is exported or published.

use protocol::NodeId;
use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::{Graph, KEY_MARK, Node};
use serde_json::{Map, Value};

use crate::catalog::BlockSpecs;
use crate::pins::{self, PathStep};
use crate::validate::node_pins;

/// Suffixes of the names of pins that hold secrets.
const SECRET_ENDINGS: [&str; 4] = ["api_key", "credentials", "password", "secret_token"];
/// The pin of HTTP headers, and the headers that hold credentials.
const HEADERS: &str = "headers";
const SECRET_HEADERS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];
/// The pin with the inputs of a nested agent.
const INPUTS: &str = "inputs";

/// Removes the secrets from the settings of all nodes, including those of nested agents.
pub fn remove(graph: &mut Graph, blocks: &dyn BlockSpecs) {
    for node in &mut graph.nodes {
        let locations = locations(node, blocks.spec(&node.block_id));
        locations.into_iter().for_each(|location| location.clear(&mut node.input_default));
    }
    graph.sub_graphs.iter_mut().for_each(|inner| remove(inner, blocks));
}

/// The nodes of the graph, and of the agents inside it, whose settings contain secrets.
pub fn secret_nodes(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<NodeId> {
    let holds = |node: &&Node| !locations(node, blocks.spec(&node.block_id)).is_empty();
    let own = graph.nodes.iter().filter(holds).map(|node| node.id.clone());
    own.chain(graph.sub_graphs.iter().flat_map(|inner| secret_nodes(inner, blocks))).collect()
}

/// The shortest text that counts as a secret wherever it appears: shorter ones appear by chance.
const MIN_CHARS: usize = 4;

/// The texts that are secrets: the values of pins and inputs that hold one, and the parts of a header such as
/// `Bearer …`.
pub(crate) fn secret_texts(graph: &Graph, blocks: &dyn BlockSpecs) -> Vec<String> {
    let mut texts = Vec::new();
    for node in &graph.nodes {
        for location in locations(node, blocks.spec(&node.block_id)) {
            let value = match &location {
                SecretLocation::Pin(pin) => node.input_default.get(pin).cloned(),
                SecretLocation::Member { pin, key } => {
                    let of_pin = node.input_default.get(pin).and_then(members);
                    of_pin.and_then(|members| members.get(key).cloned())
                }
            };
            add_texts(&value.unwrap_or_default(), &mut texts);
        }
    }
    texts.extend(graph.sub_graphs.iter().flat_map(|inner| secret_texts(inner, blocks)));
    texts
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let last = text.split_whitespace().next_back().unwrap_or_default();
            for secret in [text.trim(), last] {
                if secret.chars().count() >= MIN_CHARS && !secret.contains("{{") {
                    texts.push(secret.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|member| add_texts(member, texts)),
        Value::Number(number) if number.to_string().len() >= MIN_CHARS => {
            texts.push(number.to_string());
        }
        _ => {}
    }
}

/// The pins of a node whose settings contain a secret, as pin names: `api_key`, `headers_#_Authorization`.
pub(crate) fn secret_pins(node: &Node, spec: Option<&BlockSpec>) -> Vec<String> {
    let name = |location| match location {
        SecretLocation::Pin(pin) => pin,
        SecretLocation::Member { pin, key } => format!("{pin}{KEY_MARK}{key}"),
    };
    locations(node, spec).into_iter().map(name).collect()
}

/// Where a node's settings contain a secret.
enum SecretLocation {
    Pin(String),
    Member { pin: String, key: String },
}

impl SecretLocation {
    fn clear(self, settings: &mut Map<String, Value>) {
        match self {
            Self::Pin(pin) => {
                settings.remove(&pin);
            }
            Self::Member { pin, key } => {
                let Some(mut members) = settings.get(&pin).and_then(members) else { return };
                members.remove(&key);
                settings.insert(pin, Value::Object(members));
            }
        }
    }
}

fn locations(node: &Node, spec: Option<&BlockSpec>) -> Vec<SecretLocation> {
    let mut locations = Vec::new();
    for (pin, value) in node.input_default.iter().filter(|(_, value)| is_set(value)) {
        if is_secret(node, spec, pin) {
            locations.push(SecretLocation::Pin(pin.clone()));
            continue;
        }
        let keys = members(value).into_iter().flatten().filter(|(_, value)| is_set(value));
        let secret = keys.filter(|(key, _)| is_secret_member(node, spec, pin, key));
        locations.extend(secret.map(|(key, _)| SecretLocation::Member { pin: pin.clone(), key }));
    }
    locations
}

fn is_secret(node: &Node, spec: Option<&BlockSpec>, name: &str) -> bool {
    let pin = pins::base(name);
    let is_hidden_value = || {
        // The author of an input marks whether its value is secret.
        let is_input = spec.is_some_and(|spec| spec.kind == BlockKind::Input);
        is_input && pin == "value" && node.input_default.get("secret") == Some(&Value::Bool(true))
    };
    let inner = match pins::steps(name).unwrap_or_default().as_slice() {
        [PathStep::Key(key), ..] => is_secret_member(node, spec, pin, key),
        _ => false,
    };
    inner || is_secret_pin(node, spec, pin) || is_hidden_value()
}

fn is_secret_pin(node: &Node, spec: Option<&BlockSpec>, pin: &str) -> bool {
    let schema = spec.and_then(|spec| node_pins::schema(node, spec, pin));
    let is_marked = schema.and_then(|schema| schema.get("secret")) == Some(&Value::Bool(true));
    let name = pin.to_ascii_lowercase();
    is_marked || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_secret_member(node: &Node, spec: Option<&BlockSpec>, pin: &str, key: &str) -> bool {
    let is_agent = spec.is_some_and(|spec| spec.kind == BlockKind::Agent);
    match pin {
        HEADERS => SECRET_HEADERS.contains(&key.to_ascii_lowercase().as_str()),
        INPUTS if is_agent => is_secret_pin(node, spec, key),
        _ => false,
    }
}

/// The members of an object, which may be written as JSON text.
fn members(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    }
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::validate::fixtures::{TestBlocks, graph};

    fn settings_without_secrets(block: &str, settings: Value) -> Value {
        let node = json!({"id": "n", "block_id": block, "input_default": settings});
        let mut graph = graph(json!({"nodes": [node]}));
        let before = graph.clone();
        let nodes_with_secrets = secret_nodes(&graph, &TestBlocks::default());
        remove(&mut graph, &TestBlocks::default());
        assert_eq!(
            nodes_with_secrets.is_empty(),
            graph == before,
            "both functions find the same secrets"
        );
        Value::Object(graph.nodes.remove(0).input_default)
    }

    #[test]
    fn secrets_are_found_by_name_by_schema_and_in_headers() {
        let child = json!({
            "graph_id": "g", "input_schema": {"properties": {"code": {"secret": true}}},
            "inputs": {"code": "1234", "topic": "rain"}, "code": "1234",
        });
        let left = json!({
            "graph_id": "g", "input_schema": {"properties": {"code": {"secret": true}}},
            "inputs": {"topic": "rain"},
        });
        let table = [
            ("nowhere", json!({"credentials": {"id": "c"}, "url": "u"}), json!({"url": "u"})),
            ("nowhere", json!({"smtp_credentials": {"id": "c"}}), json!({})),
            ("nowhere", json!({"openai_api_key": "k", "Password": "p"}), json!({})),
            ("nowhere", json!({"credentials_#_key": "k"}), json!({})),
            (
                "nowhere",
                json!({"secret_token": "", "api_key": null}),
                json!({"secret_token": "", "api_key": null}),
            ),
            (
                "nowhere",
                json!({"max_tokens": 5, "passwords": 2}),
                json!({"max_tokens": 5, "passwords": 2}),
            ),
            (
                "nowhere",
                json!({"headers": {"Authorization": "Bearer k", "Accept": "text/html"}}),
                json!({"headers": {"Accept": "text/html"}}),
            ),
            ("nowhere", json!({"headers": "{\"X-API-Key\": \"k\"}"}), json!({"headers": {}})),
            (
                "nowhere",
                json!({"headers_#_Cookie": "k", "headers_#_Accept": "a"}),
                json!({"headers_#_Accept": "a"}),
            ),
            (
                "input",
                json!({"name": "x", "value": "v", "secret": true}),
                json!({"name": "x", "secret": true}),
            ),
            ("input", json!({"name": "x", "value": "v"}), json!({"name": "x", "value": "v"})),
            ("agent", child, left),
        ];
        for (block, settings, expected) in table {
            assert_eq!(settings_without_secrets(block, settings.clone()), expected, "{settings}");
        }
    }

    #[test]
    fn nested_agents_are_searched_too() {
        let inner =
            json!({"nodes": [{"id": "x", "block_id": "b", "input_default": {"api_key": "k"}}]});
        let mut outer = graph(json!({"sub_graphs": [inner]}));
        assert_eq!(secret_nodes(&outer, &TestBlocks::default()), [NodeId::from("x")]);
        remove(&mut outer, &TestBlocks::default());
        assert_eq!(secret_nodes(&outer, &TestBlocks::default()), []);
    }
}
