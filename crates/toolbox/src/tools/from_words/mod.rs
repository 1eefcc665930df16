//! Makes agents from words: the generator decides and writes, the stages of building fix, check and rehearse what it
//! wrote, and what they refuse is repaired a few times.

mod failure;
mod service_error;
mod usable_agents;

use std::collections::BTreeSet;
use std::sync::Arc;

use ports::AgentGenerator;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, FailedAgent, GenerateAgent, Generated,
    GeneratorError, UpdateAgent,
};
use ports::agent_responses::problem_details;
use ports::call_services::{AgentBuilt, BuildAgent, BuildTarget, GivenAgent};
use ports::tool::{OperationHandle, OperationWords, ToolContext, ToolError};
use protocol::graph::{Graph, GraphProblem};
use protocol::response::{
    AgentProgress, BuildingStage, ResponseBody, SuggestedGoal, ToolResponse, UserQuestion,
};
use protocol::text::cut_end;
use serde_json::{Value, json};

pub(crate) use failure::Failure;
use usable_agents::step_texts;

use crate::tools::agent_lookup::AgentLookup;
use crate::tools::given_agent::check_size;
use crate::tools::{ToolServices, caller, waiting};

/// How often the generator may repair an agent.
const REPAIRS: u32 = 3;
/// Characters of a goal that are shown with its operation.
const SHOWN_GOAL: usize = 100;
const DETAIL_CHARS: usize = 500;

pub(crate) struct AgentsFromWords {
    generator: Arc<dyn AgentGenerator>,
    lookup: AgentLookup,
}

/// Words as arguments.
pub(crate) struct GivenWords {
    pub(crate) description: String,
    pub(crate) context: Option<String>,
    pub(crate) library_agent_ids: Vec<String>,
}

/// One call, while an agent is made for it.
pub(crate) struct WordsCall<'a> {
    pub(crate) tool: &'static str,
    pub(crate) context: &'a ToolContext,
    pub(crate) target: BuildTarget,
    pub(crate) save: bool,
}

/// What the generator works on.
struct WrittenAgent {
    goal: AgentGoal,
    /// The agent that is changed, if it is not a new one.
    current_spec: Option<String>,
    generated: Result<Generated, GeneratorError>,
    failure: Failure,
}

impl AgentsFromWords {
    pub(crate) fn new(services: &ToolServices) -> Self {
        Self { generator: services.generator.clone(), lookup: AgentLookup::new(services) }
    }

    pub(crate) async fn create(
        &self,
        call: WordsCall<'_>,
        words: GivenWords,
    ) -> Result<ToolResponse, ToolError> {
        let work = async {
            call.show(BuildingStage::Understanding, "Understanding the goal.", None);
            let mut goal = self.goal(&call, words).await?;
            let instructions = match self.generator.decompose(&goal).await {
                Ok(Decomposition::Instructions(instructions)) => instructions,
                Ok(Decomposition::Questions(questions)) => return Ok(asked(questions)),
                Ok(Decomposition::Suggestion(suggestion)) => {
                    return Ok(suggested(suggestion, &goal));
                }
                Err(error) => return Ok(Failure::Decomposition.response(&error, &goal)),
            };
            let steps = step_texts(&instructions);
            let plan = (!steps.is_empty()).then(|| cut_end(&steps.join("\n"), DETAIL_CHARS));
            call.show(BuildingStage::Planning, "Planning the steps.", plan);
            let user = caller::signed_in_user(call.context)?;
            self.lookup.add_usable(call.context, &user, &steps, &mut goal).await?;
            call.show(BuildingStage::Writing, "Writing the agent.", None);
            let operation = call.operation();
            let request = GenerateAgent { goal: goal.clone(), instructions, operation };
            let generated = self.generator.generate(&request).await;
            let failure = Failure::Generation;
            self.finish(&call, WrittenAgent { goal, current_spec: None, generated, failure }).await
        };
        waiting::unless_cancelled(&call.context.cancel, work).await
    }

    /// Changes the agent; the target names its version.
    pub(crate) async fn update(
        &self,
        call: WordsCall<'_>,
        words: GivenWords,
        current: Graph,
    ) -> Result<ToolResponse, ToolError> {
        let work = async {
            call.show(BuildingStage::Understanding, "Understanding the change.", None);
            let goal = self.goal(&call, words).await?;
            let current_spec = call.context.services.building.spec_of(&current);
            call.show(BuildingStage::Writing, "Changing the agent.", None);
            let request = UpdateAgent {
                change: goal.clone(),
                current: Box::new(current),
                current_spec: current_spec.clone(),
                operation: call.operation(),
            };
            let generated = self.generator.update(&request).await;
            let (current_spec, failure) = (Some(current_spec), Failure::Update);
            self.finish(&call, WrittenAgent { goal, current_spec, generated, failure }).await
        };
        waiting::unless_cancelled(&call.context.cancel, work).await
    }

