//! The agent spec: an agent as people and models write it, without ids, positions or handles. `compile` makes a graph of
//! it, `decompile` writes a graph as a spec.

mod input_types;
mod read;
pub(crate) mod references;
pub(crate) mod rename;
mod write;
mod yaml;

use protocol::GraphId;
use protocol::graph::GraphProblem;
use serde_json::{Map, Value};

pub(crate) use input_types::setting_name;
pub use input_types::{INPUT_TYPES, InputType, input_type, input_type_of_block};
pub use read::read;
pub(crate) use write::{input_value, output_value, step_value};
pub use write::{to_value, to_yaml};
pub use yaml::parse;

/// How long the text of a spec or of a graph may be, in bytes.
pub const MAX_SPEC_BYTES: usize = 1_000_000;
/// An object with only this key is a literal, even if it looks like a reference.
pub const LITERAL: &str = "$literal";
/// An object with only this key names several references; the pin takes a value from any of them.
pub const ANY_OF: &str = "$any";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentSpec {
    pub name: String,
    pub description: String,
    pub instructions: Option<String>,
    pub recommended_schedule: Option<String>,
    pub inputs: Vec<(String, InputSpec)>,
    pub steps: Vec<(String, StepSpec)>,
    pub outputs: Vec<(String, OutputSpec)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// The id or name of its block.
    pub block: String,
    /// The settings of the block, without `name`.
    pub settings: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepSpec {
    pub runs: StepTarget,
    /// The name shown to people, if it is not the step's own.
    pub label: Option<String>,
    /// Values by pin: literals, references, and texts with `{{…}}`, also inside lists and objects.
    pub pins: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepTarget {
    /// A block, by id or name.
    Block(String),
    /// Another agent. Without a version: the one that is active when the spec is compiled.
    Agent { id: GraphId, version: Option<u32> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct OutputSpec {
    /// The value of the output. `None` if nothing fills it yet.
    pub from: Option<Value>,
    /// The settings of the output block, without `name` and `value`.
    pub settings: Map<String, Value>,
}

impl AgentSpec {
    pub fn input(&self, name: &str) -> Option<&InputSpec> {
        find(&self.inputs, name)
    }

    pub fn step(&self, name: &str) -> Option<&StepSpec> {
        find(&self.steps, name)
    }

    pub fn output(&self, name: &str) -> Option<&OutputSpec> {
        find(&self.outputs, name)
    }
}

fn find<'a, T>(entries: &'a [(String, T)], name: &str) -> Option<&'a T> {
    entries.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
}

/// The content of an object with exactly this key.
pub fn tagged<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.get(key)
}

/// A spec as it is given in JSON: as YAML or JSON text, or as an object.
pub fn from_value(spec: &Value) -> Result<AgentSpec, Vec<GraphProblem>> {
    match spec {
        Value::String(text) => parse(text),
        value => read(value),
    }
}

/// An id that follows from the content of a spec.
pub fn content_id(spec: &AgentSpec) -> String {
    crate::derived_id::derived_id(&["agent", &to_value(spec).to_string()])
}
