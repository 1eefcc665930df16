//! Finds the agent and the execution that the arguments name.

use std::time::Duration;

use jiff::Timestamp;
use ports::call_services::AgentExecutions;
use ports::store::ListExecutions;
use ports::tool::ToolError;
use protocol::execution::{Execution, ExecutionStatus};
use protocol::library::LibraryAgent;
use protocol::{ExecutionId, UserId};

use super::ViewAgentOutputArguments;
use super::time_window::{self, TimeWindow};
use crate::tools::agent_execution::ExecutedAgent;
use crate::tools::agent_lookup::AgentLookup;
use crate::tools::arguments::non_empty;

/// Executions read per lookup.
const RUNS: u32 = 10;

pub(crate) struct ExecutionFinder<'a> {
    pub(crate) lookup: &'a AgentLookup,
    pub(crate) user: &'a UserId,
    pub(crate) agents: &'a dyn AgentExecutions,
    /// How long to wait for an unfinished execution.
    pub(crate) at_most: Duration,
}

pub(crate) enum ExecutionSearch {
    Found(Box<MatchingExecutions>),
    /// Message that says why.
    NotFound(String),
}

pub(crate) struct MatchingExecutions {
    pub(crate) of: ExecutedAgent,
    /// The execution to show.
    pub(crate) run: Execution,
    /// The matching executions that were read, newest first.
    pub(crate) others: Vec<Execution>,
    pub(crate) total: u64,
}

