//! `count_words`: counts the words of a text.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(CountWords))
}

struct CountWords;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CountWordsArguments {
    /// The text whose words are counted.
    #[schemars(length(max = 10_000))]
    text: String,
}

#[async_trait]
impl TypedTool for CountWords {
    type Arguments = CountWordsArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new("count_words", "Count the words of a text.")
            .summary("counts the words of a text")
            .effect(ToolEffect::None)
            .labels(
                ToolLabels::new("Words", ToolIcon::FileText, "Counting", "Counted")
                    .quoted_object(&["text"]),
            )
    }

    async fn call(
        &self,
        CountWordsArguments { text }: CountWordsArguments,
        _: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let words = text.split_whitespace().count();
        let body = ResponseBody::ExternalToolOutput {
            tool: "count_words".into(),
            output: json!({ "words": words }),
        };
        Ok(ToolResponse::new(format!("The text has {words} words."), body))
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"text": "one two three"}),
            response: "external_tool_output",
        }]
    }
}
