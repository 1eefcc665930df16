//! Builds agents for a tool call: the given agent is fixed, checked and rehearsed, and then shown or saved. What the call
//! answers about an agent follows from these stages only.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use graphs::diff::to_text;
use graphs::edit;
use graphs::fix::AppliedFix;
use graphs::spec;
use ports::call_services::{
    AgentBuilding, AgentBuilt, AgentChecked, AgentFixed, BuildAgent, GivenAgent,
};
use ports::tool::ToolError;
use protocol::graph::{Graph, GraphProblem};
use protocol::message::{Message, MessageRole};
use protocol::rehearsal::AgentState;
use protocol::response::{AgentFix, AgentPreview, AgentSaved, BuiltAgent};
use protocol::session::Owner;
use protocol::text::cut_end;
use protocol::{GraphId, UserId};
use serde_json::Map;

use super::document_stages::state_of;
use super::{AgentDocument, GraphChanged, GraphSaved, ResolvedAgent, SavePolicy};
use crate::execution::RehearseAgent;
use crate::store_failure::tell_model;
use crate::{Engine, EngineInner, deterministic_id};

/// The longest that a call waits for its rehearsal.
const REHEARSAL_TIME: Duration = Duration::from_secs(30);
const DIFF_CHARS: usize = 4000;

pub(crate) struct AgentBuilder {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) owner: Owner,
    /// The call's idempotency key.
    pub(crate) key: String,
    /// The tools that the session has called.
    pub(crate) called: HashSet<String>,
}

/// The tools that assistant messages of the session have called, those of the current step among them.
pub(crate) fn called_tools(messages: &[Message]) -> HashSet<String> {
    let assistant = messages.iter().filter(|message| message.role == MessageRole::Assistant);
    assistant.flat_map(|message| &message.tool_calls).map(|call| call.name.clone()).collect()
}

/// Why a given agent is none.
enum NotAnAgent {
    Problems(Vec<GraphProblem>),
    NotFound,
    Stale { newest: u32, diff: String },
}

#[async_trait]
impl AgentBuilding for AgentBuilder {
    fn was_called(&self, tool: &str) -> bool {
        self.called.contains(tool)
    }

    async fn check(&self, agent: GivenAgent) -> Result<AgentChecked, ToolError> {
        Ok(match self.resolve(agent, None).await? {
            Ok(agent) => {
                let report = self.engine().check_agent(&agent).await.map_err(tell_model)?;
                AgentChecked::Checked {
                    state: state_of(&report),
                    errors: report.errors,
                    warnings: report.warnings,
                }
            }
            Err(NotAnAgent::Problems(errors)) => {
                AgentChecked::Checked { state: AgentState::Draft, errors, warnings: Vec::new() }
            }
            Err(NotAnAgent::NotFound | NotAnAgent::Stale { .. }) => AgentChecked::NotFound,
        })
    }

    async fn fix(&self, agent: GivenAgent) -> Result<AgentFixed, ToolError> {
        let agent = match self.resolve(agent, None).await? {
            Ok(agent) => agent,
            Err(NotAnAgent::Problems(problems)) => return Ok(AgentFixed::Unreadable(problems)),
            Err(NotAnAgent::NotFound | NotAnAgent::Stale { .. }) => {
                return Ok(AgentFixed::NotFound);
            }
        };
        let engine = self.engine();
        let fixed = engine.fix_agent(&agent).await.map_err(tell_model)?;
        let diff = engine.diff_agents(agent.graph, fixed.graph.clone()).await;
        let diff = to_text(&diff.map_err(tell_model)?);
        Ok(AgentFixed::Fixed(Box::new(AgentFix {
            fixed_agent_json: Some(fixed.graph),
            fixed_agent_ref: None,
            fix_diff: (!diff.is_empty()).then(|| cut_end(&diff, DIFF_CHARS)),
            fix_count: fixed.fixes.len(),
            fixes_applied: fixed.fixes.into_iter().map(as_problem).collect(),
            valid_after_fix: fixed.remaining.is_valid(),
            remaining_errors: fixed.remaining.errors,
        })))
    }

