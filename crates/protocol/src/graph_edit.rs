//! Edits of an agent. Several of them are applied as one transaction on a known version.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One edit, in the terms of the agent spec: steps, inputs and outputs by name, references such as `page.response`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum GraphEdit {
    /// Adds a step with a block or an agent.
    AddStep {
        step: String,
        /// The step as in the spec: `block` or `agent`, and the values of its pins.
        with: Map<String, Value>,
        /// The step that comes after it in the spec. Without it, the step is the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
    },
    /// Sets the value of a pin: a literal, a reference, or a text with `{{…}}`. Without a value, the pin is cleared. The
    /// step may also be `inputs.name` with a setting of the input as pin, or `outputs.name` with `value` or a setting.
    Set {
        step: String,
        pin: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// Links an output to a pin or to `outputs.name`, in addition to its other links.
    Connect { from: String, to: String },
    /// Removes one link.
    Disconnect { from: String, to: String },
    /// Renames a step, `inputs.name` or `outputs.name`, together with all references to it.
    Rename { step: String, to: String },
    /// Removes a step, `inputs.name` or `outputs.name`, together with its links.
    Remove { step: String },
    /// Replaces the inputs of the agent.
    SetInputs { inputs: Map<String, Value> },
    /// Replaces the outputs of the agent.
    SetOutputs { outputs: Map<String, Value> },
}
