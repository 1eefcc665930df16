//! `run_agent`: returns what an agent needs, starts it, and waits for its outputs.

mod chosen_agent;
mod responses;
mod start_obstacle;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Clock;
use ports::call_services::NewAgentExecution;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::execution::{Execution, ExecutionStatus};
use protocol::limits::MAX_TOOL_WAIT;
use protocol::response::ToolResponse;
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tools::agent_execution::{self, ExecutedAgent, OutputDetail};
use crate::tools::agent_lookup::AgentLookup;
use crate::tools::block_choice::BlockCatalog;
use crate::tools::{ToolDefinition, TypedTool, caller, setup, waiting};
use responses::AgentResponses;
use start_obstacle::StartOptions;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(RunAgent {
            lookup: AgentLookup::new(services),
            blocks: BlockCatalog::new(services),
            clock: services.clock.clone(),
            max_wait: services.max_wait.min(MAX_TOOL_WAIT),
        })
    })
}

struct RunAgent {
    lookup: AgentLookup,
    blocks: BlockCatalog,
    clock: Arc<dyn Clock>,
    max_wait: Duration,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunAgentArguments {
    /// Marketplace agent: "username/slug".
    #[schemars(length(max = 300))]
    username_agent_slug: Option<String>,
    /// Agent in the user's library.
    #[schemars(length(max = 200))]
    library_agent_id: Option<String>,
    /// Values by input name.
    inputs: Option<Map<String, Value>>,
    /// Use the default of every input that is not given.
    #[serde(default)]
    use_defaults: bool,
    /// Seconds to wait for the result, 0 to 300.
    #[serde(default)]
    wait_for_result: i64,
    /// Simulate the run without external effects.
    #[serde(default)]
    dry_run: bool,
}

impl RunAgent {
    async fn run(
        &self,
        arguments: RunAgentArguments,
        context: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let user = caller::signed_in_user(context)?;
        let dry_run = context.dry_run || arguments.dry_run;
        let chosen = self.lookup.choose(&user, &arguments).await?;
        let (graph, version) = chosen.graph();
        let agents = &*context.services.agents;
        let Some(agent) = agents.describe(graph, Some(version)).await? else {
            return Err(chosen_agent::missing(&format!("The graph of {}", chosen.name())));
        };
        // A dry run needs no credentials.
        if !dry_run && let Some(response) = setup::of_agent(chosen.name(), &agent, &self.blocks) {
            return Ok(response);
        }
        let inputs = arguments.inputs.unwrap_or_default();
        let options = StartOptions { use_defaults: arguments.use_defaults, dry_run };
        let responses = AgentResponses { chosen: &chosen, agent: &agent };
        if let Some(obstacle) = start_obstacle::find_obstacle(&agent, &inputs, options) {
            return Ok(responses.cannot_start(obstacle));
        }
        // A dry run does not add the agent to the library.
        let entry = match dry_run {
            true => chosen.entry().cloned(),
            false => Some(self.lookup.ensure_in_library(&user, &chosen, self.clock.now()).await?),
        };
        let new = NewAgentExecution {
            graph_id: agent.graph.id.clone(),
            graph_version: agent.graph.version,
            inputs,
            dry_run,
            safe_mode: entry.as_ref().map(|entry| entry.settings).unwrap_or_default(),
        };
        let of = ExecutedAgent {
            name: chosen.name().to_owned(),
            graph_id: agent.graph.id.clone(),
            library_agent_id: entry.map(|entry| entry.id),
        };
        match responses.started_or_refused(agents.start(new).await?) {
            Ok(run) => {
                let at_most = waiting::clamped(arguments.wait_for_result, self.max_wait);
                follow(run, of, at_most, context).await
            }
            Err(refusal) => Ok(*refusal),
        }
    }
}

/// Waits for the execution, and responds with its state after the wait.
async fn follow(
    run: Execution,
    of: ExecutedAgent,
    at_most: Duration,
    context: &ToolContext,
) -> Result<ToolResponse, ToolError> {
    let started = responses::started(&of, &run);
    if at_most.is_zero() {
        return Ok(started);
    }
    context.services.reports.show(&started);
    let agents = &*context.services.agents;
    let run = agents.wait(&run.id, at_most).await?.unwrap_or(run);
    match run.status {
        ExecutionStatus::Completed => {
            let detail =
                if run.request.dry_run { OutputDetail::Nodes } else { OutputDetail::Outputs };
            let view = agent_execution::view(agents, &run, detail).await?;
            Ok(responses::completed(&of, view, detail))
        }
        ExecutionStatus::Failed | ExecutionStatus::Terminated => {
            Ok(of.failure(&agent_execution::view(agents, &run, OutputDetail::Outputs).await?))
        }
        ExecutionStatus::Review => Ok(of.started(&run, agent_execution::needs_review(&of.name))),
        ExecutionStatus::Incomplete | ExecutionStatus::Queued | ExecutionStatus::Running => {
            Ok(responses::started(&of, &run))
        }
    }
}

#[async_trait]
impl TypedTool for RunAgent {
    type Arguments = RunAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "run_agent",
            "Run an agent. Without inputs it returns what the agent needs; with them it starts \
             the agent, and returns the outputs if they arrive within wait_for_result. Otherwise \
             get them later with view_agent_output: do not run it again.",
        )
        .summary("shows the inputs of an agent, runs it, and waits for its outputs")
        .requires_sign_in()
        .budget(TimeBudget::Own)
        .effect(ToolEffect::Idempotent)
        .labels(
            ToolLabels::new("Agent", ToolIcon::Bot, "Running", "Ran")
                .object(&["username_agent_slug", "library_agent_id"]),
        )
    }

    async fn call(
        &self,
        arguments: RunAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        waiting::unless_cancelled(&context.cancel, self.run(arguments, &context)).await
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({}), response: "error" },
            ToolExample {
                arguments: json!({"library_agent_id": "no-such-agent"}),
                response: "error",
            },
            ToolExample {
                arguments: json!({"username_agent_slug": "nobody/nothing"}),
                response: "error",
            },
        ]
    }
}