    async fn build(&self, build: BuildAgent) -> Result<AgentBuilt, ToolError> {
        let resolved = self.resolve(build.agent, build.version_of.as_ref()).await?;
        let agent = match resolved {
            Ok(agent) => agent,
            Err(NotAnAgent::Problems(problems)) => return Ok(AgentBuilt::Invalid(problems)),
            Err(NotAnAgent::NotFound) => return Ok(AgentBuilt::NotFound),
            Err(NotAnAgent::Stale { newest, diff }) => {
                return Ok(AgentBuilt::Stale { newest, diff });
            }
        };
        let engine = self.engine();
        let fixed = engine.fix_agent(&agent).await.map_err(tell_model)?;
        if !fixed.remaining.is_valid() {
            return Ok(AgentBuilt::Invalid(fixed.remaining.errors));
        }
        let graph = fixed.graph;
        let state = match state_of(&fixed.remaining) {
            AgentState::Valid => self.rehearsed_state(&graph).await?,
            other => other,
        };
        let diff = match &build.version_of {
            Some(id) => self.diff_to_newest(id, &graph).await?,
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
        if !build.save {
            let spec = engine.write_spec(&graph);
            let preview = AgentPreview { agent_json: graph, spec, summary };
            return Ok(AgentBuilt::Preview(Box::new(preview)));
        }
        self.save(graph, build.version_of, summary).await
    }
}

impl AgentBuilder {
    async fn resolve(
        &self,
        agent: GivenAgent,
        version_of: Option<&GraphId>,
    ) -> Result<Result<ResolvedAgent, NotAnAgent>, ToolError> {
        let user = self.user()?;
        let engine = self.engine();
        let document = match agent {
            GivenAgent::Graph(json) => match serde_json::from_value::<Graph>(json) {
                Ok(mut graph) => {
                    // The JSON of an edited agent replaces the newest version, whatever number it carries.
                    if let Some(newest) = self.newest_of(version_of).await? {
                        graph.version = newest.version;
                    }
                    AgentDocument::Graph(Box::new(graph))
                }
                Err(error) => {
                    let message = format!("This is not the JSON of a graph: {error}");
                    let problem = graphs::problem::ProblemCode::InvalidSpec.of_graph(message);
                    return Ok(Err(NotAnAgent::Problems(vec![problem])));
                }
            },
            GivenAgent::Spec(given) => {
                let spec = match spec::from_value(&given) {
                    Ok(spec) => spec,
                    Err(problems) => return Ok(Err(NotAnAgent::Problems(problems))),
                };
                let newest = self.newest_of(version_of).await?;
                let fresh = || GraphId(deterministic_id::uuid("agent", &self.key));
                let id = version_of.cloned().unwrap_or_else(fresh);
                let compiled = engine.compile_spec(user, &spec, &id, newest.as_ref()).await;
                let compiled = compiled.map_err(tell_model)?;
                return Ok(match compiled.problems.is_empty() {
                    true => Ok(compiled),
                    false => Err(NotAnAgent::Problems(compiled.problems)),
                });
            }
            GivenAgent::Edits { id, base_version, edits } => {
                return self.edited(id, base_version, edits).await;
            }
            GivenAgent::Stored { id, version } => AgentDocument::Stored { id, version },
        };
        let resolved = engine.resolve_agent(user, document).await.map_err(tell_model)?;
        Ok(resolved.ok_or(NotAnAgent::NotFound))
    }