    pub(crate) async fn customize(
        &self,
        call: WordsCall<'_>,
        words: GivenWords,
        template: Graph,
    ) -> Result<ToolResponse, ToolError> {
        let work = async {
            call.show(BuildingStage::Understanding, "Understanding the change.", None);
            let goal = self.goal(&call, words).await?;
            let template_spec = call.context.services.building.spec_of(&template);
            call.show(BuildingStage::Writing, "Changing the template.", None);
            let request = CustomizeAgent {
                change: goal.clone(),
                template: Box::new(template),
                template_spec: template_spec.clone(),
            };
            let generated = match self.generator.customize(&request).await {
                Ok(Generated::Accepted) => return Ok(unexpected()),
                generated => generated,
            };
            let (current_spec, failure) = (Some(template_spec), Failure::Customization);
            self.finish(&call, WrittenAgent { goal, current_spec, generated, failure }).await
        };
        waiting::unless_cancelled(&call.context.cancel, work).await
    }

    async fn goal(&self, call: &WordsCall<'_>, words: GivenWords) -> Result<AgentGoal, ToolError> {
        let user = caller::signed_in_user(call.context)?;
        let library_agents =
            self.lookup.usable(call.context, &user, &words.library_agent_ids).await?;
        let context = words.context.filter(|context| !context.trim().is_empty());
        Ok(AgentGoal { description: words.description, context, library_agents })
    }

    async fn finish(
        &self,
        call: &WordsCall<'_>,
        written: WrittenAgent,
    ) -> Result<ToolResponse, ToolError> {
        let WrittenAgent { goal, current_spec, generated, failure } = written;
        match generated {
            Ok(Generated::Accepted) => Ok(match call.operation() {
                Some(operation) => accepted(call.tool, operation),
                None => unexpected(),
            }),
            Ok(Generated::Questions(questions)) => Ok(asked(questions)),
            Ok(Generated::Suggestion(suggestion)) => Ok(suggested(suggestion, &goal)),
            Ok(Generated::Agent(agent)) => self.build(call, goal, current_spec, agent).await,
            Err(error) => Ok(failure.response(&error, &goal)),
        }
    }

    /// Runs the stages, and lets the generator repair what they refuse. The same errors twice end the work.
    async fn build(
        &self,
        call: &WordsCall<'_>,
        goal: AgentGoal,
        current_spec: Option<String>,
        mut agent: GivenAgent,
    ) -> Result<ToolResponse, ToolError> {
        let mut seen = BTreeSet::new();
        let mut round = 0;
        loop {
            check_size(&agent)?;
            let build =
                BuildAgent { agent: agent.clone(), target: call.target.clone(), save: call.save };
            let problems = match call.context.services.building.build(build).await? {
                AgentBuilt::Invalid(problems) => problems,
                built => return Ok(built.into()),
            };
            if round == REPAIRS || !seen.insert(signature(&problems)) {
                return Ok(blocked(&problems, round, None));
            }
            round += 1;
            call.show_repair(round, &problems);
            let failed = FailedAgent {
                goal: goal.clone(),
                current_spec: current_spec.clone(),
                agent,
                problems: problems.clone(),
            };
            agent = match self.generator.repair(&failed).await {
                Ok(Some(Generated::Agent(agent))) => agent,
                Ok(Some(Generated::Questions(questions))) => return Ok(asked(questions)),
                Ok(Some(Generated::Suggestion(suggestion))) => {
                    return Ok(suggested(suggestion, &goal));
                }
                Ok(Some(Generated::Accepted) | None) => {
                    return Ok(blocked(&problems, round - 1, None));
                }
                Err(error) => return Ok(blocked(&problems, round - 1, Some(&error))),
            };
        }
    }
}

