//! Agents as documents: the graph of blocks, the agent spec, and everything that is computed from them without running
//! them. Nothing here is async or does I/O, so the engine, the tools, the routes, the command line and the tests share
//! one meaning of an agent.

pub mod answer_pins;
mod braces;
pub mod catalog;
pub mod compile;
pub mod decompile;
mod derived_id;
pub mod diff;
pub mod edit;
pub mod fix;
pub mod meaning;
mod named_graph;
pub mod names;
mod nested_value;
pub mod pins;
pub mod placeholders;
pub mod problem;
pub mod reference;
pub mod samples;
pub mod schema;
pub mod secrets;
pub mod spec;
pub mod types;
pub mod validate;

/// Id of the block that runs another agent. It is treated specially, because it starts executions.
pub const AGENT_EXECUTOR: &str = "e189baac-8c20-45a1-94a7-55177ea42565";

/// The inputs of that block itself. Every other pin of its nodes is an input of the agent that it runs.
pub const AGENT_EXECUTOR_PINS: [&str; 8] = [
    "user_id",
    "graph_id",
    "graph_version",
    "agent_name",
    "inputs",
    "input_schema",
    "output_schema",
    "nodes_input_masks",
];
