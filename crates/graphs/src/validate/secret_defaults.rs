//! Reports keys and passwords in the settings of nodes: everyone who can read the agent can read them.

use protocol::block::BlockSpec;
use protocol::graph::{GraphProblem, Node};
use serde_json::Value;

use super::index::{GraphIndex, IndexedNode};
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::secrets;

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    for placed in index.in_order() {
        for pin in stored_secrets(placed.node, placed.spec) {
            problems.push(problem(index, placed, &pin));
        }
    }
    problems
}

/// The pins with a secret. A reference to stored credentials is none.
pub(crate) fn stored_secrets(node: &Node, spec: Option<&BlockSpec>) -> Vec<String> {
    let mut pins = secrets::secret_pins(node, spec);
    pins.retain(|pin| !node.input_default.get(pin).is_some_and(is_reference));
    pins
}

fn problem(index: &GraphIndex<'_>, placed: IndexedNode<'_>, pin: &str) -> GraphProblem {
    let name = pins::base(pin);
    let message = format!(
        "The setting `{name}` of {placed} contains a secret, which everyone who can read the agent can read. Use \
         stored credentials, or a secret input without a value."
    );
    let problem = index.at_pin(ProblemCode::SecretInDefault, placed.node, pin, message);
    let mut problem = problem.expected("no value").got("a secret");
    problem.edit = index.set(placed.node, pin, None);
    problem
}

/// Whether the value only names stored credentials.
fn is_reference(value: &Value) -> bool {
    const MEMBERS: [&str; 4] = ["id", "provider", "type", "title"];
    value.as_object().is_some_and(|members| {
        members.contains_key("id") && members.keys().all(|key| MEMBERS.contains(&key.as_str()))
    })
}
