//! Responses of `run_agent`: obstacles, refused starts, started and finished executions.

use ports::call_services::{AgentDescription, AgentExecutionStarted};
use protocol::execution::{Execution, ExecutionView};
use protocol::graph::{GraphProblem, InputProblems};
use protocol::limits::RUNS_PER_SESSION;
use protocol::response::{AgentDetails, ExecutionOptions, ResponseBody, ToolResponse};
use serde_json::json;

use super::chosen_agent::ChosenAgent;
use super::start_obstacle::StartObstacle;
use crate::tools::agent_execution::{self, ExecutedAgent, OutputDetail};

/// Problems that the message names; the response body lists all of them.
const NAMED: usize = 5;

/// Builds the responses about one agent.
pub(crate) struct AgentResponses<'a> {
    pub(crate) chosen: &'a ChosenAgent,
    pub(crate) agent: &'a AgentDescription,
}

impl AgentResponses<'_> {
    pub(crate) fn cannot_start(&self, obstacle: StartObstacle) -> ToolResponse {
        let name = self.chosen.name();
        match obstacle {
            StartObstacle::ExternalTrigger => self.details(format!(
                "{name} is triggered by an external event (a webhook) and cannot be run directly. The user sets up its \
                 trigger on the agent's page."
            )),
            StartObstacle::UnknownInputs(names) => {
                let message = format!(
                    "Unknown inputs for {name}: {}. Nothing was run; inputs lists the valid ones.",
                    names.join(", ")
                );
                self.invalid(message, names)
            }
            StartObstacle::InputsNotGiven => self.details(format!(
                "{name} has inputs. Ask the user for any that are unclear, then call again with inputs, or with \
                 use_defaults if the defaults are fine."
            )),
            StartObstacle::MissingInputs(names) => self.details(format!(
                "{name} is missing required inputs: {}. Call again with all inputs.",
                names.join(", ")
            )),
        }
    }

    /// The started execution, or the response that says why there is none.
    pub(crate) fn started_or_refused(
        &self,
        started: AgentExecutionStarted,
    ) -> Result<Execution, Box<ToolResponse>> {
        let name = self.chosen.name();
        Err(Box::new(match started {
            AgentExecutionStarted::Started(run) => return Ok(*run),
            AgentExecutionStarted::NoGraph => ToolResponse::error(
                "agent_not_found",
                format!("The graph of {name} no longer exists."),
            ),
            AgentExecutionStarted::Invalid(problems) => invalid_graph(name, &problems),
            AgentExecutionStarted::Inputs(problems) => self.input_problems(problems),
            AgentExecutionStarted::NotAllowed(blocks) => ToolResponse::error(
                "permission_denied",
                format!(
                    "{name} contains blocks that this session is not allowed to use: {}. Nothing was run.",
                    blocks.join(", ")
                ),
            ),
            AgentExecutionStarted::NoFunds => agent_execution::no_funds(),
            AgentExecutionStarted::TooMany => ToolResponse::error(
                "run_limit",
                format!(
                    "This session has reached its limit of {RUNS_PER_SESSION} agent runs. Start a new session to run \
                     more."
                ),
            ),
        }))
    }

    fn input_problems(&self, problems: InputProblems) -> ToolResponse {
        if !problems.unknown.is_empty() {
            return self.cannot_start(StartObstacle::UnknownInputs(problems.unknown));
        }
        if problems.wrong.is_empty() {
            return self.cannot_start(StartObstacle::MissingInputs(problems.missing));
        }
        let wrong = problems.wrong.iter().take(NAMED);
        let wrong: Vec<String> = wrong.map(|(name, why)| format!("{name}: {why}")).collect();
        let message = format!(
            "Invalid inputs for {}: {}. Nothing was run; inputs lists the valid ones.",
            self.chosen.name(),
            wrong.join("; ")
        );
        self.invalid(message, Vec::new())
    }

    fn details(&self, message: String) -> ToolResponse {
        let entry = self.chosen.entry();
        let graph = &self.agent.graph;
        let webhook = self.agent.flags.has_external_trigger;
        let agent = AgentDetails {
            id: entry.map_or_else(|| graph.id.to_string(), |entry| entry.id.to_string()),
            name: self.chosen.name().to_owned(),
            description: graph.description.clone(),
            in_library: entry.is_some(),
            inputs: self.agent.input_schema.clone(),
            execution_options: ExecutionOptions { manual: !webhook, scheduled: false, webhook },
        };
        let body = ResponseBody::AgentDetails {
            agent,
            user_authenticated: true,
            graph_id: graph.id.clone(),
            graph_version: graph.version,
        };
        ToolResponse::new(message, body)
    }

    fn invalid(&self, message: String, unrecognized_fields: Vec<String>) -> ToolResponse {
        let body = ResponseBody::InputValidationError {
            unrecognized_fields,
            inputs: self.agent.input_schema.clone(),
            graph_id: Some(self.agent.graph.id.clone()),
            graph_version: Some(self.agent.graph.version),
        };
        ToolResponse::new(message, body)
    }
}

fn invalid_graph(name: &str, problems: &[GraphProblem]) -> ToolResponse {
    let named: Vec<&str> =
        problems.iter().take(NAMED).map(|problem| problem.message.as_str()).collect();
    ToolResponse::new(
        format!("{name} cannot run: {}", named.join(" ")),
        ResponseBody::Error {
            error: Some("invalid_graph".into()),
            details: Some(json!({ "problems": problems })),
            execution_id: None,
        },
    )
}

/// The response for an execution that continues without the call.
pub(crate) fn started(of: &ExecutedAgent, run: &Execution) -> ToolResponse {
    let message = format!(
        "{} was started and continues on its own; do not run it again. Call view_agent_output with execution_id {} \
         and wait_if_running to get its outputs.",
        of.name, run.id
    );
    of.started(run, message)
}

pub(crate) fn completed(
    of: &ExecutedAgent,
    view: ExecutionView,
    detail: OutputDetail,
) -> ToolResponse {
    let sentence = match view.execution.request.dry_run {
        true => format!("Dry run (simulated): {}", of.sentence(&view)),
        false => of.sentence(&view),
    };
    ToolResponse::new(sentence, ResponseBody::AgentOutput(of.output(view, detail)))
}
