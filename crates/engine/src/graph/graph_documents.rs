//! Graph documents of agents: validates, stores (with the user's library entry), describes and exports them.

use std::collections::HashMap;

use graphs::problem::ProblemCode;
use graphs::{AGENT_EXECUTOR, schema, secrets, validate};
use ports::call_services::AgentDescription;
use ports::store::{GraphCreated, VersionAdded, VersionTerms};
use ports::{PortResult, Ports};
use protocol::graph::{Graph, GraphProblem, StoredGraph};
use protocol::library::LibraryAgent;
use protocol::{GraphId, LibraryAgentId, NodeId, UserId};
use serde_json::{Value, json};

use crate::{Engine, deterministic_id};

/// How many nested agents a file may contain, at any depth.
const MAX_SUB_GRAPHS: usize = 50;

#[derive(Clone, Debug, PartialEq)]
pub enum GraphSaved {
    Saved(Box<StoredGraph>, Box<LibraryAgent>),
    Invalid(Vec<GraphProblem>),
    /// The user's library is full.
    TooMany,
}

#[derive(Clone, Debug, PartialEq)]
pub enum GraphChanged {
    Changed(Box<StoredGraph>),
    Invalid(Vec<GraphProblem>),
    /// The newest version is not the one that was edited.
    Stale {
        newest: u32,
    },
    /// The user has no such graph.
    Missing,
}

/// Whether a graph with problems is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavePolicy {
    /// Only a graph that can run.
    Valid,
    /// Any graph within the limits. One with problems is a draft: it does not become active, and cannot run.
    AllowDraft,
}

/// What happens to a new graph whose id is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakenId {
    /// It gets a new id.
    Replace,
    /// The stored graph is the answer, if it is the user's own.
    Keep,
}

impl Engine {
    /// The nodes of the graph whose settings contain secrets.
    pub fn nodes_with_secrets(&self, graph: &Graph) -> Vec<NodeId> {
        secrets::secret_nodes(graph, &self.inner.catalog)
    }

    pub fn check_graph(&self, graph: &Graph) -> Vec<GraphProblem> {
        validate::validate(graph, &self.inner.catalog)
    }

    /// A graph whose id is taken gets a new one. Nested agents are stored first, so that the graph can refer to them.
    pub async fn create_graph(
        &self,
        user: &UserId,
        graph: Graph,
        policy: SavePolicy,
    ) -> PortResult<GraphSaved> {
        self.create(user, graph, policy, TakenId::Replace).await
    }

    /// For a graph whose id is derived from the call that creates it: a repetition finds the graph of the first attempt.
    pub(crate) async fn create_graph_once(
        &self,
        user: &UserId,
        graph: Graph,
        policy: SavePolicy,
    ) -> PortResult<GraphSaved> {
        self.create(user, graph, policy, TakenId::Keep).await
    }

    async fn create(
        &self,
        user: &UserId,
        mut graph: Graph,
        policy: SavePolicy,
        taken: TakenId,
    ) -> PortResult<GraphSaved> {
        let mut within = Vec::new();
        extract_sub_graphs(&mut graph, &mut within);
        if within.len() > MAX_SUB_GRAPHS {
            let message = format!("An agent may contain {MAX_SUB_GRAPHS} others.");
            return Ok(GraphSaved::Invalid(vec![ProblemCode::TooManySubGraphs.of_graph(message)]));
        }
        let mut problems = self.check_graph(&graph);
        problems.extend(within.iter().flat_map(|inner| self.check_graph(inner)));
        if !may_store(&problems, policy) {
            return Ok(GraphSaved::Invalid(problems));
        }
        let mut renamed = HashMap::new();
        for mut inner in innermost_first(within) {
            let before = (inner.id.clone(), inner.version);
            if renamed.contains_key(&before) {
                continue;
            }
            rewrite_references(&mut inner, &renamed);
            if taken == TakenId::Keep {
                let key = format!("{}/{}@{}", graph.id, inner.id, inner.version);
                inner.id = GraphId(deterministic_id::uuid("agent", &key));
            }
            match self.store(user, inner, taken).await? {
                GraphSaved::Saved(stored, _) => {
                    renamed.insert(before, (stored.graph.id.clone(), stored.graph.version));
                }
                refused => return Ok(refused),
            }
        }
        rewrite_references(&mut graph, &renamed);
        self.store(user, graph, taken).await
    }

