//! `get_doc_page`: returns one page of the user guide.

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

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(GetDocPage { docs: services.docs.clone() }))
}

struct GetDocPage {
    docs: UserGuide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetDocPageArguments {
    /// The path of the page, from search_docs.
    #[schemars(length(min = 1, max = 200))]
    path: String,
}

#[async_trait]
impl TypedTool for GetDocPage {
    type Arguments = GetDocPageArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new("get_doc_page", "Read a page of the Pilothouse user guide.")
            .summary("reads a page of this guide")
            .effect(ToolEffect::None)
            .labels(
                ToolLabels::new("Documentation", ToolIcon::FileText, "Reading", "Read")
                    .object(&["path"]),
            )
    }

    async fn call(
        &self,
        arguments: GetDocPageArguments,
        _: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let GetDocPageArguments { path } = arguments;
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

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"path": "tools.md"}), response: "doc_page" },
            ToolExample { arguments: json!({"path": "no-such-page.md"}), response: "error" },
        ]
    }
}
