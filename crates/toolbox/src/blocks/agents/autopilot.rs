//! `AutoPilotBlock`: has the copilot do a task.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, CopilotAsk, OutputSink};
use protocol::SessionId;
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::permissions::CapabilityFilter;
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failures;
use super::super::typed::{self, Typed, TypedBlock};

pub(super) struct AutoPilot {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The task.
    prompt: String,
    /// What the copilot should know or keep to besides.
    #[serde(default)]
    system_context: String,
    /// A session to go on with; empty for a new one. The output session_id names it.
    #[serde(default)]
    session_id: String,
    /// How deep copilots may start copilots through this block.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 10))]
    max_recursion_depth: u32,
    /// Names of tools that the copilot may not use, or may use only, as tools_exclude says.
    #[serde(default)]
    tools: Vec<String>,
    /// Whether tools are those that may not be used.
    #[serde(default = "yes")]
    tools_exclude: bool,
    /// Blocks that the copilot may not run, or may run only, as blocks_exclude says: ids, their first eight characters,
    /// or names.
    #[serde(default)]
    blocks: Vec<String>,
    /// Whether blocks are those that may not be run.
    #[serde(default = "yes")]
    blocks_exclude: bool,
    /// Have the copilot only pretend to run blocks and agents. It counts for a new session.
    #[serde(default)]
    dry_run: bool,
}

fn three() -> u32 {
    3
}

fn yes() -> bool {
    true
}

impl AutoPilot {
    pub(super) fn new() -> Typed<Self> {
        let spec = BlockSpec {
            id: "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6",
            name: "AutoPilotBlock",
            description: "Gives the copilot a task, with all of its tools or with those you choose, and gives its \
                answer.",
            categories: &[BlockCategory::Ai, BlockCategory::Agent],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::text("response", "What the copilot answered."),
                typed::list("tool_calls", "The calls it made."),
                typed::text("conversation_history", "The conversation, as JSON."),
                typed::text("session_id", "The session, to go on with it."),
                typed::object("token_usage", "prompt_tokens, completion_tokens, total_tokens"),
            ]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: true,
        };
        Typed(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for AutoPilot {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let ask = ask(given, context.dry_run)?;
        let asked = context.services.copilot.ask(ask);
        let answer = failures::unless_stopped(&context, asked).await??;
        let usage = json!({
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
            "total_tokens": answer.usage.total_tokens(),
        });
        out.emit("response", Value::String(answer.response)).await?;
        out.emit("tool_calls", json!(answer.calls)).await?;
        out.emit("conversation_history", Value::String(answer.history.to_string())).await?;
        out.emit("session_id", json!(answer.session_id)).await?;
        out.emit("token_usage", usage).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // An answer takes a copilot, which takes a whole server.
        Vec::new()
    }
}

fn ask(given: Given, dry_run: bool) -> Result<CopilotAsk, BlockError> {
    if given.prompt.trim().is_empty() {
        return Err(BlockError::failed("There is no task: the prompt is empty."));
    }
    if !(1..=10).contains(&given.max_recursion_depth) {
        return Err(BlockError::failed("max_recursion_depth is a number from 1 to 10."));
    }
    let Given { tools, tools_exclude, blocks, blocks_exclude, .. } = given;
    Ok(CopilotAsk {
        prompt: given.prompt,
        system_context: Some(given.system_context).filter(|context| !context.is_empty()),
        session: Some(given.session_id).filter(|id| !id.is_empty()).map(SessionId),
        max_recursion_depth: given.max_recursion_depth,
        filter: CapabilityFilter { tools, tools_exclude, blocks, blocks_exclude },
        dry_run: given.dry_run || dry_run,
    })
}