    async fn store(
        &self,
        user: &UserId,
        mut graph: Graph,
        taken: TakenId,
    ) -> PortResult<GraphSaved> {
        graph.version = 1;
        graph.is_active = true;
        let mut created = self.try_store(user, &graph).await?;
        if created == GraphCreated::Taken && taken == TakenId::Keep {
            let Ports { graphs, library, .. } = &self.inner.ports;
            let stored = graphs.get(user, &graph.id, None).await?;
            let entry = library.by_graph(user, &graph.id).await?;
            if let (Some(stored), Some(entry)) = (stored, entry) {
                return Ok(GraphSaved::Saved(Box::new(stored), Box::new(entry)));
            }
        } else if created == GraphCreated::Taken {
            graph.forked_from_id = Some(std::mem::replace(&mut graph.id, GraphId::fresh()));
            created = self.try_store(user, &graph).await?;
        }
        match created {
            GraphCreated::New(entry) => {
                let created_at = entry.created_at;
                let stored = StoredGraph { graph, user_id: user.clone(), created_at };
                Ok(GraphSaved::Saved(Box::new(stored), entry))
            }
            GraphCreated::TooMany => Ok(GraphSaved::TooMany),
            GraphCreated::Taken => {
                let message = "The id of the agent is taken.".to_owned();
                Ok(GraphSaved::Invalid(vec![ProblemCode::IdTaken.of_graph(message)]))
            }
        }
    }

    async fn try_store(&self, user: &UserId, graph: &Graph) -> PortResult<GraphCreated> {
        let now = self.inner.ports.clock.now();
        let entry = LibraryAgent {
            id: LibraryAgentId::fresh(),
            graph_id: graph.id.clone(),
            graph_version: graph.version,
            name: graph.name.clone(),
            description: graph.description.clone(),
            creator: None,
            folder_id: None,
            is_favorite: false,
            is_created_by_user: true,
            is_hidden: false,
            use_graph_is_active_version: true,
            settings: Default::default(),
            created_at: now,
            updated_at: now,
            last_run_at: None,
        };
        self.inner.ports.graphs.create(user, graph, &entry).await
    }

    /// Stores the next version. Unless it is a draft, it becomes the active one. With a base, nothing is stored if another
    /// version has come since.
    pub async fn update_graph(
        &self,
        user: &UserId,
        mut graph: Graph,
        base: Option<u32>,
        policy: SavePolicy,
    ) -> PortResult<GraphChanged> {
        graph.sub_graphs.clear();
        let problems = self.check_graph(&graph);
        if !may_store(&problems, policy) {
            return Ok(GraphChanged::Invalid(problems));
        }
        let terms = VersionTerms { base, activate: problems.is_empty() };
        Ok(match self.inner.ports.graphs.add_version(user, &graph, terms).await? {
            VersionAdded::Added(stored) => GraphChanged::Changed(stored),
            VersionAdded::Stale { newest } => GraphChanged::Stale { newest },
            VersionAdded::Missing => GraphChanged::Missing,
        })
    }

