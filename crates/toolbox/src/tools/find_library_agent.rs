//! `find_library_agent`: finds agents in the user's library by words or id, or lists all; optionally with graphs.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use ports::Files;
use ports::call_services::AgentDescription;
use ports::files::FileRef;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::UserId;
use protocol::library::LibraryAgent;
use protocol::response::{AgentInfo, ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::agent_lookup::{self, AgentLookup};
use crate::tools::arguments::non_empty;
use crate::tools::{ToolDefinition, TypedTool, caller, waiting, workspace};

/// Queries that mean the whole library.
const EVERYTHING: [&str; 5] = ["all", "*", "everything", "any", ""];
/// Agents that a list and a search return.
const LISTED: usize = 50;
const FOUND: usize = 10;
/// Agents returned with their graphs, which are large.
const GRAPHS: usize = 10;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(FindLibraryAgent { lookup: AgentLookup::new(services), files: services.files.clone() })
    })
}

struct FindLibraryAgent {
    lookup: AgentLookup,
    files: Arc<dyn Files>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindLibraryAgentArguments {
    /// Keywords, at most 100 characters; "all" or none lists everything.
    query: Option<String>,
    /// One agent, by library id or graph id.
    #[schemars(length(max = 200))]
    agent_id: Option<String>,
    /// Include the graphs.
    #[serde(default)]
    include_graph: bool,
    /// Write the graph of agent_id to this workspace file instead.
    #[schemars(length(max = 255))]
    write_graph_to: Option<String>,
    /// You look for an agent to reuse before creating one.
    #[serde(default)]
    for_creation: bool,
    /// What that agent should achieve.
    #[schemars(length(max = 2000))]
    goal_summary: Option<String>,
}

impl FindLibraryAgent {
    async fn by_id(
        &self,
        user: &UserId,
        id: &str,
        arguments: &FindLibraryAgentArguments,
        context: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let Some(entry) = self.lookup.entry(user, id).await? else {
            return Ok(nothing(&format!("The library has no agent with id {id}.")));
        };
        let Some(agent) = describe(context, &entry).await? else {
            return Ok(nothing(&format!("The graph of {:?} no longer exists.", entry.name)));
        };
        let mut info = agent_lookup::with_schemas(agent_lookup::from_library(&entry), &agent);
        let mut message = format!("{} is in the library.", entry.name);
        if let Some(path) = non_empty(arguments.write_graph_to.as_ref()) {
            message = self.write(&agent, path, context).await?;
        } else if arguments.include_graph {
            info.graph = Some(Box::new(agent.graph));
        }
        Ok(found(message, "Requested agent".into(), vec![info]))
    }

    async fn write(
        &self,
        agent: &AgentDescription,
        path: &str,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let path = workspace::relative(path);
        let graph = serde_json::to_vec_pretty(&agent.graph).map_err(|error| {
            ToolError::Fatal(format!("The graph could not be serialized: {error}."))
        })?;
        let size = graph.len();
        if context.dry_run {
            return Ok(format!("Dry run: {size} bytes would have been written to {path}."));
        }
        let workspace = workspace::session_workspace(context);
        let written = self.files.write(&workspace, path, Bytes::from(graph), true).await;
        let written = written?
            .map_err(|refused| workspace::refusal(refused, &FileRef::Path(path.to_owned())))?;
        Ok(format!("Wrote the graph to {} ({size} bytes).", written.file.path))
    }

