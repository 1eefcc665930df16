//! Agent generators against real HTTP servers.

mod model;
mod scripted_service;
mod service;

use std::time::Duration;

use ports::agent_generator::{AgentGoal, UsableAgent};
use protocol::graph::Graph;
use serde_json::json;

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

fn goal(description: &str) -> AgentGoal {
    AgentGoal { description: description.to_owned(), ..AgentGoal::default() }
}

fn usable_agent() -> UsableAgent {
    UsableAgent {
        graph_id: "g-1".into(),
        graph_version: 3,
        name: "Tides".into(),
        description: "Looks up tides.".into(),
        input_schema: json!({"properties": {"harbor": {"type": "string"}}}),
        output_schema: json!({"properties": {"height": {"type": "number"}}}),
    }
}

fn graph() -> Graph {
    let graph = json!({"id": "g-2", "version": 2, "name": "Sum", "description": "Adds.",
        "nodes": [], "links": []});
    serde_json::from_value(graph).expect("a graph")
}
