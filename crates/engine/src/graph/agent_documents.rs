//! Agents as they are given: as graph JSON, as a spec, or as a stored version. All three become a graph here.

use graphs::catalog::AgentInterface;
use graphs::compile::{CompileContext, compile};
use graphs::spec::{AgentSpec, StepTarget};
use graphs::{AGENT_EXECUTOR, schema};
use ports::PortResult;
use protocol::graph::{Graph, GraphProblem};
use protocol::{GraphId, UserId};
use serde_json::Value;

use crate::Engine;

/// How many other agents a document may run.
const MAX_AGENTS: usize = 50;

/// An agent as it is given.
#[derive(Clone, Debug)]
pub enum AgentDocument {
    Graph(Box<Graph>),
    Spec(Box<AgentSpec>),
    /// Without a version: the active one.
    Stored {
        id: GraphId,
        version: Option<u32>,
    },
}

/// An agent as a graph, with what is known about it.
#[derive(Clone, Debug)]
pub struct ResolvedAgent {
    pub graph: Graph,
    pub is_stored: bool,
    /// What is wrong with the spec, if it was given as one.
    pub problems: Vec<GraphProblem>,
    /// The agents that it runs, as far as the user can see them.
    pub agents: Vec<AgentInterface>,
}

impl Engine {
    /// `None`: the user cannot see the stored agent.
    pub async fn resolve_agent(
        &self,
        user: &UserId,
        document: AgentDocument,
    ) -> PortResult<Option<ResolvedAgent>> {
        Ok(Some(match document {
            AgentDocument::Graph(graph) => {
                let agents = self.agents_run_by(user, &graph).await?;
                ResolvedAgent { graph: *graph, is_stored: false, problems: Vec::new(), agents }
            }
            AgentDocument::Stored { id, version } => {
                let Some(stored) = self.inner.ports.graphs.get(user, &id, version).await? else {
                    return Ok(None);
                };
                let graph = stored.graph;
                let agents = self.agents_run_by(user, &graph).await?;
                ResolvedAgent { graph, is_stored: true, problems: Vec::new(), agents }
            }
            AgentDocument::Spec(spec) => {
                // The same spec gives the same graph each time.
                let id = GraphId(graphs::spec::content_id(&spec));
                self.compile_spec(user, &spec, &id, None).await?
            }
        }))
    }

    /// Compiles a spec with the blocks of this server and the agents that the user can see. Steps that the previous
    /// version has keep their ids and positions.
    pub async fn compile_spec(
        &self,
        user: &UserId,
        spec: &AgentSpec,
        id: &GraphId,
        previous: Option<&Graph>,
    ) -> PortResult<ResolvedAgent> {
        let wanted = spec.steps.iter().filter_map(|(_, step)| match &step.runs {
            StepTarget::Agent { id, version } => Some((id.clone(), *version)),
            StepTarget::Block(_) => None,
        });
        let agents = self.interfaces(user, wanted.collect()).await?;
        let blocks = &self.inner.catalog;
        let context = CompileContext { blocks, agents: &agents, id, previous };
        let compiled = compile(spec, context);
        Ok(ResolvedAgent {
            graph: compiled.graph,
            is_stored: false,
            problems: compiled.problems,
            agents,
        })
    }

    /// The graph as a spec, in YAML.
    pub fn write_spec(&self, graph: &Graph) -> String {
        graphs::spec::to_yaml(&graphs::decompile::decompile(graph, &self.inner.catalog))
    }

    /// The agents that nodes of the graph run: those inside it, and those that the user can see.
    pub async fn agents_run_by(
        &self,
        user: &UserId,
        graph: &Graph,
    ) -> PortResult<Vec<AgentInterface>> {
        let runs = graph.nodes.iter().filter(|node| node.block_id.as_str() == AGENT_EXECUTOR);
        let wanted = runs.filter_map(|node| {
            let id = node.input_default.get("graph_id")?.as_str()?;
            let version = node.input_default.get("graph_version").and_then(Value::as_u64);
            Some((GraphId::from(id), version.and_then(|version| u32::try_from(version).ok())))
        });
        let inside: Vec<AgentInterface> =
            graph.sub_graphs.iter().map(|inner| self.interface(inner)).collect();
        let is_inside = |id: &GraphId| inside.iter().any(|inner| inner.id == *id);
        let wanted = wanted.filter(|(id, _)| !is_inside(id)).collect();
        let mut agents = self.interfaces(user, wanted).await?;
        agents.extend(inside);
        Ok(agents)
    }

    pub(crate) async fn interfaces(
        &self,
        user: &UserId,
        mut wanted: Vec<(GraphId, Option<u32>)>,
    ) -> PortResult<Vec<AgentInterface>> {
        wanted.sort();
        wanted.dedup();
        let mut found = Vec::new();
        for (id, version) in wanted.into_iter().take(MAX_AGENTS) {
            if let Some(stored) = self.inner.ports.graphs.get(user, &id, version).await? {
                found.push(self.interface(&stored.graph));
            }
        }
        Ok(found)
    }

    fn interface(&self, graph: &Graph) -> AgentInterface {
        let catalog = &self.inner.catalog;
        AgentInterface {
            id: graph.id.clone(),
            version: graph.version,
            name: graph.name.clone(),
            input_schema: schema::input_schema(graph, catalog),
            output_schema: schema::output_schema(graph, catalog),
        }
    }
}
