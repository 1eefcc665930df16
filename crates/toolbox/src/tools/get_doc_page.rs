//! `get_doc_page`: returns one page of the user guide.

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

pub(super) struct GetDocPage {
    spec: ToolSpec,
    docs: UserGuide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetDocPageArguments {
    /// The path of the page, from search_docs.
    #[schemars(length(min = 1, max = 200))]
    path: String,
}

impl GetDocPage {
    pub(super) fn new(docs: UserGuide) -> Self {
        Self {
            spec: ToolSpec {
                name: "get_doc_page",
                description: "Read a page of the Pilothouse user guide.",
                parameters: arguments::schema::<GetDocPageArguments>(),
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
impl Tool for GetDocPage {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: ToolContext) -> Result<ToolResponse, ToolError> {
        let GetDocPageArguments { path } = arguments::parse(arguments)?;
        let Some(page) = self.docs.page(&path) else {
            let similar = self.docs.similar_paths(&path).join(", ");
            return Err(ToolError::tell(
                "doc_not_found",
                format!("Page not found: {path}. Try: {similar}."),
            ));
        };
        let body = ResponseBody::DocPage {
            title: page.title.clone(),
            path: page.path.clone(),
            content: page.content.clone(),
        };
        Ok(ToolResponse::new(format!("The page \"{}\".", page.title), body))
    }

    fn examples(&self) -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"path": "tools.md"}), response: "doc_page" },
            ToolExample { arguments: json!({"path": "no-such-page.md"}), response: "error" },
        ]
    }
}
