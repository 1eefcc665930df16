//! The request and response bodies of graphs.

use jiff::Timestamp;
use ports::call_services::AgentDescription;
use protocol::GraphId;
use protocol::graph::{Graph, GraphFlags, StoredGraph};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::problem::{ApiProblem, ApiResult};

// Deserialized by `read`: the errors of the derived implementation only say that no variant matched.
/// A graph, wrapped or bare.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum GraphRequest {
    Wrapped(WrappedGraph),
    Bare(Graph),
}

#[derive(Deserialize, utoipa::ToSchema)]
pub(crate) struct WrappedGraph {
    graph: Graph,
    /// Where the client got it; ignored.
    #[serde(default, rename = "source")]
    _source: Option<String>,
}

impl GraphRequest {
    pub(super) fn read(body: Value) -> ApiResult<Self> {
        let read = match body.get("graph") {
            Some(_) => serde_json::from_value(body).map(Self::Wrapped),
            None => serde_json::from_value(body).map(Self::Bare),
        };
        read.map_err(|error| ApiProblem::invalid(format!("The body is not a graph: {error}")))
    }

    pub(super) fn into_graph(self) -> Graph {
        match self {
            Self::Wrapped(wrapped) => wrapped.graph,
            Self::Bare(graph) => graph,
        }
    }
}

/// Whether a body names a graph other than this one.
pub(super) fn names_another(body: &Value, id: &GraphId) -> bool {
    let named = body.get("graph").unwrap_or(body).get("id").and_then(Value::as_str);
    named.is_some_and(|named| !named.is_empty() && named != id.as_str())
}

/// An agent, with what a caller needs to run it.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct GraphDetails {
    #[serde(flatten)]
    graph: Graph,
    #[serde(flatten)]
    flags: GraphFlags,
    /// JSON schema of its inputs.
    input_schema: Value,
    /// JSON schema of its outputs.
    output_schema: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum GraphAnswer {
    Details(Box<GraphDetails>),
    Export(Box<Graph>),
}

impl GraphDetails {
    pub(super) fn new(stored: StoredGraph, described: AgentDescription) -> Self {
        Self {
            graph: stored.graph,
            flags: described.flags,
            input_schema: described.input_schema,
            output_schema: described.output_schema,
            created_at: stored.created_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_graph_is_read_bare_and_wrapped() {
        let graph = json!({"id": "g", "name": "Adder", "nodes": []});
        for body in [graph.clone(), json!({"graph": graph, "source": "upload"})] {
            assert!(!names_another(&body, &"g".into()) && names_another(&body, &"h".into()));
            assert_eq!(GraphRequest::read(body).expect("a graph").into_graph().name, "Adder");
        }
        assert!(!names_another(&json!({"name": "without an id"}), &"h".into()));
        assert!(GraphRequest::read(json!({"nodes": 1})).is_err());
    }
}
