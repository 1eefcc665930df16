//! What is answered when the generator fails: a code for the stage and the kind, and one sentence for each kind.

use ports::agent_generator::{AgentGoal, GeneratorError};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::text::cut_end;
use serde_json::json;

use super::service_error;

/// Characters of the goal that the details repeat.
const GOAL_CHARS: usize = 100;

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Decomposition,
    Generation,
    Update,
    Customization,
}

impl Failure {
    pub(crate) fn response(self, error: &GeneratorError, goal: &AgentGoal) -> ToolResponse {
        let GeneratorError { kind, message } = error;
        let code = match (self, kind.as_str()) {
            (Self::Customization, "unexpected_error") => "customization_service_error".to_owned(),
            (_, "") => self.code().to_owned(),
            (_, kind) => format!("{}:{kind}", self.code()),
        };
        let details = json!({
            "description": cut_end(&goal.description, GOAL_CHARS - 1),
            "service_error": service_error::cleaned(message),
            "error_type": kind,
        });
        let body =
            ResponseBody::Error { error: Some(code), details: Some(details), execution_id: None };
        ToolResponse::new(format!("{} {}", self.sentence(), reason(kind)), body)
    }

    fn code(self) -> &'static str {
        match self {
            Self::Decomposition => "decomposition_failed",
            Self::Generation => "generation_failed",
            Self::Update => "update_generation_failed",
            Self::Customization => "customization_failed",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Decomposition => "The goal could not be planned.",
            Self::Generation => "The agent could not be made.",
            Self::Update => "The agent could not be changed.",
            Self::Customization => "The template could not be changed.",
        }
    }
}

/// What happened and what to do next.
fn reason(kind: &str) -> &'static str {
    match kind {
        "llm_parse_error" | "invalid_response" => {
            "The generator's answer could not be read. Try again, or describe it more simply."
        }
        "validation_error" => {
            "What the generator made was not valid. Describe the goal in more detail or in smaller steps."
        }
        "patch_error" => "The changes could not be applied. Describe them differently.",
        "timeout" | "llm_timeout" => {
            "It took too long. Try again, or begin with fewer steps and add the others later."
        }
        "rate_limit" | "llm_rate_limit" => {
            "The generator has too many requests now. Try again in a few minutes."
        }
        "connection_error" | "service_unavailable" | "request_error" => {
            "The generator could not be reached. Try again later."
        }
        _ => "Try again, or describe it differently.",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_of_failure_has_a_code_and_a_sentence() {
        let goal = AgentGoal { description: "x".repeat(300), ..AgentGoal::default() };
        for (failure, kind, code) in [
            (Failure::Decomposition, "timeout", "decomposition_failed:timeout"),
            (Failure::Generation, "llm_parse_error", "generation_failed:llm_parse_error"),
            (Failure::Generation, "", "generation_failed"),
            (Failure::Update, "patch_error", "update_generation_failed:patch_error"),
            (Failure::Customization, "rate_limit", "customization_failed:rate_limit"),
            (Failure::Customization, "unexpected_error", "customization_service_error"),
        ] {
            let error = GeneratorError::new(kind, "at /srv/generator/main.py");
            let response = json!(failure.response(&error, &goal));
            assert_eq!(response["error"], code);
            let details = &response["details"];
            assert_eq!(details["error_type"], kind);
            assert_eq!(details["service_error"], "at [path]");
            assert_eq!(details["description"].as_str().map(|text| text.chars().count()), Some(100));
        }
        let kinds = ["llm_parse_error", "validation_error", "patch_error", "timeout", "rate_limit"];
        let sentences: BTreeSet<&str> = kinds.into_iter().chain(["other"]).map(reason).collect();
        assert_eq!(sentences.len(), 6, "one sentence per kind");
        assert_eq!(reason("timeout"), reason("llm_timeout"));
        assert_eq!(reason("rate_limit"), reason("llm_rate_limit"));
    }
}
