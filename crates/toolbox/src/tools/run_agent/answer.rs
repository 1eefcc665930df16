//! What `run_agent` says instead of starting, when it was refused, and when the run has begun or ended.

use ports::call_services::{AgentDescription, AgentExecutionStarted};
use protocol::execution::{Execution, ExecutionView};
use protocol::graph::{GraphProblem, InputProblems};
use protocol::limits::RUNS_PER_SESSION;
use protocol::response::{AgentDetails, ExecutionOptions, ResponseBody, ToolResponse};
use serde_json::json;

use super::super::agent_run::{self, Detail, RunOf};
use super::choose::Chosen;
use super::decide::Obstacle;

/// Problems that a sentence names; the answer has all of them.
const NAMED: usize = 5;

/// The agent that was to be run.
pub(super) struct About<'a> {
    pub(super) chosen: &'a Chosen,
    pub(super) agent: &'a AgentDescription,
}

impl About<'_> {
    pub(super) fn instead(&self, obstacle: Obstacle) -> ToolResponse {
        let name = self.chosen.name();
        match obstacle {
            Obstacle::StartedFromOutside => self.details(format!(
                "{name} is started by an event from outside (a webhook) and cannot be run by hand. The user sets its \
                 trigger up on the page of the agent."
            )),
            Obstacle::Unknown(names) => {
                let message = format!(
                    "{name} does not know these inputs: {}. Nothing was run; inputs says what it takes.",
                    names.join(", ")
                );
                self.invalid(message, names)
            }
            Obstacle::Unasked => self.details(format!(
                "{name} takes inputs. Ask the user for them where they are not clear, then call again with inputs, or \
                 with use_defaults when the defaults will do."
            )),
            Obstacle::Missing(names) => self.details(format!(
                "{name} needs these inputs, too: {}. Call again with all of them.",
                names.join(", ")
            )),
        }
    }

    /// The run, or why there is none.
    pub(super) fn begun(
        &self,
        started: AgentExecutionStarted,
    ) -> Result<Execution, Box<ToolResponse>> {
        let name = self.chosen.name();
        Err(Box::new(match started {
            AgentExecutionStarted::Started(run) => return Ok(*run),
            AgentExecutionStarted::NoGraph => {
                ToolResponse::error("agent_not_found", format!("The graph of {name} is gone."))
            }
            AgentExecutionStarted::Invalid(problems) => unrunnable(name, &problems),
            AgentExecutionStarted::Inputs(problems) => self.misfit(problems),
            AgentExecutionStarted::NotAllowed(blocks) => ToolResponse::error(
                "permission_denied",
                format!(
                    "{name} has blocks that this session may not use: {}. Nothing was run.",
                    blocks.join(", ")
                ),
            ),
            AgentExecutionStarted::NoFunds => agent_run::no_funds(),
            AgentExecutionStarted::TooMany => ToolResponse::error(
                "run_limit",
                format!(
                    "This session has started {RUNS_PER_SESSION} agents, which is as many as it may. Start a new \
                     session for more."
                ),
            ),
        }))
    }

    fn misfit(&self, problems: InputProblems) -> ToolResponse {
        if !problems.unknown.is_empty() {
            return self.instead(Obstacle::Unknown(problems.unknown));
        }
        if problems.wrong.is_empty() {
            return self.instead(Obstacle::Missing(problems.missing));
        }
        let wrong = problems.wrong.iter().take(NAMED);
        let wrong: Vec<String> = wrong.map(|(name, why)| format!("{name}: {why}")).collect();
        let message = format!(
            "{} cannot use these inputs: {}. Nothing was run; inputs says what it takes.",
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

fn unrunnable(name: &str, problems: &[GraphProblem]) -> ToolResponse {
    let named: Vec<&str> =
        problems.iter().take(NAMED).map(|problem| problem.message.as_str()).collect();
    ToolResponse::new(
        format!("{name} cannot run as it is: {}", named.join(" ")),
        ResponseBody::Error {
            error: Some("invalid_graph".into()),
            details: Some(json!({ "problems": problems })),
            execution_id: None,
        },
    )
}

/// The run is under way and goes on by itself.
pub(super) fn started(of: &RunOf, run: &Execution) -> ToolResponse {
    let message = format!(
        "{} was started and goes on by itself; do not run it again. view_agent_output with execution_id {} and \
         wait_if_running tells what it gives.",
        of.name, run.id
    );
    of.started(run, message)
}

pub(super) fn completed(of: &RunOf, view: ExecutionView, detail: Detail) -> ToolResponse {
    let sentence = match view.execution.request.dry_run {
        true => format!("Dry run, simulated: {}", of.sentence(&view)),
        false => of.sentence(&view),
    };
    ToolResponse::new(sentence, ResponseBody::AgentOutput(of.output(view, detail)))
}
