//! The request and response bodies of graphs.

use graphs::spec::AgentSpec;
use jiff::Timestamp;
use ports::call_services::AgentDescription;
use protocol::graph::{Graph, GraphFlags, StoredGraph};
use protocol::{GraphId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::problems::invalid_graph;
use crate::http::AppState;
use crate::http::problem::{ApiProblem, ApiResult};

// Deserialized by `read`: the errors of the derived implementation only say that no variant matched.
/// A graph, wrapped or bare, or an agent spec.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum GraphRequest {
    Wrapped(WrappedGraph),
    Spec(WrappedSpec),
    Bare(Graph),
}

#[derive(Deserialize, utoipa::ToSchema)]
pub(crate) struct WrappedSpec {
    /// The agent spec: YAML or JSON text, or an object.
    spec: Value,
}

#[derive(Deserialize, utoipa::ToSchema)]
pub(crate) struct WrappedGraph {
    graph: Graph,
    /// Where the client got it; ignored.
    #[serde(default, rename = "source")]
    _source: Option<String>,
}

impl GraphRequest {
    pub(crate) fn read(body: Value) -> ApiResult<Self> {
        let read = match (body.get("graph"), body.get("spec")) {
            (Some(_), _) => serde_json::from_value(body).map(Self::Wrapped),
            (None, Some(_)) => serde_json::from_value(body).map(Self::Spec),
            (None, None) => serde_json::from_value(body).map(Self::Bare),
        };
        read.map_err(|error| ApiProblem::invalid(format!("The body is not a graph: {error}")))
    }

    /// The graph. A spec is compiled for this agent, on its newest version if there is one.
    pub(crate) async fn into_graph(
        self,
        app: &AppState,
        user: &UserId,
        id: Option<&GraphId>,
    ) -> ApiResult<Graph> {
        let spec = match self {
            Self::Wrapped(wrapped) => return Ok(wrapped.graph),
            Self::Bare(graph) => return Ok(graph),
            Self::Spec(WrappedSpec { spec }) => read_spec(&spec)?,
        };
        let previous = match id {
            Some(id) => newest(app, user, id).await?,
            None => None,
        };
        let id = id.cloned().unwrap_or_else(GraphId::fresh);
        let agent = app.engine.compile_spec(user, &spec, &id, previous.as_ref()).await?;
        match agent.problems.is_empty() {
            true => Ok(agent.graph),
            false => Err(invalid_graph(&agent.problems)),
        }
    }
}

fn read_spec(spec: &Value) -> ApiResult<AgentSpec> {
    graphs::spec::from_value(spec).map_err(|problems| invalid_graph(&problems))
}

/// The newest version of one of the user's own agents.
pub(crate) async fn newest(
    app: &AppState,
    user: &UserId,
    id: &GraphId,
) -> ApiResult<Option<Graph>> {
    let versions = app.ports.graphs.versions(user, id).await?;
    let Some(newest) = versions.first() else { return Ok(None) };
    let stored = app.ports.graphs.get(user, id, Some(newest.version)).await?;
    Ok(stored.map(|stored| stored.graph))
}

/// Whether a body names a graph other than this one.
pub(crate) fn names_another(body: &Value, id: &GraphId) -> bool {
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
    pub(crate) fn new(stored: StoredGraph, described: AgentDescription) -> Self {
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
            let read = match GraphRequest::read(body).expect("a graph") {
                GraphRequest::Wrapped(wrapped) => wrapped.graph,
                GraphRequest::Bare(graph) => graph,
                GraphRequest::Spec(_) => panic!("it is a graph"),
            };
            assert_eq!(read.name, "Adder");
        }
        assert!(!names_another(&json!({"name": "without an id"}), &"h".into()));
        assert!(GraphRequest::read(json!({"nodes": 1})).is_err());
    }
}
