//! The stages of a document, off the async threads: checked, fixed, compared, edited. A document is as large as its author
//! makes it, so only a few are computed at a time.

use graphs::diff::diff;
use graphs::edit::{self, EditedGraph};
use graphs::fix::{FixedGraph, fix};
use graphs::validate::{GraphReport, check};
use ports::{PortError, PortResult};
use protocol::graph::{Graph, GraphProblem};
use protocol::graph_diff::AgentDiff;
use protocol::graph_edit::GraphEdit;
use protocol::rehearsal::AgentState;
use protocol::{GraphId, UserId};

use super::{BlockCatalog, GraphChanged, ResolvedAgent, SavePolicy};
use crate::Engine;

/// How many documents one process computes at the same time.
pub(crate) const CONCURRENT_STAGES: usize = 2;

/// The outcome of edits.
#[derive(Clone, Debug)]
pub enum AgentEdited {
    /// The new version, and what changed.
    Saved { graph: Box<Graph>, diff: Box<AgentDiff>, undo: EditsUndo },
    /// An edit cannot be applied, or the result cannot run.
    Refused(Vec<GraphProblem>),
    /// The agent was changed meanwhile; the difference is that from the base to the newest version.
    Stale { newest: u32, diff: Box<AgentDiff> },
    /// The user has no such agent or version.
    Missing,
}

/// How edits are undone.
#[derive(Clone, Debug, PartialEq)]
pub enum EditsUndo {
    ByEdits(Vec<GraphEdit>),
    /// It would take more edits than one transaction has: only restoring this version undoes them.
    ByRestoring(u32),
}

impl Engine {
    /// Everything that can be said about the agent before it runs. Problems of its spec are errors, too.
    pub async fn check_agent(&self, agent: &ResolvedAgent) -> PortResult<GraphReport> {
        let ResolvedAgent { graph, problems, agents, .. } = agent.clone();
        self.stage(move |blocks| {
            let mut report = check(&graph, blocks, Some(&agents));
            // A name in the spec that is not known is reported by both.
            let is_new = |problem: &GraphProblem| {
                !report
                    .errors
                    .iter()
                    .any(|known| known.code == problem.code && known.path == problem.path)
            };
            let of_spec: Vec<GraphProblem> = problems.into_iter().filter(is_new).collect();
            report.errors.splice(0..0, of_spec);
            report
        })
        .await
    }

    pub async fn fix_agent(&self, agent: &ResolvedAgent) -> PortResult<FixedGraph> {
        let ResolvedAgent { graph, agents, .. } = agent.clone();
        self.stage(move |blocks| fix(&graph, blocks, Some(&agents))).await
    }

    /// What changes, without those who use the agent.
    pub(crate) async fn diff_documents(&self, from: Graph, to: Graph) -> PortResult<AgentDiff> {
        self.stage(move |blocks| diff(&from, &to, blocks)).await
    }

    /// What changes, and which of the user's agents use the agent.
    pub async fn diff_agents(
        &self,
        user: &UserId,
        from: Graph,
        to: Graph,
    ) -> PortResult<AgentDiff> {
        let mut used_by = self.agents_that_run(user, &from.id).await?;
        if to.id != from.id {
            used_by.extend(self.agents_that_run(user, &to.id).await?);
        }
        let diff = self.diff_documents(from, to).await?;
        Ok(AgentDiff { used_by, ..diff })
    }