    async fn search(
        &self,
        user: &UserId,
        arguments: &FindLibraryAgentArguments,
        context: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let query = LibraryQuery::of(arguments);
        let entries = self.lookup.entries(user, query.keywords()).await?;
        let total = entries.len();
        let mut agents = Vec::new();
        for (score, entry) in entries.into_iter().take(query.shown()) {
            let mut info = agent_lookup::from_library(&entry);
            info.match_score = matches!(query, LibraryQuery::Keywords(_)).then_some(score);
            if arguments.include_graph
                && agents.len() < GRAPHS
                && let Some(agent) = describe(context, &entry).await?
            {
                info = agent_lookup::with_schemas(info, &agent);
                info.graph = Some(Box::new(agent.graph));
            }
            agents.push(info);
        }
        Ok(query.answer(agents, total, arguments))
    }
}

async fn describe(
    context: &ToolContext,
    entry: &LibraryAgent,
) -> Result<Option<AgentDescription>, ToolError> {
    context.services.agents.describe(&entry.graph_id, Some(entry.graph_version)).await
}

enum LibraryQuery<'a> {
    Everything,
    Keywords(&'a str),
}

impl<'a> LibraryQuery<'a> {
    fn of(arguments: &'a FindLibraryAgentArguments) -> Self {
        let query = arguments.query.as_deref().unwrap_or_default().trim();
        if !EVERYTHING.contains(&query.to_lowercase().as_str()) {
            return Self::Keywords(query);
        }
        // With `for_creation` and no query, the goal serves as the query.
        let goal =
            arguments.goal_summary.as_ref().filter(|_| arguments.for_creation && query.is_empty());
        non_empty(goal).map_or(Self::Everything, Self::Keywords)
    }

    fn keywords(&self) -> &'a str {
        match self {
            Self::Everything => "",
            Self::Keywords(words) => words,
        }
    }

    fn shown(&self) -> usize {
        match self {
            Self::Everything => LISTED,
            Self::Keywords(_) => FOUND,
        }
    }

    fn answer(
        &self,
        agents: Vec<AgentInfo>,
        total: usize,
        arguments: &FindLibraryAgentArguments,
    ) -> ToolResponse {
        if agents.is_empty() {
            return nothing(&match self {
                Self::Everything => "The library is empty.".to_owned(),
                Self::Keywords(words) => format!("No library agents match {words:?}."),
            });
        }
        let (title, kind) = match self {
            Self::Everything => ("All library agents".to_owned(), "agents"),
            Self::Keywords(words) => (format!("Library agents for {words:?}"), "matches"),
        };
        let mut message = format!("Showing {} of {total} {kind}.", agents.len());
        if arguments.for_creation {
            message.push_str(" If one of them fits, use it instead of creating a new one.");
        }
        if arguments.include_graph && agents.len() > GRAPHS {
            message.push_str(&format!(" Only the first {GRAPHS} include their graphs."));
        }
        found(message, title, agents)
    }
}

fn found(message: String, title: String, agents: Vec<AgentInfo>) -> ToolResponse {
    let count = agents.len();
    ToolResponse::new(message, ResponseBody::AgentsFound { title, agents, count })
}

fn nothing(why: &str) -> ToolResponse {
    let suggestions = vec![
        "List everything with the query \"all\".".to_owned(),
        "Search the marketplace with find_agent.".to_owned(),
    ];
    ToolResponse::new(why, ResponseBody::NoResults { suggestions })
}

#[async_trait]
impl TypedTool for FindLibraryAgent {
    type Arguments = FindLibraryAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new("find_library_agent", "Search or list the agents in the user's library.")
            .summary("searches or lists the agents of your library, optionally with their graphs")
            .requires_sign_in()
            .effect(ToolEffect::Idempotent)
            .labels(
                ToolLabels::new(
                    "Library",
                    ToolIcon::Library,
                    "Searching your agents",
                    "Searched your agents",
                )
                .quoted_object(&["query", "agent_id"]),
            )
    }

    async fn call(
        &self,
        arguments: FindLibraryAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let user = caller::signed_in_user(&context)?;
        agent_lookup::search_term(arguments.query.as_deref().unwrap_or_default())?;
        let id = non_empty(arguments.agent_id.as_ref());
        if id.is_none() && non_empty(arguments.write_graph_to.as_ref()).is_some() {
            let what = "write_graph_to requires agent_id.";
            return Err(ToolError::tell("invalid_arguments", what));
        }
        let work = async {
            match id {
                Some(id) => self.by_id(&user, id, &arguments, &context).await,
                None => self.search(&user, &arguments, &context).await,
            }
        };
        waiting::unless_cancelled(&context.cancel, work).await
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"query": "zyzzyva qwertz"}), response: "no_results" },
            ToolExample { arguments: json!({"agent_id": "no-such-agent"}), response: "no_results" },
            ToolExample { arguments: json!({"write_graph_to": "agent.json"}), response: "error" },
        ]
    }
}
