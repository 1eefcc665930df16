//! `search_docs`: searches the user guide.

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use super::docs::UserGuide;

const RESULTS: usize = 5;

pub(super) struct SearchDocs {
    spec: ToolSpec,
    docs: UserGuide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchDocsArguments {
    /// What to search for, in a few words.
    #[schemars(length(min = 1, max = 500))]
    query: String,
}

impl SearchDocs {
    pub(super) fn new(docs: UserGuide) -> Self {
        Self {
            spec: ToolSpec {
                name: "search_docs",
                description: "Search the Pilothouse user guide: API, streaming, tools, models, files, errors, \
                    security and operation. Read a result with get_doc_page.",
                parameters: arguments::schema::<SearchDocsArguments>(),
                requires_auth: false,
                budget: TimeBudget::Default,
                effect: ToolEffect::None,
                long_running: false,
            },
            docs,
        }
    }
}

#[async_trait]
impl Tool for SearchDocs {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: ToolContext) -> Result<ToolResponse, ToolError> {
        let SearchDocsArguments { query } = arguments::parse(arguments)?;
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

    fn examples(&self) -> Vec<ToolExample> {
        vec![
            ToolExample {
                arguments: json!({"query": "resume a stream"}),
                response: "doc_search_results",
            },
            ToolExample { arguments: json!({"query": "xylophone"}), response: "no_results" },
        ]
    }
}