    /// Applies edits to a version of an agent as one transaction, and stores the result as the next version.
    pub async fn edit_agent(
        &self,
        user: &UserId,
        id: &GraphId,
        base_version: u32,
        edits: Vec<GraphEdit>,
        policy: SavePolicy,
    ) -> PortResult<AgentEdited> {
        let graphs = &self.inner.ports.graphs;
        let versions = graphs.versions(user, id).await?;
        let Some(newest) = versions.first().map(|newest| newest.version) else {
            return Ok(AgentEdited::Missing);
        };
        let Some(base) = graphs.get(user, id, Some(base_version)).await? else {
            return Ok(AgentEdited::Missing);
        };
        let base = base.graph;
        if newest != base_version {
            return self.stale(user, base, newest).await;
        }
        let agents = self.agents_of_edits(user, &base, &edits).await?;
        let before = base.clone();
        let applied =
            self.stage(move |blocks| edit::apply(&before, &edits, blocks, &agents)).await?;
        let EditedGraph { graph, undo, problems } = match applied {
            Ok(edited) => edited,
            Err(problems) => return Ok(AgentEdited::Refused(problems)),
        };
        if policy == SavePolicy::Valid && !problems.is_empty() {
            return Ok(AgentEdited::Refused(problems));
        }
        match self.update_graph(user, graph, Some(base_version), policy).await? {
            GraphChanged::Changed(stored) => {
                let diff = self.diff_agents(user, base, stored.graph.clone()).await?;
                let undo = match undo.len() > edit::MAX_EDITS {
                    true => EditsUndo::ByRestoring(base_version),
                    false => EditsUndo::ByEdits(undo),
                };
                Ok(AgentEdited::Saved { graph: Box::new(stored.graph), diff: Box::new(diff), undo })
            }
            GraphChanged::Invalid(problems) => Ok(AgentEdited::Refused(problems)),
            GraphChanged::Stale { newest } => self.stale(user, base, newest).await,
            GraphChanged::Missing => Ok(AgentEdited::Missing),
        }
    }

    /// Stores an earlier version again, as the next one.
    pub async fn restore_version(
        &self,
        user: &UserId,
        id: &GraphId,
        version: u32,
    ) -> PortResult<GraphChanged> {
        let graphs = &self.inner.ports.graphs;
        if graphs.versions(user, id).await?.is_empty() {
            return Ok(GraphChanged::Missing);
        }
        match graphs.get(user, id, Some(version)).await? {
            Some(stored) => {
                self.update_graph(user, stored.graph, None, SavePolicy::AllowDraft).await
            }
            None => Ok(GraphChanged::Missing),
        }
    }

    async fn stale(&self, user: &UserId, base: Graph, newest: u32) -> PortResult<AgentEdited> {
        let found = self.inner.ports.graphs.get(user, &base.id, Some(newest)).await?;
        let Some(stored) = found else { return Ok(AgentEdited::Missing) };
        let diff = self.diff_agents(user, base, stored.graph).await?;
        Ok(AgentEdited::Stale { newest, diff: Box::new(diff) })
    }

    /// The agents that the base runs and those that edits add.
    pub(crate) async fn agents_of_edits(
        &self,
        user: &UserId,
        base: &Graph,
        edits: &[GraphEdit],
    ) -> PortResult<Vec<graphs::catalog::AgentInterface>> {
        let mut agents = self.agents_run_by(user, base).await?;
        let added = edits.iter().filter_map(|edit| match edit {
            GraphEdit::AddStep { with, .. } => with.get("agent")?.as_str(),
            _ => None,
        });
        let wanted = added
            .map(|agent| match agent.rsplit_once('@') {
                Some((id, version)) => (GraphId::from(id), version.parse().ok()),
                None => (GraphId::from(agent), None),
            })
            .collect();
        agents.extend(self.interfaces(user, wanted).await?);
        Ok(agents)
    }

    /// Runs a stage on a thread of its own.
    pub(crate) async fn stage<T: Send + 'static>(
        &self,
        work: impl FnOnce(&BlockCatalog) -> T + Send + 'static,
    ) -> PortResult<T> {
        let permits = self.inner.document_permits.clone();
        let permit = permits.acquire_owned().await.map_err(|_| PortError::Closed)?;
        let catalog = self.inner.catalog.clone();
        let computed = tokio::task::spawn_blocking(move || {
            let _held = permit;
            work(&catalog)
        });
        computed.await.map_err(|_| PortError::Broken("a stage of a document panicked".into()))
    }
}

/// How far an agent is, before it was rehearsed.
pub fn state_of(report: &GraphReport) -> AgentState {
    if !report.needs.blocks.is_empty() {
        AgentState::Blocked
    } else if !report.is_valid() {
        AgentState::Draft
    } else if !report.needs.credentials.is_empty() {
        AgentState::NeedsSetup
    } else {
        AgentState::Valid
    }
}
