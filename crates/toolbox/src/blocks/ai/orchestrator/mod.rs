//! `OrchestratorBlock`: a model decides which of the linked nodes is called next, and with which arguments.
//!
//! One run of the block is one decision. The graph contains the loop: `conversations` is linked to
//! `conversation_history`, and the outputs of the called nodes are linked to `last_tool_output`.

mod conversation;
mod tools;

use ports::model::ModelMessage;
use serde::{Deserialize, Deserializer};

use self::conversation::ToolConversation;
use self::tools::NodeTools;
use super::ai_block::{ai_spec, ask_model};
use super::model::{ModelCall, ModelCallOptions, ModelClient, ModelReply};
use super::prompt::ModelPrompt;
use super::shared_inputs::{Attempts, MaxTokens, PromptValues, RequestedModel};
use crate::blocks::prelude::*;
use crate::values::into_text;

const SYSTEM: &str = "You achieve the user's goal by calling tools. Decide which tool makes progress, and call it \
    with all required arguments, as its schema specifies. When the goal is achieved, do not call a tool; reply with \
    the result as text.";
const ONE_CALL: &str = "Call at most one tool at a time.";
const SEVERAL_CALLS: &str = "You may call several tools at a time.";

#[derive(Deserialize, JsonSchema)]
struct OrchestratorInput {
    /// The goal. `{{name}}` inserts a value of prompt_values.
    prompt: String,
    #[serde(default)]
    model: RequestedModel,
    /// Let the model call several tools in one answer.
    #[serde(default)]
    multiple_tool_calls: bool,
    /// The system prompt.
    #[serde(default = "system")]
    sys_prompt: String,
    /// The conversation so far. Link this node's conversations output here.
    #[serde(default)]
    conversation_history: Option<Vec<Value>>,
    /// The output of the called tool. Link the outputs of the tool nodes here.
    #[serde(default, deserialize_with = "null_as_some")]
    last_tool_output: Option<Value>,
    /// How many attempts the model has to make a valid tool call.
    #[serde(default)]
    retry: Attempts,
    #[serde(default)]
    prompt_values: PromptValues,
    /// Approximate maximum length of a text answer, in tokens.
    #[serde(default)]
    max_tokens: MaxTokens,
    /// Must be 0: each run makes one decision, and the graph contains the loop.
    #[serde(default)]
    agent_mode_max_iterations: i64,
    /// Ignored. built_in is the only mode.
    #[serde(default, rename = "execution_mode")]
    _execution_mode: Option<String>,
    /// Ignored. Conversations are never compacted.
    #[serde(default, rename = "conversation_compaction")]
    _conversation_compaction: Option<bool>,
    /// Ignored. The model is configured on the server.
    #[serde(default, rename = "ollama_host")]
    _ollama_host: Option<String>,
}

fn system() -> String {
    SYSTEM.to_owned()
}

/// Distinguishes a tool output of null (`Some(Null)`) from no output (`None`).
fn null_as_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = ai_spec(
        "3b191d9f-356f-482d-8238-ba04b6d18381",
        "OrchestratorBlock",
        "Lets a language model decide which of the linked nodes to call next, and with which \
         arguments, until the goal is achieved.",
    )
    .categories(&[BlockCategory::Ai])
    .kind(BlockKind::Ai)
    .outputs([
        pin::any("tools", "The arguments of a tool call, each sent to its linked input."),
        pin::text("finished", "The final answer, when no more tools are called."),
        pin::list("conversations", "The conversation, including this run's tool calls."),
    ]);
    // No examples: a decision needs a real model, so no example can run in isolation.
    vec![block(spec, Vec::new(), ask_model(dependencies, run))]
}

