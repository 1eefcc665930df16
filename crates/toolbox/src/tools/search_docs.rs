//! `search_docs`: searches the user guide.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::docs::UserGuide;
use crate::tools::{ToolDefinition, TypedTool};

const RESULTS: usize = 5;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(SearchDocs { docs: services.docs.clone() }))
}

struct SearchDocs {
    docs: UserGuide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchDocsArguments {
    /// What to search for, in a few words.
    #[schemars(length(min = 1, max = 500))]
    query: String,
}

#[async_trait]
impl TypedTool for SearchDocs {
    type Arguments = SearchDocsArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "search_docs",
            "Search the Pilothouse user guide: API, streaming, tools, models, files, errors, \
             security and operation. Read a result with get_doc_page.",
        )
        .summary("searches this guide")
        .effect(ToolEffect::None)
        .labels(
            ToolLabels::new("Documentation", ToolIcon::Search, "Searching for", "Searched for")
                .quoted_object(&["query"]),
        )
    }

    async fn call(
        &self,
        arguments: SearchDocsArguments,
        _: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let SearchDocsArguments { query } = arguments;
        let results = self.docs.search(&query, RESULTS);
        if results.is_empty() {
            let suggestions = vec!["Use other or fewer words.".to_owned()];
            let message = "No pages of the guide match.";
            return Ok(ToolResponse::new(message, ResponseBody::NoResults { suggestions }));
        }
        let count = results.len();
        let message = format!("{count} pages, best match first. Read one with get_doc_page.");
        Ok(ToolResponse::new(message, ResponseBody::DocSearchResults { results, count, query }))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample {
                arguments: json!({"query": "resume a stream"}),
                response: "doc_search_results",
            },
            ToolExample { arguments: json!({"query": "xylophone"}), response: "no_results" },
        ]
    }
}