impl ExecutionFinder<'_> {
    pub(crate) async fn runs(
        &self,
        arguments: &ViewAgentOutputArguments,
        now: Timestamp,
    ) -> Result<ExecutionSearch, ToolError> {
        let execution = non_empty(arguments.execution_id.as_ref()).map(ExecutionId::from);
        let Some(named) = AgentReference::of(arguments) else {
            let Some(id) = execution else {
                let sentence =
                    "Give one of execution_id, library_agent_id, store_slug and agent_name.";
                return Err(ToolError::tell("invalid_arguments", sentence));
            };
            return self.one(&id, None).await;
        };
        let agent = match self.entry(named).await? {
            Ok(agent) => agent,
            Err(why) => return Ok(ExecutionSearch::NotFound(why)),
        };
        match execution {
            Some(id) => self.one(&id, Some(agent)).await,
            None => {
                self.newest(&agent, arguments.run_time.as_deref().unwrap_or_default(), now).await
            }
        }
    }

    /// The library entry, or a message that says why there is none.
    async fn entry(
        &self,
        named: AgentReference<'_>,
    ) -> Result<Result<LibraryAgent, String>, ToolError> {
        match named {
            AgentReference::Id(id) => {
                let entry = self.lookup.entry(self.user, id).await?;
                Ok(entry.ok_or_else(|| format!("The library has no agent with id {id}.")))
            }
            AgentReference::Listed(name) => {
                let Some(listing) = self.lookup.listing(name).await? else {
                    return Ok(Err(format!("The marketplace has no agent {name}.")));
                };
                let library = &self.lookup.library;
                let entry = library.by_graph(self.user, &listing.graph_id).await?;
                let missing = || format!("{} is not in the library: run it first.", listing.name);
                Ok(entry.ok_or_else(missing))
            }
            AgentReference::Words(words) => {
                let best = self.lookup.entries(self.user, words).await?.into_iter().next();
                let missing = || format!("No library agents match {words:?}.");
                Ok(best.map(|(_, entry)| entry).ok_or_else(missing))
            }
        }
    }

    async fn one(
        &self,
        id: &ExecutionId,
        agent: Option<LibraryAgent>,
    ) -> Result<ExecutionSearch, ToolError> {
        let missing = || ExecutionSearch::NotFound(format!("Run not found: {id}."));
        let Some(run) = self.agents.wait(id, self.at_most).await? else {
            return Ok(missing());
        };
        if let Some(agent) = &agent
            && agent.graph_id != run.graph_id
        {
            let (name, id) = (&agent.name, &run.id);
            return Ok(ExecutionSearch::NotFound(format!("Run {id} does not belong to {name}.")));
        }
        let Some(of) = self.owner(&run, agent).await? else {
            return Ok(missing());
        };
        let others = vec![run.clone()];
        Ok(ExecutionSearch::Found(Box::new(MatchingExecutions { of, run, others, total: 1 })))
    }

    /// The agent of an execution: the user's library entry, or else its graph, because dry runs add no entry.
    async fn owner(
        &self,
        run: &Execution,
        agent: Option<LibraryAgent>,
    ) -> Result<Option<ExecutedAgent>, ToolError> {
        let entry = match agent {
            Some(entry) => Some(entry),
            None => self.lookup.library.by_graph(self.user, &run.graph_id).await?,
        };
        if let Some(entry) = entry {
            return Ok(Some(ExecutedAgent::entry(&entry)));
        }
        let described = self.agents.describe(&run.graph_id, Some(run.graph_version)).await?;
        Ok(described.map(|agent| ExecutedAgent {
            name: agent.graph.name,
            graph_id: run.graph_id.clone(),
            library_agent_id: None,
        }))
    }

    async fn newest(
        &self,
        agent: &LibraryAgent,
        when: &str,
        now: Timestamp,
    ) -> Result<ExecutionSearch, ToolError> {
        let TimeWindow { from, until } = time_window::parse(when, now);
        let waits = !self.at_most.is_zero();
        let wanted = ListExecutions {
            graph: Some(agent.graph_id.clone()),
            // Without a wait, only completed executions have something to show.
            statuses: if waits { Vec::new() } else { vec![ExecutionStatus::Completed] },
            from,
            until,
            limit: RUNS,
            ..ListExecutions::default()
        };
        let (mut runs, total) = self.agents.list(&wanted).await?;
        let Some(newest) = runs.first() else {
            return Ok(ExecutionSearch::NotFound(self.why_none(agent, wanted).await?));
        };
        if waits && !is_settled(newest.status) {
            let id = newest.id.clone();
            if let Some(run) = self.agents.wait(&id, self.at_most).await? {
                runs[0] = run;
            }
        }
        let (of, run) = (ExecutedAgent::entry(agent), runs[0].clone());
        Ok(ExecutionSearch::Found(Box::new(MatchingExecutions { of, run, others: runs, total })))
    }

    async fn why_none(
        &self,
        agent: &LibraryAgent,
        wanted: ListExecutions,
    ) -> Result<String, ToolError> {
        let name = &agent.name;
        if wanted.statuses.is_empty() {
            return Ok(format!("{name} was not run at that time."));
        }
        let any = ListExecutions { statuses: Vec::new(), limit: 1, ..wanted };
        let (runs, _) = self.agents.list(&any).await?;
        Ok(match runs.first() {
            None => format!("{name} was not run at that time."),
            Some(run) => format!(
                "No run of {name} at that time has completed. The latest is {} ({}): call again with its execution_id, \
                 and with wait_if_running if it has not finished.",
                run.id,
                run.status.as_str()
            ),
        })
    }
}

/// Whether waiting cannot change the status.
fn is_settled(status: ExecutionStatus) -> bool {
    status.is_final() || status == ExecutionStatus::Review
}

/// How the arguments name an agent; the most exact way wins when there are several.
enum AgentReference<'a> {
    Id(&'a str),
    Listed(&'a str),
    Words(&'a str),
}

impl<'a> AgentReference<'a> {
    fn of(arguments: &'a ViewAgentOutputArguments) -> Option<Self> {
        let id = non_empty(arguments.library_agent_id.as_ref()).map(Self::Id);
        let listed = || non_empty(arguments.store_slug.as_ref()).map(Self::Listed);
        let words = || non_empty(arguments.agent_name.as_ref()).map(Self::Words);
        id.or_else(listed).or_else(words)
    }
}