async fn run(
    mut input: OrchestratorInput,
    model: ModelClient,
) -> Result<Vec<(String, Value)>, BlockError> {
    if input.agent_mode_max_iterations != 0 {
        return Err(BlockError::failed(
            "Agent mode is not supported. Set agent_mode_max_iterations to 0, link conversations to \
             conversation_history and link the outputs of the tools to last_tool_output.",
        ));
    }
    model.require_model()?;
    let mut conversation =
        ToolConversation::new(input.conversation_history.take().unwrap_or_default());
    match update_conversation(&mut conversation, &mut input)? {
        ConversationState::Ready => {}
        ConversationState::Waiting => {
            return Ok(vec![("conversations".to_owned(), conversation.into_value())]);
        }
    }
    let mut prompt = ModelPrompt::new(input.prompt_values.fill(&input.sys_prompt)?);
    prompt.instruct(if input.multiple_tool_calls { SEVERAL_CALLS } else { ONE_CALL });
    conversation.append_to(&mut prompt)?;
    let tools = NodeTools::new(&model.context.tools);
    let reply = decide(&model, &mut prompt, &tools, &input).await?;
    if reply.calls.is_empty() {
        return Ok(vec![("finished".to_owned(), Value::String(reply.text))]);
    }
    let mut outputs = Vec::new();
    for call in &reply.calls {
        let arguments = tools.outputs(call).map_err(BlockError::Failed)?;
        outputs.extend(arguments.into_iter().map(|(pin, value)| (pin.to_owned(), value)));
    }
    conversation.add_reply(&reply);
    outputs.push(("conversations".to_owned(), conversation.into_value()));
    Ok(outputs)
}

/// The model's reply, with valid tool calls. Invalid calls are retried.
async fn decide(
    model: &ModelClient,
    prompt: &mut ModelPrompt,
    tools: &NodeTools,
    input: &OrchestratorInput,
) -> Result<ModelReply, BlockError> {
    let options = ModelCallOptions { model: input.model.clone(), max_tokens: input.max_tokens };
    let mut problem = String::new();
    for _ in 0..input.retry.limited() {
        let call = ModelCall { prompt, tools: &tools.definitions, options: &options };
        let mut reply = model.call(call).await?;
        if !input.multiple_tool_calls {
            reply.calls.truncate(1);
        }
        match reply.calls.iter().try_for_each(|call| tools.outputs(call).map(drop)) {
            Ok(()) => return Ok(reply),
            Err(reason) => {
                reject_calls(prompt, reply, &reason);
                problem = reason;
            }
        }
    }
    Err(BlockError::failed(format!("The model did not make a valid tool call. {problem}")))
}

/// Adds the invalid calls and the reason to this run's prompt. They are not kept in the conversation.
fn reject_calls(prompt: &mut ModelPrompt, reply: ModelReply, reason: &str) {
    let ModelReply { text, calls } = reply;
    let results: Vec<ModelMessage> = calls
        .iter()
        .map(|call| ModelMessage::ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: format!("The call was not made. {reason} Try again."),
            is_error: true,
        })
        .collect();
    let (tool_calls, provider_state) = (calls, None);
    prompt.messages.push(ModelMessage::Assistant { text, tool_calls, provider_state });
    prompt.messages.extend(results);
}

enum ConversationState {
    Ready,
    /// Other calls still wait for their outputs; the model is not called yet.
    Waiting,
}

/// Adds a tool's output and the prompt to the conversation.
fn update_conversation(
    conversation: &mut ToolConversation,
    input: &mut OrchestratorInput,
) -> Result<ConversationState, BlockError> {
    let prompt = input.prompt_values.fill(&input.prompt)?;
    let open = conversation.open_calls();
    let is_continuation = input.last_tool_output.is_some();
    match (open.first(), input.last_tool_output.take()) {
        (Some(call), None) => {
            return Err(BlockError::failed(format!(
                "The call of {} has no output yet.",
                call.name
            )));
        }
        (Some(call), Some(output)) => conversation.add_output(&call.id, output),
        // If a tool emits several outputs, only the first one answers the call.
        (None, Some(output)) if !output.is_null() => {
            conversation.add_user(&format!("Additional tool output: {}", into_text(output)));
        }
        (None, _) => {}
    }
    if open.len() > 1 {
        return Ok(ConversationState::Waiting);
    }
    let already_asked = is_continuation && conversation.has_user_message(&prompt);
    if !prompt.is_empty() && !already_asked {
        conversation.add_user(&prompt);
    }
    Ok(ConversationState::Ready)
}
