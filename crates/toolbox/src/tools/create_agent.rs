//! `create_agent`: makes an agent from words, from a spec or from graph JSON.

use async_trait::async_trait;
use ports::call_services::{BuildAgent, BuildTarget};
use ports::tool::{OperationWords, ToolContext, ToolError, ToolExample};
use protocol::FolderId;
use protocol::response::ToolResponse;
use protocol::tool::{LongRunning, ReportedResult, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::agent_files::AgentFiles;
use crate::tools::arguments::non_empty;
use crate::tools::from_words::{
    AgentsFromWords, GivenWords, WordsCall, check_words, operation_words,
};
use crate::tools::given_agent::{AgentArgument, AgentDocuments, check_guide_was_read};
use crate::tools::{ToolDefinition, TypedTool};

const NAME: &str = "create_agent";
/// The argument with the words, and the code when they are missing.
const WORDS: (&str, &str) = ("description", "missing_description");

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(CreateAgent {
            from_words: AgentsFromWords::new(services),
            files: AgentFiles::new(services),
        })
    })
}

struct CreateAgent {
    from_words: AgentsFromWords,
    files: AgentFiles,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateAgentArguments {
    /// What the agent should do, in the user's words. Give this or a document.
    #[schemars(length(max = 20_000))]
    description: Option<String>,
    /// With description: answers to questions, and what else matters.
    #[schemars(length(max = 20_000))]
    context: Option<String>,
    /// Agents of the library that it may use as steps.
    #[schemars(length(max = 50))]
    library_agent_ids: Option<Vec<String>>,
    /// The agent spec, as YAML text or as an object.
    spec: Option<AgentArgument>,
    /// The agent as graph JSON, instead of a spec.
    agent_json: Option<AgentArgument>,
    /// A workspace file with the agent.
    agent_json_ref: Option<String>,
    /// Save it in the user's library. Otherwise it is only shown.
    #[serde(default = "crate::tools::arguments::yes")]
    save: bool,
    /// The library folder to save it in.
    folder_id: Option<String>,
}

impl CreateAgentArguments {
    fn documents(&self) -> AgentDocuments {
        AgentDocuments {
            spec: self.spec.clone(),
            agent_json: self.agent_json.clone(),
            agent_json_ref: self.agent_json_ref.clone(),
            agent_id: None,
        }
    }
}

#[async_trait]
impl TypedTool for CreateAgent {
    type Arguments = CreateAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            NAME,
            "Create an agent from a description (made in the background) or from a spec. It is fixed, \
             checked and rehearsed; the response says how far it is proven. Refuses until \
             get_agent_building_guide was called.",
        )
        .summary("creates an agent from words or from a spec, or shows a preview of it")
        .requires_sign_in()
        .long_running(LongRunning::With(WORDS.0))
        .reported_result(ReportedResult::NewAgent)
        // Its id follows from the call.
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new("Agent", ToolIcon::Bot, "Creating", "Created"))
    }

    fn begin_operation(
        &self,
        arguments: &CreateAgentArguments,
        context: &ToolContext,
    ) -> Result<OperationWords, ToolError> {
        check_guide_was_read(context, NAME)?;
        let description = arguments.description.as_deref().unwrap_or_default();
        check_words(description, arguments.documents().are_given(), WORDS)?;
        Ok(operation_words("Creating your agent", description))
    }

    async fn call(
        &self,
        arguments: CreateAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, NAME)?;
        let documents = arguments.documents();
        let CreateAgentArguments { description, context: more, library_agent_ids, save, .. } =
            arguments;
        let folder = non_empty(arguments.folder_id.as_ref()).map(FolderId::from);
        let target = BuildTarget::NewAgent { folder, template: None };
        let save = save && !context.dry_run;
        if let Some(description) = description {
            check_words(&description, documents.are_given(), WORDS)?;
            if !description.trim().is_empty() {
                let library_agent_ids = library_agent_ids.unwrap_or_default();
                let words = GivenWords { description, context: more, library_agent_ids };
                let call = WordsCall { tool: NAME, context: &context, target, save };
                return self.from_words.create(call, words).await;
            }
        }
        let agent = documents.read(&context, &self.files).await?;
        let build = BuildAgent { agent, target, save };
        Ok(context.services.building.build(build).await?.into())
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"spec": {"name": "x"}}), response: "error" },
            ToolExample { arguments: json!({"description": "Count words"}), response: "error" },
        ]
    }
}