impl WordsCall<'_> {
    /// The ids under which a service may report the agent later. A dry run must not be completed from outside, because
    /// that would save the agent.
    fn operation(&self) -> Option<OperationHandle> {
        self.context.operation.clone().filter(|_| !self.context.dry_run)
    }

    fn show(&self, stage: BuildingStage, words: &str, detail: Option<String>) {
        self.report(words.to_owned(), AgentProgress { stage, detail, round: None });
    }

    fn show_repair(&self, round: u32, problems: &[GraphProblem]) {
        let messages: Vec<&str> = problems.iter().map(|found| found.message.as_str()).collect();
        let detail = Some(cut_end(&messages.join("\n"), DETAIL_CHARS));
        let words = format!("Repairing the agent (attempt {round} of {REPAIRS}).");
        let stage = BuildingStage::Repairing;
        self.report(words, AgentProgress { stage, detail, round: Some(round) });
    }

    fn report(&self, words: String, progress: AgentProgress) {
        let body = ResponseBody::AgentProgress(progress);
        self.context.services.reports.show_stage(&ToolResponse::new(words, body));
    }
}

/// What is said about an operation that makes an agent: "Creating your agent: …".
pub(crate) fn operation_words(doing: &str, goal: &str) -> OperationWords {
    let goal = cut_end(goal.trim(), SHOWN_GOAL);
    OperationWords {
        pending: format!("{doing}: {goal}"),
        started: format!(
            "{doing}: {goal} This takes a few minutes. The user can close the page: the chat continues by itself, \
             and the agent will be in the library."
        ),
    }
}

/// The error when words and a document are given for the same agent, or neither says anything.
pub(crate) fn check_words(
    words: &str,
    has_document: bool,
    (argument, missing): (&str, &'static str),
) -> Result<(), ToolError> {
    match (words.trim().is_empty(), has_document) {
        (false, false) | (true, true) => Ok(()),
        (false, true) => {
            let message = format!("Give {argument} or a document (spec, agent_json), not both.");
            Err(ToolError::tell("invalid_arguments", message))
        }
        (true, false) => Err(ToolError::tell(missing, format!("{argument} is empty."))),
    }
}

/// Codes and places of errors: two equal ones mean that a repair changed nothing.
fn signature(problems: &[GraphProblem]) -> BTreeSet<(String, Option<String>)> {
    problems.iter().map(|problem| (problem.code.clone(), problem.path.clone())).collect()
}

fn asked(questions: Vec<UserQuestion>) -> ToolResponse {
    ToolResponse::new(
        "Ask the user these questions. Then call the tool again with the same words and the answers in context.",
        ResponseBody::ClarificationNeeded { questions },
    )
}

fn suggested(suggestion: SuggestedGoal, goal: &AgentGoal) -> ToolResponse {
    let original_goal = suggestion.original_goal.or_else(|| Some(goal.description.clone()));
    let message = format!(
        "The goal does not work as it is: {} Ask the user whether the suggested goal is what they want.",
        suggestion.reason
    );
    let body = ResponseBody::SuggestedGoal(SuggestedGoal { original_goal, ..suggestion });
    ToolResponse::new(message, body)
}

fn accepted(tool: &str, operation: OperationHandle) -> ToolResponse {
    let OperationHandle { operation_id, task_id } = operation;
    ToolResponse::new(
        "The generator has accepted the task. The agent arrives later.",
        ResponseBody::OperationStarted {
            operation_id,
            tool_name: tool.to_owned(),
            task_id: Some(task_id),
        },
    )
}

fn unexpected() -> ToolResponse {
    ToolResponse::error(
        "unexpected_response_type",
        "The generator answered with something that cannot be used here. Try again.",
    )
}

/// The generator could not make an agent without errors.
fn blocked(
    problems: &[GraphProblem],
    repairs: u32,
    error: Option<&GeneratorError>,
) -> ToolResponse {
    let left = match problems.len() {
        1 => "an error is left".to_owned(),
        count => format!("{count} errors are left"),
    };
    let message = format!(
        "The agent could not be made: {left} after {repairs} repairs. Nothing was saved. Describe the goal in more \
         detail or in smaller steps, or write the spec yourself."
    );
    let mut details = problem_details(problems);
    if let Value::Object(details) = &mut details {
        details.insert("state".to_owned(), json!("blocked"));
        details.insert("repairs".to_owned(), json!(repairs));
        if let Some(error) = error {
            let cleaned = service_error::cleaned(&error.message);
            details.insert("service_error".to_owned(), json!(cleaned));
            details.insert("error_type".to_owned(), json!(error.kind));
        }
    }
    let body = ResponseBody::Error {
        error: Some("validation_failed".to_owned()),
        details: Some(details),
        execution_id: None,
    };
    ToolResponse::new(message, body)
}