    /// The graph with the agents that its nodes run, as far as they are visible to the user, without secrets.
    pub async fn export_graph(
        &self,
        user: &UserId,
        id: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<Graph>> {
        let graphs = &self.inner.ports.graphs;
        let Some(stored) = graphs.get(user, id, version).await? else {
            return Ok(None);
        };
        let mut graph = stored.graph;
        let mut wanted = referenced_agents(&graph);
        let mut seen = vec![(graph.id.clone(), graph.version)];
        while let Some(next) = wanted.pop() {
            if seen.contains(&next) || seen.len() > MAX_SUB_GRAPHS {
                continue;
            }
            seen.push(next.clone());
            if let Some(inner) = graphs.get(user, &next.0, Some(next.1)).await? {
                wanted.extend(referenced_agents(&inner.graph));
                graph.sub_graphs.push(inner.graph);
            }
        }
        secrets::remove(&mut graph, &self.inner.catalog);
        Ok(Some(graph))
    }

    pub async fn describe_agent(
        &self,
        user: &UserId,
        graph: &GraphId,
        version: Option<u32>,
    ) -> PortResult<Option<AgentDescription>> {
        let found = self.inner.ports.graphs.get(user, graph, version).await?;
        let catalog = &self.inner.catalog;
        Ok(found.map(|stored| AgentDescription {
            input_schema: schema::input_schema(&stored.graph, catalog),
            output_schema: schema::output_schema(&stored.graph, catalog),
            flags: schema::flags(&stored.graph, catalog),
            graph: stored.graph,
        }))
    }
}

/// Whether a graph with these problems may be stored. The limits on its size hold for drafts, too.
fn may_store(problems: &[GraphProblem], policy: SavePolicy) -> bool {
    let is_limit = |problem: &GraphProblem| {
        [ProblemCode::TooLarge, ProblemCode::TooManySubGraphs]
            .iter()
            .any(|code| code.as_str() == problem.code)
    };
    match policy {
        SavePolicy::Valid => problems.is_empty(),
        SavePolicy::AllowDraft => !problems.iter().any(is_limit),
    }
}

/// Moves all nested agents of a file into one list.
fn extract_sub_graphs(graph: &mut Graph, within: &mut Vec<Graph>) {
    for mut inner in std::mem::take(&mut graph.sub_graphs) {
        if within.len() > MAX_SUB_GRAPHS {
            return;
        }
        let mut deeper = std::mem::take(&mut inner.sub_graphs);
        within.push(inner);
        let mut holder = Graph { sub_graphs: std::mem::take(&mut deeper), ..Graph::default() };
        extract_sub_graphs(&mut holder, within);
    }
}

/// Orders agents so that each comes after the ones its nodes run and can refer to them by their stored ids. Files list
/// them in any order. Agents that run each other in a cycle keep their order.
fn innermost_first(mut within: Vec<Graph>) -> Vec<Graph> {
    let mut ordered = Vec::with_capacity(within.len());
    while !within.is_empty() {
        let waits = |graph: &Graph| {
            let runs = referenced_agents(graph);
            let is_run = |other: &Graph| {
                other.id != graph.id && runs.contains(&(other.id.clone(), other.version))
            };
            within.iter().any(is_run)
        };
        let next = within.iter().position(|graph| !waits(graph)).unwrap_or(0);
        ordered.push(within.remove(next));
    }
    ordered
}

/// The agents that nodes of this graph run.
fn referenced_agents(graph: &Graph) -> Vec<(GraphId, u32)> {
    let runs = graph.nodes.iter().filter(|node| node.block_id.as_str() == AGENT_EXECUTOR);
    runs.filter_map(|node| {
        let id = node.input_default.get("graph_id")?.as_str()?;
        let version = node.input_default.get("graph_version")?.as_u64()?;
        Some((GraphId::from(id), version as u32))
    })
    .collect()
}

/// Makes nodes that run an agent of the same file refer to it by its stored id and version.
fn rewrite_references(graph: &mut Graph, renamed: &HashMap<(GraphId, u32), (GraphId, u32)>) {
    for node in graph.nodes.iter_mut().filter(|node| node.block_id.as_str() == AGENT_EXECUTOR) {
        let id = node.input_default.get("graph_id").and_then(Value::as_str).unwrap_or_default();
        let version = node.input_default.get("graph_version").and_then(Value::as_u64).unwrap_or(0);
        if let Some((id, version)) = renamed.get(&(GraphId::from(id), version as u32)) {
            node.input_default.insert("graph_id".to_owned(), json!(id));
            node.input_default.insert("graph_version".to_owned(), json!(version));
        }
    }
}
