//! The stages from a given agent to a preview or a saved version: resolved, fixed, checked and rehearsed. What is
//! answered about an agent follows from these stages only.

use std::sync::Arc;
use std::time::Duration;

use graphs::diff::to_text;
use graphs::edit;
use graphs::meaning::meaning;
use graphs::problem::ProblemCode;
use graphs::spec::{self, AgentSpec, StepTarget};
use ports::PortResult;
use ports::call_services::{AgentBuilt, BuildAgent, BuildTarget, GivenAgent, ProgressReports};
use protocol::graph::{Graph, GraphProblem};
use protocol::graph_diff::AgentDiff;
use protocol::graph_edit::GraphEdit;
use protocol::rehearsal::AgentState;
use protocol::response::{
    AgentPreview, AgentProgress, BuildingStage, BuiltAgent, ResponseBody, ToolResponse,
};
use protocol::text::cut_end;
use protocol::{FolderId, GraphId, LibraryAgentId, UserId};
use serde_json::Map;

use super::document_stages::state_of;
use super::{AgentDocument, ResolvedAgent};
use crate::execution::RehearseAgent;
use crate::{Engine, deterministic_id};

/// The longest that a call waits for its rehearsal.
const REHEARSAL_TIME: Duration = Duration::from_secs(30);
pub(crate) const DIFF_CHARS: usize = 4000;

pub(crate) struct AgentStages {
    pub(crate) engine: Engine,
    pub(crate) user: UserId,
    /// The same in every attempt; the id of a new agent follows from it.
    pub(crate) key: String,
    pub(crate) reports: Option<Arc<dyn ProgressReports>>,
}

/// Why a given agent is none.
pub(crate) enum NotAnAgent {
    Problems(Vec<GraphProblem>),
    NotFound,
}

/// What an agent is saved as, as the store has it.
pub(crate) enum SaveTarget {
    NewAgent { folder: Option<FolderId>, template: Option<(GraphId, u32)> },
    NewVersion(AgentVersions),
}

/// The versions of an agent that matter for its next one.
pub(crate) struct AgentVersions {
    /// The version that was changed.
    pub(crate) base: Graph,
    /// The newest version, if it is another one.
    pub(crate) newer: Option<Graph>,
}

impl AgentVersions {
    pub(crate) fn newest(&self) -> &Graph {
        self.newer.as_ref().unwrap_or(&self.base)
    }
}

impl AgentStages {
    pub(crate) async fn build(&self, build: BuildAgent) -> PortResult<AgentBuilt> {
        let BuildAgent { agent, target, save } = build;
        let target = match self.target(target, &agent).await? {
            Ok(target) => target,
            Err(refused) => return Ok(refused),
        };
        self.show(BuildingStage::Checking);
        let versions = match &target {
            SaveTarget::NewVersion(versions) => Some(versions),
            SaveTarget::NewAgent { .. } => None,
        };
        // The agent has a newer version. That is a conflict, unless an earlier attempt at this call has saved it.
        if let Some(versions) = versions
            && let Some(newer) = &versions.newer
            && (!save || newer.version != versions.base.version + 1)
        {
            return self.stale(versions).await;
        }
        let refused = |refusal: AgentBuilt| async move {
            match versions {
                Some(versions) if versions.newer.is_some() => self.stale(versions).await,
                _ => Ok(refusal),
            }
        };
        let agent = match self.resolve(agent, versions.map(|versions| &versions.base)).await? {
            Ok(agent) => agent,
            Err(NotAnAgent::Problems(problems)) => {
                return refused(AgentBuilt::Invalid(problems)).await;
            }
            Err(NotAnAgent::NotFound) => return refused(AgentBuilt::NotFound).await,
        };
        let fixed = self.engine.fix_agent(&agent).await?;
        if !fixed.remaining.is_valid() {
            return refused(AgentBuilt::Invalid(fixed.remaining.errors)).await;
        }
        let graph = fixed.graph;
        if let Some(versions) = versions
            && let Some(newer) = &versions.newer
            && !self.is_saved_as(newer, &graph).await?
        {
            return self.stale(versions).await;
        }
        let state = match state_of(&fixed.remaining) {
            AgentState::Valid => self.rehearsed_state(&graph).await?,
            other => other,
        };
        let diff = match versions {
            Some(versions) => Some(self.diff_text(&versions.base, &graph).await?),
            None => None,
        };
        let summary = BuiltAgent {
            agent_name: graph.name.clone(),
            description: graph.description.clone(),
            node_count: graph.nodes.len(),
            link_count: graph.links.len(),
            state,
            warnings: fixed.remaining.warnings,
            diff,
        };
        if !save {
            let spec = self.engine.write_spec(&graph);
            let preview = AgentPreview { agent_json: graph, spec, summary };
            return Ok(AgentBuilt::Preview(Box::new(preview)));
        }
        self.show(BuildingStage::Saving);
        self.save(graph, target, summary).await
    }

