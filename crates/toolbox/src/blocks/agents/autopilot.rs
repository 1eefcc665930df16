//! `AutoPilotBlock`: gives the copilot a task.

use ports::block::CopilotAsk;
use protocol::SessionId;
use protocol::permissions::CapabilityFilter;

use crate::blocks::failures;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct AutoPilotInput {
    /// The task for the copilot.
    prompt: String,
    /// Additional instructions or context for the copilot.
    #[serde(default)]
    system_context: String,
    /// The session to continue (see the session_id output). Leave empty to start a new one.
    #[serde(default)]
    session_id: String,
    /// How many levels deep copilots may start other copilots with this block.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 10))]
    max_recursion_depth: u32,
    /// Names of the tools to forbid or to allow, depending on tools_exclude.
    #[serde(default)]
    tools: Vec<String>,
    /// If true, the listed tools are forbidden. If false, only they are allowed.
    #[serde(default = "yes")]
    tools_exclude: bool,
    /// Blocks to forbid or to allow, depending on blocks_exclude: IDs, the first eight characters of IDs, or names.
    #[serde(default)]
    blocks: Vec<String>,
    /// If true, the listed blocks are forbidden. If false, only they are allowed.
    #[serde(default = "yes")]
    blocks_exclude: bool,
    /// Simulate blocks and agents instead of running them. Applies to new sessions only.
    #[serde(default)]
    dry_run: bool,
}

fn three() -> u32 {
    3
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6",
        "AutoPilotBlock",
        "Gives the copilot a task, with all of its tools or a selection, and returns its answer.",
    )
    .categories(&[BlockCategory::Ai, BlockCategory::Agent])
    .outputs([
        pin::text("response", "The copilot's answer."),
        pin::list("tool_calls", "The tool calls the copilot made."),
        pin::text("conversation_history", "The conversation, as JSON."),
        pin::text("session_id", "The session ID, to continue the session."),
        pin::object(
            "token_usage",
            "Tokens used: prompt_tokens, completion_tokens and total_tokens.",
        ),
    ])
    .effect(ToolEffect::Idempotent)
    .coordinates();
    // No examples: an answer needs a running copilot, so no example can run in isolation.
    vec![block(spec, Vec::new(), Async::new(run))]
}

async fn run(input: AutoPilotInput, context: BlockContext) -> Result<PinValues, BlockError> {
    let request = copilot_request(input, context.dry_run)?;
    let answer = context.services.copilot.ask(request);
    let answer = failures::unless_stopped(&context, answer).await??;
    let usage = json!({
        "prompt_tokens": answer.usage.prompt_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "total_tokens": answer.usage.total_tokens(),
    });
    Ok(vec![
        ("response", Value::String(answer.response)),
        ("tool_calls", json!(answer.calls)),
        ("conversation_history", Value::String(answer.history.to_string())),
        ("session_id", json!(answer.session_id)),
        ("token_usage", usage),
    ])
}

fn copilot_request(input: AutoPilotInput, dry_run: bool) -> Result<CopilotAsk, BlockError> {
    if input.prompt.trim().is_empty() {
        return Err(BlockError::failed("The prompt is empty."));
    }
    if !(1..=10).contains(&input.max_recursion_depth) {
        return Err(BlockError::failed("max_recursion_depth must be between 1 and 10."));
    }
    let AutoPilotInput { tools, tools_exclude, blocks, blocks_exclude, .. } = input;
    Ok(CopilotAsk {
        prompt: input.prompt,
        system_context: Some(input.system_context).filter(|context| !context.is_empty()),
        session: Some(input.session_id).filter(|id| !id.is_empty()).map(SessionId),
        max_recursion_depth: input.max_recursion_depth,
        filter: CapabilityFilter { tools, tools_exclude, blocks, blocks_exclude },
        dry_run: input.dry_run || dry_run,
    })
}
