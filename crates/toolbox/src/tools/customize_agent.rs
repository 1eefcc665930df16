//! `customize_agent`: makes an agent of the user's own from one of the marketplace, changed by words or as a document.

use async_trait::async_trait;
use ports::call_services::{BuildAgent, BuildTarget};
use ports::tool::{OperationWords, ToolContext, ToolError, ToolExample};
use protocol::FolderId;
use protocol::graph::Graph;
use protocol::response::ToolResponse;
use protocol::tool::{LongRunning, ReportedResult, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::agent_files::AgentFiles;
use crate::tools::agent_lookup::AgentLookup;
use crate::tools::arguments::non_empty;
use crate::tools::from_words::{
    AgentsFromWords, GivenWords, WordsCall, check_words, operation_words,
};
use crate::tools::given_agent::{AgentArgument, AgentDocuments};
use crate::tools::{ToolDefinition, TypedTool};

const NAME: &str = "customize_agent";
/// The argument with the words, and the code when they are missing.
const WORDS: (&str, &str) = ("modifications", "missing_modifications");

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(CustomizeAgent {
            from_words: AgentsFromWords::new(services),
            files: AgentFiles::new(services),
            lookup: AgentLookup::new(services),
        })
    })
}

struct CustomizeAgent {
    from_words: AgentsFromWords,
    files: AgentFiles,
    lookup: AgentLookup,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CustomizeAgentArguments {
    /// The marketplace agent, as "creator/slug".
    #[schemars(length(max = 200))]
    agent_id: Option<String>,
    /// What to change, in the user's words. Give this or a document.
    #[schemars(length(max = 20_000))]
    modifications: Option<String>,
    /// With modifications: answers to questions, and what else matters.
    #[schemars(length(max = 20_000))]
    context: Option<String>,
    /// The whole changed agent as a spec.
    spec: Option<AgentArgument>,
    /// The whole changed agent as graph JSON.
    agent_json: Option<AgentArgument>,
    /// A workspace file with the whole changed agent.
    agent_json_ref: Option<String>,
    /// Save it in the user's library. Otherwise it is only shown.
    #[serde(default = "crate::tools::arguments::yes")]
    save: bool,
    /// The library folder to save it in.
    folder_id: Option<String>,
}

impl CustomizeAgentArguments {
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
impl TypedTool for CustomizeAgent {
    type Arguments = CustomizeAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            NAME,
            "Make an agent of the user's own from a marketplace agent, changed by words (made in the \
             background) or given as a document. find_agent finds its creator/slug.",
        )
        .summary("makes an agent of your own from one of the marketplace")
        .requires_sign_in()
        .long_running(LongRunning::With(WORDS.0))
        .reported_result(ReportedResult::NewAgent)
        // Its id follows from the call.
        .effect(ToolEffect::Idempotent)
        .labels(
            ToolLabels::new("Agent", ToolIcon::Bot, "Customizing", "Customized")
                .object(&["agent_id"]),
        )
    }

    fn begin_operation(
        &self,
        arguments: &CustomizeAgentArguments,
        _: &ToolContext,
    ) -> Result<OperationWords, ToolError> {
        listing_name(arguments.agent_id.as_ref())?;
        let modifications = arguments.modifications.as_deref().unwrap_or_default();
        check_words(modifications, arguments.documents().are_given(), WORDS)?;
        Ok(operation_words("Customizing the agent", modifications))
    }

    async fn call(
        &self,
        arguments: CustomizeAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let documents = arguments.documents();
        let folder = non_empty(arguments.folder_id.as_ref()).map(FolderId::from);
        let save = arguments.save && !context.dry_run;
        if documents.are_given() {
            let words = arguments.modifications.as_deref().unwrap_or_default();
            check_words(words, true, WORDS)?;
            let agent = documents.read(&context, &self.files).await?;
            let template = match non_empty(arguments.agent_id.as_ref()) {
                Some(_) => Some(self.template(&context, arguments.agent_id.as_ref()).await?),
                None => None,
            };
            let template = template.map(|graph| (graph.id, graph.version));
            let target = BuildTarget::NewAgent { folder, template };
            let build = BuildAgent { agent, target, save };
            return Ok(context.services.building.build(build).await?.into());
        }
        listing_name(arguments.agent_id.as_ref())?;
        let description = arguments.modifications.unwrap_or_default();
        check_words(&description, false, WORDS)?;
        let template = self.template(&context, arguments.agent_id.as_ref()).await?;
        let words =
            GivenWords { description, context: arguments.context, library_agent_ids: Vec::new() };
        let made_from = Some((template.id.clone(), template.version));
        let target = BuildTarget::NewAgent { folder, template: made_from };
        let call = WordsCall { tool: NAME, context: &context, target, save };
        self.from_words.customize(call, words, template).await
    }

    fn examples() -> Vec<ToolExample> {
        let missing = json!({"agent_id": "nobody/nothing", "modifications": "Make it shorter"});
        vec![
            ToolExample { arguments: missing, response: "error" },
            ToolExample { arguments: json!({"agent_id": "nobody"}), response: "error" },
        ]
    }
}

impl CustomizeAgent {
    /// The graph of a marketplace agent.
    async fn template(
        &self,
        context: &ToolContext,
        agent_id: Option<&String>,
    ) -> Result<Graph, ToolError> {
        let (creator, slug) = listing_name(agent_id)?;
        let listing = self.lookup.listings.by_name(creator, slug).await.map_err(|error| {
            tracing::warn!(%error, "could not read a listing of the marketplace");
            ToolError::tell("fetch_error", "The marketplace could not be reached. Try again later.")
        })?;
        let Some(listing) = listing else {
            let message = format!("The marketplace has no agent {creator}/{slug}. Use find_agent.");
            return Err(ToolError::tell("agent_not_found", message));
        };
        let version = Some(listing.graph_version);
        let described = context.services.agents.describe(&listing.graph_id, version).await;
        let described = described.map_err(|error| {
            tracing::warn!(%error, "could not read the graph of a listing");
            ToolError::tell("graph_fetch_error", "The agent could not be read. Try again later.")
        })?;
        described.map(|agent| agent.graph).ok_or_else(|| {
            let message = format!("{creator}/{slug} has no version that can be read.");
            ToolError::tell("no_version_available", message)
        })
    }
}

/// The creator and the slug of a marketplace agent.
fn listing_name(agent_id: Option<&String>) -> Result<(&str, &str), ToolError> {
    let Some(name) = non_empty(agent_id) else {
        let message = "agent_id is missing: name the marketplace agent as creator/slug.";
        return Err(ToolError::tell("missing_agent_id", message));
    };
    match name.split_once('/') {
        Some((creator, slug)) if !creator.is_empty() && !slug.is_empty() && !slug.contains('/') => {
            Ok((creator, slug))
        }
        _ => {
            let message =
                format!("{name:?} is not a marketplace agent: use the form creator/slug.");
            Err(ToolError::tell("invalid_agent_id_format", message))
        }
    }
}