    /// Looks up what the target names. `Err` is the answer when it does not exist.
    async fn target(
        &self,
        target: BuildTarget,
        agent: &GivenAgent,
    ) -> PortResult<Result<SaveTarget, AgentBuilt>> {
        let (of, base_version) = match target {
            BuildTarget::NewAgent { folder, template } => {
                if let Some(folder) = &folder {
                    let folders = self.engine.inner.ports.library.folders(&self.user).await?;
                    if !folders.iter().any(|known| known.id == *folder) {
                        return Ok(Err(AgentBuilt::NoFolder));
                    }
                }
                return Ok(Ok(SaveTarget::NewAgent { folder, template }));
            }
            BuildTarget::NewVersion { of, base_version } => (of, base_version),
        };
        let Some(newest) = self.newest(&of).await? else { return Ok(Err(AgentBuilt::NotFound)) };
        let base_version = match agent {
            GivenAgent::Edits { base_version, .. } => Some(*base_version),
            _ => base_version,
        };
        let base_version = base_version.unwrap_or(newest.version);
        if base_version == newest.version {
            return Ok(Ok(SaveTarget::NewVersion(AgentVersions { base: newest, newer: None })));
        }
        let graphs = &self.engine.inner.ports.graphs;
        Ok(match graphs.get(&self.user, &newest.id, Some(base_version)).await? {
            Some(base) => {
                Ok(SaveTarget::NewVersion(AgentVersions { base: base.graph, newer: Some(newest) }))
            }
            None => Err(AgentBuilt::NotFound),
        })
    }

    /// The given agent as a graph. `base` is the version that it changes.
    pub(crate) async fn resolve(
        &self,
        agent: GivenAgent,
        base: Option<&Graph>,
    ) -> PortResult<Result<ResolvedAgent, NotAnAgent>> {
        let document = match agent {
            GivenAgent::Graph(json) => match serde_json::from_value::<Graph>(json) {
                Ok(mut graph) => {
                    // The JSON of a changed agent replaces its version, whatever it carries itself.
                    if let Some(base) = base {
                        (graph.id, graph.version) = (base.id.clone(), base.version);
                    }
                    AgentDocument::Graph(Box::new(graph))
                }
                Err(error) => {
                    let message = format!("This is not the JSON of a graph: {error}");
                    let problem = ProblemCode::InvalidSpec.of_graph(message);
                    return Ok(Err(NotAnAgent::Problems(vec![problem])));
                }
            },
            GivenAgent::Spec(given) => {
                let mut spec = match spec::from_value(&given) {
                    Ok(spec) => spec,
                    Err(problems) => return Ok(Err(NotAnAgent::Problems(problems))),
                };
                self.use_graph_ids(&mut spec).await?;
                let id = base.map_or_else(|| self.new_id(), |base| base.id.clone());
                let compiled = self.engine.compile_spec(&self.user, &spec, &id, base).await?;
                return Ok(match compiled.problems.is_empty() {
                    true => Ok(compiled),
                    false => Err(NotAnAgent::Problems(compiled.problems)),
                });
            }
            GivenAgent::Edits { edits, .. } => {
                return match base {
                    Some(base) => self.edited(base, edits).await,
                    None => Ok(Err(NotAnAgent::NotFound)),
                };
            }
            GivenAgent::Stored { id, version } => AgentDocument::Stored { id, version },
        };
        let resolved = self.engine.resolve_agent(&self.user, document).await?;
        Ok(resolved.ok_or(NotAnAgent::NotFound))
    }

    async fn edited(
        &self,
        base: &Graph,
        edits: Vec<GraphEdit>,
    ) -> PortResult<Result<ResolvedAgent, NotAnAgent>> {
        let agents = self.engine.agents_of_edits(&self.user, base, &edits).await?;
        let (known, base) = (agents.clone(), base.clone());
        let apply = move |blocks: &super::BlockCatalog| edit::apply(&base, &edits, blocks, &known);
        Ok(match self.engine.stage(apply).await? {
            Ok(edited) if edited.problems.is_empty() => Ok(ResolvedAgent {
                graph: edited.graph,
                is_stored: false,
                problems: Vec::new(),
                agents,
            }),
            Ok(edited) => Err(NotAnAgent::Problems(edited.problems)),
            Err(problems) => Err(NotAnAgent::Problems(problems)),
        })
    }

