//! Reads what the service answered.

use ports::agent_generator::{AgentGoal, Decomposition, Generated, GeneratorError};
use ports::call_services::GivenAgent;
use ports::tool::OperationHandle;
use serde_json::{Value, json};

use super::errors;
use super::transport::ServiceAnswer;
use crate::generators::goal_feedback::{self, GoalFeedback};

const FAILED: &str = "The agent generator failed without giving a reason.";

pub(crate) fn decomposition(
    answer: ServiceAnswer,
    goal: &AgentGoal,
) -> Result<Decomposition, GeneratorError> {
    let ServiceAnswer::Json(answer) = answer else {
        return Err(errors::invalid_response("202, but a plan cannot come later"));
    };
    check_success(&answer)?;
    match goal_feedback::read(&answer, goal).map_err(|what| errors::invalid_response(&what))? {
        Some(GoalFeedback::Questions(questions)) => Ok(Decomposition::Questions(questions)),
        Some(GoalFeedback::Suggestion(suggestion)) => Ok(Decomposition::Suggestion(suggestion)),
        None => match (kind(&answer), answer.get("steps")) {
            // The service wants back what it gave, with its type.
            (Some("instructions"), Some(steps @ Value::Array(_))) => {
                Ok(Decomposition::Instructions(json!({"type": "instructions", "steps": steps})))
            }
            (Some("instructions"), _) => Err(errors::invalid_response("a plan without steps")),
            (other, _) => Err(unknown(other)),
        },
    }
}

/// `operation`: whether the service may report a completion later.
pub(crate) fn generated(
    answer: ServiceAnswer,
    goal: &AgentGoal,
    operation: Option<&OperationHandle>,
) -> Result<Generated, GeneratorError> {
    let answer = match (answer, operation) {
        (ServiceAnswer::Json(answer), _) => answer,
        (ServiceAnswer::Accepted, Some(_)) => return Ok(Generated::Accepted),
        (ServiceAnswer::Accepted, None) => {
            return Err(errors::invalid_response("202, but the agent cannot come later"));
        }
    };
    check_success(&answer)?;
    match goal_feedback::read(&answer, goal).map_err(|what| errors::invalid_response(&what))? {
        Some(GoalFeedback::Questions(questions)) => return Ok(Generated::Questions(questions)),
        Some(GoalFeedback::Suggestion(suggestion)) => return Ok(Generated::Suggestion(suggestion)),
        None => {}
    }
    match (answer.get("agent_json"), kind(&answer)) {
        (Some(agent @ Value::Object(_)), _) => {
            Ok(Generated::Agent(GivenAgent::Graph(agent.clone())))
        }
        (Some(_), _) => Err(errors::invalid_response("agent_json is not an object")),
        (None, Some(kind)) => Err(unknown(Some(kind))),
        (None, None) => Err(errors::invalid_response("no agent_json")),
    }
}

/// The error that the service reports: by `success`, or as a type of its own.
fn check_success(answer: &Value) -> Result<(), GeneratorError> {
    if !answer.is_object() {
        return Err(errors::invalid_response("no object"));
    }
    let failed = match answer.get("success").and_then(Value::as_bool) {
        Some(success) => !success,
        None => answer.get("error").is_some(),
    };
    if !failed && kind(answer) != Some("error") {
        return Ok(());
    }
    let text = |name: &str| answer.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let kind = text("error_type").unwrap_or("unknown");
    Err(GeneratorError::new(kind, text("error").unwrap_or(FAILED)))
}

fn kind(answer: &Value) -> Option<&str> {
    answer.get("type").and_then(Value::as_str)
}

fn unknown(kind: Option<&str>) -> GeneratorError {
    errors::invalid_response(&format!("its type is {:?}", kind.unwrap_or_default()))
}
