//! `edit_agent`: makes a new version of one of the user's agents, from words, from edits or from the whole document.

use async_trait::async_trait;
use ports::call_services::{AgentBuilt, BuildAgent, BuildTarget, GivenAgent};
use ports::tool::{OperationWords, ToolContext, ToolError, ToolExample};
use protocol::GraphId;
use protocol::graph_edit::GraphEdit;
use protocol::response::ToolResponse;
use protocol::tool::{LongRunning, ReportedResult, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::agent_files::AgentFiles;
use crate::tools::from_words::{
    AgentsFromWords, GivenWords, WordsCall, check_words, operation_words,
};
use crate::tools::given_agent::{AgentArgument, AgentDocuments, check_guide_was_read};
use crate::tools::{ToolDefinition, TypedTool};

const NAME: &str = "edit_agent";
/// The argument with the words, and the code when they are missing.
const WORDS: (&str, &str) = ("changes", "missing_changes");

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(EditAgent {
            from_words: AgentsFromWords::new(services),
            files: AgentFiles::new(services),
        })
    })
}

struct EditAgent {
    from_words: AgentsFromWords,
    files: AgentFiles,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditAgentArguments {
    /// The agent's graph id.
    #[schemars(length(min = 1, max = 200))]
    agent_id: String,
    /// What to change, in the user's words. Give this, edits or a document.
    #[schemars(length(max = 20_000))]
    changes: Option<String>,
    /// With changes: answers to questions, and what else matters.
    #[schemars(length(max = 20_000))]
    context: Option<String>,
    /// Agents of the library that it may use as steps.
    #[schemars(length(max = 50))]
    library_agent_ids: Option<Vec<String>>,
    /// The version that was changed. Required for edits.
    base_version: Option<u32>,
    /// Edits, as in the guide. All are applied, or none.
    edits: Option<Vec<Value>>,
    /// The whole changed agent as a spec, instead of edits.
    spec: Option<AgentArgument>,
    /// The whole changed agent as graph JSON, instead of edits.
    agent_json: Option<AgentArgument>,
    /// A workspace file with the whole changed agent.
    agent_json_ref: Option<String>,
    /// Save it as a new version. Otherwise it is only shown, with what would change.
    #[serde(default = "crate::tools::arguments::yes")]
    save: bool,
}

impl EditAgentArguments {
    fn documents(&self) -> AgentDocuments {
        AgentDocuments {
            spec: self.spec.clone(),
            agent_json: self.agent_json.clone(),
            agent_json_ref: self.agent_json_ref.clone(),
            agent_id: None,
        }
    }

    /// Whether the change is given other than in words.
    fn has_document(&self) -> bool {
        self.edits.is_some() || self.documents().are_given()
    }
}

#[async_trait]
impl TypedTool for EditAgent {
    type Arguments = EditAgentArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            NAME,
            "Change one of the user's agents: by words (made in the background), by edits of a version, \
             or with the whole changed spec. The response has the difference. Refuses until \
             get_agent_building_guide was called.",
        )
        .summary("changes one of your agents, from words or edits, or shows what would change")
        .requires_sign_in()
        .long_running(LongRunning::With(WORDS.0))
        .reported_result(ReportedResult::NewVersion("agent_id"))
        // A version that means the same as the newest one is not saved again.
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new("Agent", ToolIcon::Bot, "Changing", "Changed"))
    }

    fn begin_operation(
        &self,
        arguments: &EditAgentArguments,
        context: &ToolContext,
    ) -> Result<OperationWords, ToolError> {
        check_guide_was_read(context, NAME)?;
        let changes = arguments.changes.as_deref().unwrap_or_default();
        check_words(changes, arguments.has_document(), WORDS)?;
        Ok(operation_words("Changing your agent", changes))
    }

    async fn call(
        &self,
        arguments: EditAgentArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        check_guide_was_read(&context, NAME)?;
        let (documents, has_document) = (arguments.documents(), arguments.has_document());
        let EditAgentArguments {
            agent_id,
            changes,
            context: more,
            library_agent_ids,
            base_version,
            edits,
            save,
            ..
        } = arguments;
        let (of, save) = (GraphId(agent_id), save && !context.dry_run);
        if let Some(changes) = changes {
            check_words(&changes, has_document, WORDS)?;
            if !changes.trim().is_empty() {
                let library_agent_ids = library_agent_ids.unwrap_or_default();
                let words = GivenWords { description: changes, context: more, library_agent_ids };
                return self.change_by_words(&context, of, words, save).await;
            }
        }
        let agent = match edits {
            Some(_) if documents.are_given() => {
                let message = "Give the change in one form only: edits, spec or agent_json.";
                return Err(ToolError::tell("invalid_arguments", message));
            }
            Some(edits) => given_edits(&of, base_version, edits)?,
            None => documents.read(&context, &self.files).await?,
        };
        let target = BuildTarget::NewVersion { of, base_version };
        let build = BuildAgent { agent, target, save };
        Ok(context.services.building.build(build).await?.into())
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"agent_id": "none", "spec": {"name": "x"}}),
            response: "error",
        }]
    }
}

impl EditAgent {
    async fn change_by_words(
        &self,
        context: &ToolContext,
        of: GraphId,
        words: GivenWords,
        save: bool,
    ) -> Result<ToolResponse, ToolError> {
        let Some(current) = context.services.building.newest(&of).await? else {
            return Ok(AgentBuilt::NotFound.into());
        };
        // Someone may change the agent while the generator works.
        let base_version = Some(current.version);
        let target = BuildTarget::NewVersion { of: current.id.clone(), base_version };
        let call = WordsCall { tool: NAME, context, target, save };
        self.from_words.update(call, words, current).await
    }
}

fn given_edits(
    id: &GraphId,
    base_version: Option<u32>,
    edits: Vec<Value>,
) -> Result<GivenAgent, ToolError> {
    let Some(base_version) = base_version else {
        let message = "Edits need base_version: the version that they were made for.";
        return Err(ToolError::tell("invalid_arguments", message));
    };
    let read = |(index, edit): (usize, Value)| {
        serde_json::from_value(edit).map_err(|error| {
            ToolError::tell("invalid_arguments", format!("edits[{index}]: {error}."))
        })
    };
    let edits: Result<Vec<GraphEdit>, ToolError> =
        edits.into_iter().enumerate().map(read).collect();
    Ok(GivenAgent::Edits { id: id.clone(), base_version, edits: edits? })
}
