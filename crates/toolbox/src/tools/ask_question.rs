//! `ask_question`: asks the user for information the model needs to continue.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse, UserQuestion};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(AskQuestion))
}

struct AskQuestion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskQuestionArguments {
    /// The questions, most important first.
    #[schemars(length(min = 1, max = 10))]
    questions: Vec<QuestionArgument>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionArgument {
    /// One complete question.
    #[schemars(length(min = 1, max = 1000))]
    question: String,
    /// A short key that names the answer, such as "city".
    #[schemars(length(max = 100))]
    keyword: Option<String>,
    /// Suggested answers.
    #[schemars(length(max = 10))]
    options: Option<Vec<String>>,
    /// An example answer.
    #[schemars(length(max = 500))]
    example: Option<String>,
}

#[async_trait]
impl TypedTool for AskQuestion {
    type Arguments = AskQuestionArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "ask_question",
            "Ask the user for information that is needed and cannot be found in another way. \
             After calling it, end your answer and wait: the user replies in the next message.",
        )
        .summary("asks you for information; answer with your next message")
        .effect(ToolEffect::None)
        .labels(
            ToolLabels::new("Question for you", ToolIcon::CircleHelp, "Preparing", "Asked")
                .waiting("Waiting for your answer"),
        )
    }

    async fn call(
        &self,
        arguments: AskQuestionArguments,
        _: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let AskQuestionArguments { questions } = arguments;
        if questions.iter().any(|question| question.question.trim().is_empty()) {
            return Err(ToolError::tell("invalid_arguments", "A question is empty."));
        }
        let questions =
            questions.into_iter().enumerate().map(|(at, question)| question.numbered(at + 1));
        Ok(ToolResponse::new(
            "The user sees the questions. Stop here and wait for the answer.",
            ResponseBody::ClarificationNeeded { questions: questions.collect() },
        ))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"questions": [
                {"question": "Which city is it for?", "keyword": "city", "example": "Lisbon"},
                {"question": "How often should it run?", "options": ["daily", "weekly"]},
            ]}),
            response: "clarification_needed",
        }]
    }
}

impl QuestionArgument {
    fn numbered(self, number: usize) -> UserQuestion {
        let keyword = self.keyword.filter(|word| !word.trim().is_empty());
        let options = self.options.filter(|options| !options.is_empty());
        UserQuestion {
            question: self.question,
            keyword: keyword.unwrap_or_else(|| format!("answer_{number}")),
            example: self.example.or_else(|| options.map(|options| options.join(" / "))),
        }
    }
}
