//! `view_agent_output`: outputs of an execution, found by its id, or by agent and time.

mod execution_finder;
mod time_window;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Clock;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::limits::MAX_TOOL_WAIT;
use protocol::response::{AvailableExecution, ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::agent_execution::{self, OutputDetail};
use crate::tools::agent_lookup::AgentLookup;
use crate::tools::{ToolDefinition, TypedTool, caller, waiting};
use execution_finder::{ExecutionFinder, ExecutionSearch, MatchingExecutions};

/// Executions that a response lists besides the one it shows.
const LISTED: usize = 5;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(ViewAgentOutput {
            lookup: AgentLookup::new(services),
            clock: services.clock.clone(),
            max_wait: services.max_wait.min(MAX_TOOL_WAIT),
        })
    })
}

struct ViewAgentOutput {
    lookup: AgentLookup,
    clock: Arc<dyn Clock>,
    max_wait: Duration,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ViewAgentOutputArguments {
    /// Name of a library agent, or part of it.
    #[schemars(length(max = 500))]
    agent_name: Option<String>,
    /// Its library id.
    #[schemars(length(max = 200))]
    library_agent_id: Option<String>,
    /// Its marketplace name: "username/slug".
    #[schemars(length(max = 300))]
    store_slug: Option<String>,
    /// The id of one run.
    #[schemars(length(max = 200))]
    execution_id: Option<String>,
    /// "latest" (default), "today", "yesterday", "last week", "last month", "last 7 days", "last 30 days", an ISO date or
    /// time (UTC).
    #[schemars(length(max = 100))]
    run_time: Option<String>,
    /// Seconds to wait for an unfinished run, 0 to 300. With 0, only completed runs are found.
    #[serde(default)]
    wait_if_running: i64,
    /// Include the inputs and the node executions.
    #[serde(default)]
    show_execution_details: bool,
}

impl ViewAgentOutput {
    async fn view(
        &self,
        arguments: &ViewAgentOutputArguments,
        context: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let user = caller::signed_in_user(context)?;
        let at_most = waiting::clamped(arguments.wait_if_running, self.max_wait);
        let agents = &*context.services.agents;
        let finder = ExecutionFinder { lookup: &self.lookup, user: &user, agents, at_most };
        let MatchingExecutions { of, run, others, total } =
            match finder.runs(arguments, self.clock.now()).await? {
                ExecutionSearch::Found(runs) => *runs,
                ExecutionSearch::NotFound(why) => return Ok(nothing(why)),
            };
        let detail = if arguments.show_execution_details {
            OutputDetail::Nodes
        } else {
            OutputDetail::Outputs
        };
        let view = agent_execution::view(agents, &run, detail).await?;
        let mut message = of.sentence(&view);
        let mut output = of.output(view, detail);
        output.total_executions = total;
        if total > 1 {
            message.push_str(&format!(" Showing the latest of {total} runs."));
            let listed = others.iter().take(LISTED).map(|run| AvailableExecution {
                id: run.id.clone(),
                status: run.status,
                started_at: run.started_at,
            });
            output.available_executions = listed.collect();
        }
        Ok(ToolResponse::new(message, ResponseBody::AgentOutput(output)))
    }
}

fn nothing(why: String) -> ToolResponse {
    let suggestions = vec![
        "List the user's agents with find_library_agent.".to_owned(),
        "Try another time with run_time.".to_owned(),
        "Run the agent with run_agent.".to_owned(),
    ];
    ToolResponse::new(why, ResponseBody::NoResults { suggestions })
}

#[async_trait]
impl TypedTool for ViewAgentOutput {
    type Arguments = ViewAgentOutputArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "view_agent_output",
            "Get the outputs of an agent's run, or wait for them. Name the run, or the agent and \
             the time.",
        )
        .summary("shows the outputs of a run of an agent, or waits for them")
        .requires_sign_in()
        .budget(TimeBudget::Own)
        .effect(ToolEffect::None)
        .labels(
            ToolLabels::new("Agent", ToolIcon::Play, "Checking run", "Checked run").object(&[
                "agent_name",
                "store_slug",
                "execution_id",
            ]),
        )
    }

    async fn call(
        &self,
        arguments: ViewAgentOutputArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        waiting::unless_cancelled(&context.cancel, self.view(&arguments, &context)).await
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"execution_id": " "}), response: "error" },
            ToolExample {
                arguments: json!({"execution_id": "no-such-run"}),
                response: "no_results",
            },
            ToolExample {
                arguments: json!({"agent_name": "zyzzyva qwertz", "run_time": "yesterday"}),
                response: "no_results",
            },
        ]
    }
}