    async fn edited(
        &self,
        id: GraphId,
        base_version: u32,
        edits: Vec<protocol::graph_edit::GraphEdit>,
    ) -> Result<Result<ResolvedAgent, NotAnAgent>, ToolError> {
        let (user, engine) = (self.user()?, self.engine());
        let Some(newest) = self.newest(&id).await? else { return Ok(Err(NotAnAgent::NotFound)) };
        let base = self.inner.ports.graphs.get(user, &id, Some(base_version)).await;
        let Some(base) = base.map_err(tell_model)?.map(|stored| stored.graph) else {
            return Ok(Err(NotAnAgent::NotFound));
        };
        if newest.version != base_version {
            let version = newest.version;
            let diff = engine.diff_agents(base, newest).await.map_err(tell_model)?;
            let diff = cut_end(&to_text(&diff), DIFF_CHARS);
            return Ok(Err(NotAnAgent::Stale { newest: version, diff }));
        }
        let agents = engine.agents_of_edits(user, &base, &edits).await.map_err(tell_model)?;
        let known = agents.clone();
        let applied = engine.stage(move |blocks| edit::apply(&base, &edits, blocks, &known)).await;
        Ok(match applied.map_err(tell_model)? {
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

    async fn newest_of(&self, id: Option<&GraphId>) -> Result<Option<Graph>, ToolError> {
        match id {
            Some(id) => self.newest(id).await,
            None => Ok(None),
        }
    }

    /// The newest version of one of the user's own agents.
    async fn newest(&self, id: &GraphId) -> Result<Option<Graph>, ToolError> {
        let (user, graphs) = (self.user()?, &self.inner.ports.graphs);
        let versions = graphs.versions(user, id).await.map_err(tell_model)?;
        let Some(newest) = versions.first() else { return Ok(None) };
        let stored = graphs.get(user, id, Some(newest.version)).await.map_err(tell_model)?;
        Ok(stored.map(|stored| stored.graph))
    }

    async fn diff_to_newest(
        &self,
        id: &GraphId,
        graph: &Graph,
    ) -> Result<Option<String>, ToolError> {
        let Some(newest) = self.newest(id).await? else { return Ok(None) };
        let diff = self.engine().diff_agents(newest, graph.clone()).await.map_err(tell_model)?;
        Ok(Some(cut_end(&to_text(&diff), DIFF_CHARS)))
    }

    /// How far a rehearsal proves the agent. One that cannot be started proves nothing.
    async fn rehearsed_state(&self, graph: &Graph) -> Result<AgentState, ToolError> {
        let request = RehearseAgent {
            graph: graph.clone(),
            is_stored: false,
            inputs: Map::new(),
            pinned: Default::default(),
            seed: 0,
            use_model: false,
            fail_each: false,
            at_most: REHEARSAL_TIME,
        };
        let rehearsed = self.engine().rehearse(self.user()?, request).await.map_err(tell_model)?;
        Ok(rehearsed.map_or(AgentState::Valid, |report| report.state))
    }

    async fn save(
        &self,
        graph: Graph,
        version_of: Option<GraphId>,
        summary: BuiltAgent,
    ) -> Result<AgentBuilt, ToolError> {
        let (user, engine) = (self.user()?, self.engine());
        let stored = match version_of {
            None => {
                let id = GraphId(deterministic_id::uuid("agent", &self.key));
                // The call was made before, and saved the agent.
                let before = self.inner.ports.graphs.get(user, &id, None).await;
                match before.map_err(tell_model)? {
                    Some(stored) => stored.graph,
                    None => {
                        let graph = Graph { id, ..graph };
                        let saved = engine.create_graph(user, graph, SavePolicy::Valid).await;
                        match saved.map_err(tell_model)? {
                            GraphSaved::Saved(stored, _) => stored.graph,
                            GraphSaved::Invalid(problems) => {
                                return Ok(AgentBuilt::Invalid(problems));
                            }
                            GraphSaved::TooMany => return Ok(AgentBuilt::LibraryFull),
                        }
                    }
                }
            }
            Some(id) => {
                let base = graph.version;
                let graph = Graph { id: id.clone(), ..graph };
                let saved = engine.update_graph(user, graph, Some(base), SavePolicy::Valid).await;
                match saved.map_err(tell_model)? {
                    GraphChanged::Changed(stored) => stored.graph,
                    GraphChanged::Invalid(problems) => return Ok(AgentBuilt::Invalid(problems)),
                    GraphChanged::Missing => return Ok(AgentBuilt::NotFound),
                    GraphChanged::Stale { newest } => {
                        return Ok(AgentBuilt::Stale { newest, diff: String::new() });
                    }
                }
            }
        };
        let entry = self.inner.ports.library.by_graph(user, &stored.id).await;
        let Some(entry) = entry.map_err(tell_model)? else { return Ok(AgentBuilt::NotFound) };
        Ok(AgentBuilt::Saved(Box::new(AgentSaved {
            library_agent_link: format!("/library/agents/{}", entry.id),
            agent_page_link: format!("/build?flowID={}", stored.id),
            library_agent_id: entry.id,
            graph_version: stored.version,
            agent_id: stored.id,
            summary,
        })))
    }

    fn engine(&self) -> Engine {
        Engine { inner: self.inner.clone() }
    }

    fn user(&self) -> Result<&UserId, ToolError> {
        self.owner.user().ok_or_else(|| ToolError::tell("need_login", "Sign in to do this."))
    }
}

fn as_problem(fix: AppliedFix) -> GraphProblem {
    let AppliedFix { code, path, message, edit } = fix;
    GraphProblem { code, path, message, edit, ..GraphProblem::default() }
}
