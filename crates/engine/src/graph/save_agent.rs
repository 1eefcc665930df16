//! Saves an agent that has passed the stages: as a new agent or as the next version, once per call.

use ports::PortResult;
use ports::call_services::AgentBuilt;
use protocol::graph::Graph;
use protocol::response::{AgentSaved, BuiltAgent};
use protocol::{FolderId, GraphId};

use super::agent_stages::{AgentStages, AgentVersions, SaveTarget};
use super::{GraphChanged, GraphSaved, SavePolicy};

impl AgentStages {
    pub(crate) async fn save(
        &self,
        graph: Graph,
        target: SaveTarget,
        summary: BuiltAgent,
    ) -> PortResult<AgentBuilt> {
        let (stored, folder) = match target {
            SaveTarget::NewAgent { folder, template } => {
                (self.save_new(graph, template).await?, folder)
            }
            SaveTarget::NewVersion(versions) => (self.save_version(graph, versions).await?, None),
        };
        match stored {
            Ok(stored) => self.saved(stored, folder, summary).await,
            Err(refused) => Ok(refused),
        }
    }

    async fn save_new(
        &self,
        graph: Graph,
        template: Option<(GraphId, u32)>,
    ) -> PortResult<Result<Graph, AgentBuilt>> {
        let id = self.new_id();
        // An earlier attempt may have saved it.
        if let Some(before) = self.newest_version(&id).await? {
            return Ok(Ok(before));
        }
        let mut graph = Graph { id, ..graph };
        if let Some((id, version)) = template {
            (graph.forked_from_id, graph.forked_from_version) = (Some(id), Some(version));
        }
        Ok(match self.engine.create_graph_once(&self.user, graph, SavePolicy::Valid).await? {
            GraphSaved::Saved(stored, _) => Ok(stored.graph),
            GraphSaved::Invalid(problems) => Err(AgentBuilt::Invalid(problems)),
            GraphSaved::TooMany => Err(AgentBuilt::LibraryFull),
        })
    }

    async fn save_version(
        &self,
        graph: Graph,
        versions: AgentVersions,
    ) -> PortResult<Result<Graph, AgentBuilt>> {
        if self.is_saved_as(versions.newest(), &graph).await? {
            return Ok(Ok(versions.newest().clone()));
        }
        let AgentVersions { base, .. } = versions;
        let graph = Graph { id: base.id.clone(), ..graph };
        let wanted = graph.clone();
        let saved = self
            .engine
            .update_graph(&self.user, graph, Some(base.version), SavePolicy::Valid)
            .await?;
        Ok(match saved {
            GraphChanged::Changed(stored) => Ok(stored.graph),
            GraphChanged::Invalid(problems) => Err(AgentBuilt::Invalid(problems)),
            GraphChanged::Missing => Err(AgentBuilt::NotFound),
            GraphChanged::Stale { .. } => {
                let Some(newer) = self.newest_version(&base.id).await? else {
                    return Ok(Err(AgentBuilt::NotFound));
                };
                // The same completion may be handled by two processes at once.
                if newer.version == base.version + 1 && self.is_saved_as(&newer, &wanted).await? {
                    return Ok(Ok(newer));
                }
                Err(self.stale(&AgentVersions { base, newer: Some(newer) }).await?)
            }
        })
    }

    async fn saved(
        &self,
        stored: Graph,
        folder: Option<FolderId>,
        summary: BuiltAgent,
    ) -> PortResult<AgentBuilt> {
        let library = &self.engine.inner.ports.library;
        let Some(entry) = library.by_graph(&self.user, &stored.id).await? else {
            return Ok(AgentBuilt::NotFound);
        };
        if let Some(folder) = folder {
            let agents = std::slice::from_ref(&entry.id);
            // A folder that was deleted meanwhile leaves its agents at the root; so does this one.
            library.move_agents(&self.user, agents, Some(&folder)).await?;
        }
        Ok(AgentBuilt::Saved(Box::new(AgentSaved {
            library_agent_link: format!("/library/agents/{}", entry.id),
            agent_page_link: format!("/build?flowID={}", stored.id),
            library_agent_id: entry.id,
            graph_version: stored.version,
            agent_id: stored.id,
            summary,
        })))
    }
}