    /// Steps may name an agent by its library id, which models see beside the graph id.
    async fn use_graph_ids(&self, spec: &mut AgentSpec) -> PortResult<()> {
        let ports = &self.engine.inner.ports;
        for (_, step) in &mut spec.steps {
            let StepTarget::Agent { id, version } = &mut step.runs else { continue };
            if ports.graphs.get(&self.user, id, *version).await?.is_some() {
                continue;
            }
            let entry = ports.library.get(&self.user, &LibraryAgentId(id.0.clone())).await?;
            if let Some(entry) = entry {
                *id = entry.graph_id;
                version.get_or_insert(entry.graph_version);
            }
        }
        Ok(())
    }

    /// The newest version of one of the user's own agents, by its graph id or its library id.
    pub(crate) async fn newest(&self, id: &GraphId) -> PortResult<Option<Graph>> {
        if let Some(newest) = self.newest_version(id).await? {
            return Ok(Some(newest));
        }
        let library = &self.engine.inner.ports.library;
        match library.get(&self.user, &LibraryAgentId(id.0.clone())).await? {
            Some(entry) => self.newest_version(&entry.graph_id).await,
            None => Ok(None),
        }
    }

    pub(crate) async fn newest_version(&self, id: &GraphId) -> PortResult<Option<Graph>> {
        let graphs = &self.engine.inner.ports.graphs;
        let versions = graphs.versions(&self.user, id).await?;
        let Some(newest) = versions.first() else { return Ok(None) };
        let stored = graphs.get(&self.user, id, Some(newest.version)).await?;
        Ok(stored.map(|stored| stored.graph))
    }

    /// Whether saving the graph would add nothing: the version is active and means the same.
    pub(crate) async fn is_saved_as(&self, version: &Graph, graph: &Graph) -> PortResult<bool> {
        if !version.is_active {
            return Ok(false);
        }
        let (version, graph) = (version.clone(), graph.clone());
        let compare = move |blocks: &super::BlockCatalog| {
            meaning(&version, blocks) == meaning(&graph, blocks)
        };
        self.engine.stage(compare).await
    }

    pub(crate) async fn stale(&self, versions: &AgentVersions) -> PortResult<AgentBuilt> {
        let newest = versions.newest();
        let diff = self.diff_text(&versions.base, newest).await?;
        Ok(AgentBuilt::Stale { newest: newest.version, diff })
    }

    async fn diff_text(&self, from: &Graph, to: &Graph) -> PortResult<String> {
        let diff = self.engine.diff_agents(&self.user, from.clone(), to.clone()).await?;
        // Who uses an agent matters only if something changes.
        let is_empty = to_text(&AgentDiff { used_by: Vec::new(), ..diff.clone() }).is_empty();
        Ok(if is_empty { String::new() } else { cut_end(&to_text(&diff), DIFF_CHARS) })
    }

    /// How far a rehearsal proves the agent. One that cannot be started proves nothing.
    async fn rehearsed_state(&self, graph: &Graph) -> PortResult<AgentState> {
        self.show(BuildingStage::Rehearsing);
        let request = RehearseAgent {
            graph: graph.clone(),
            is_stored: false,
            inputs: Map::new(),
            pinned: Default::default(),
            recording: None,
            seed: 0,
            use_model: false,
            fail_each: false,
            at_most: REHEARSAL_TIME,
        };
        let rehearsed = self.engine.rehearse(&self.user, request).await?;
        Ok(rehearsed.map_or(AgentState::Valid, |report| report.state))
    }

    /// The id of a new agent: the same whenever the call is repeated.
    pub(crate) fn new_id(&self) -> GraphId {
        GraphId(deterministic_id::uuid("agent", &self.key))
    }

    fn show(&self, stage: BuildingStage) {
        let Some(reports) = &self.reports else { return };
        let words = match stage {
            BuildingStage::Rehearsing => "Rehearsing the agent.",
            BuildingStage::Saving => "Saving the agent.",
            _ => "Checking the agent.",
        };
        let progress = AgentProgress { stage, detail: None, round: None };
        reports.show_stage(&ToolResponse::new(words, ResponseBody::AgentProgress(progress)));
    }
}
