//! An agent while it is put together: the sections of its spec, and the result that can be approved and sent.

use serde_json::{Map, Value, json};

pub(crate) struct AgentDraft {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) inputs: Map<String, Value>,
    pub(crate) steps: Map<String, Value>,
    pub(crate) outputs: Map<String, Value>,
    pub(crate) product: Product,
}

/// What the agent makes.
pub(crate) struct Product {
    /// What people call it: `invoice`.
    pub(crate) noun: &'static str,
    /// The reference to it.
    pub(crate) from: String,
    /// References to what is said when there is nothing to send, such as an alarm that does not ring.
    pub(crate) otherwise: Vec<String>,
}

impl AgentDraft {
    pub(crate) fn spec(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "inputs": self.inputs,
            "steps": self.steps,
            "outputs": self.outputs,
        })
    }

    /// The plan, a line for each part of the agent.
    pub(crate) fn instructions(&self) -> Value {
        let mut plan = Vec::new();
        for (name, input) in &self.inputs {
            let title = input["title"].as_str().unwrap_or(name);
            let description = format!("Ask for {}", lower_first(title));
            plan.push(json!({"description": description, "action": "add_input", "name": name}));
        }
        for (name, step) in &self.steps {
            let description = step["label"].as_str().unwrap_or(name);
            plan.push(json!({
                "description": description, "action": "add_block", "block_name": step["block"], "name": name,
            }));
        }
        for name in self.outputs.keys() {
            let description = format!("Return the {}", name.replace('_', " "));
            plan.push(json!({"description": description, "action": "add_output", "name": name}));
        }
        json!({ "steps": plan })
    }
}

/// The members of an object literal.
pub(crate) fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// `Tax in percent` within a sentence: `tax in percent`. Abbreviations stay as they are.
fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}
