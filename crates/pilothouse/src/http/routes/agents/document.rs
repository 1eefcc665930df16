//! An agent in a request: as graph JSON, as a spec, or as a stored version.

use engine::{AgentDocument, ResolvedAgent};
use protocol::graph::{Graph, GraphProblem};
use protocol::{GraphId, UserId};
use serde::Deserialize;
use serde_json::Value;

use crate::http::AppState;
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::routes::graphs::{invalid_graph, no_graph};

/// An agent: exactly one of `agent_json`, `spec` and `graph_id`.
#[derive(Clone, Default, Deserialize, utoipa::ToSchema)]
pub(crate) struct AgentBody {
    /// The graph, in the format of exported agents.
    #[serde(default)]
    #[schema(value_type = Option<Graph>)]
    pub(crate) agent_json: Option<Value>,
    /// The agent spec: YAML or JSON text, or an object.
    #[serde(default)]
    pub(crate) spec: Option<Value>,
    /// A stored agent.
    #[serde(default)]
    pub(crate) graph_id: Option<GraphId>,
    /// Default: the active version.
    #[serde(default)]
    pub(crate) graph_version: Option<u32>,
}

impl AgentBody {
    /// The problems of a spec that cannot be read are returned, too: they are an answer, not a failure of the request.
    pub(crate) fn read(self) -> ApiResult<Result<AgentDocument, Vec<GraphProblem>>> {
        let document = match (self.agent_json, self.spec, self.graph_id) {
            (Some(graph), None, None) => {
                let graph: Graph = serde_json::from_value(graph).map_err(|error| {
                    ApiProblem::invalid(format!("`agent_json` is not a graph: {error}"))
                })?;
                AgentDocument::Graph(Box::new(graph))
            }
            (None, Some(spec), None) => match graphs::spec::from_value(&spec) {
                Ok(spec) => AgentDocument::Spec(Box::new(spec)),
                Err(problems) => return Ok(Err(problems)),
            },
            (None, None, Some(id)) => AgentDocument::Stored { id, version: self.graph_version },
            _ => {
                return Err(ApiProblem::invalid(
                    "Give exactly one of `agent_json`, `spec` and `graph_id`.",
                ));
            }
        };
        Ok(Ok(document))
    }

    /// The agent as a graph. A spec that cannot be read or compiled is refused with its problems.
    pub(crate) async fn resolve(self, app: &AppState, user: &UserId) -> ApiResult<ResolvedAgent> {
        let document = self.read()?.map_err(|problems| invalid_graph(&problems))?;
        let resolved = resolve(app, user, document).await?;
        match resolved.problems.is_empty() {
            true => Ok(resolved),
            false => Err(invalid_graph(&resolved.problems)),
        }
    }
}

pub(crate) async fn resolve(
    app: &AppState,
    user: &UserId,
    document: AgentDocument,
) -> ApiResult<ResolvedAgent> {
    app.engine.resolve_agent(user, document).await?.ok_or_else(no_graph)
}
