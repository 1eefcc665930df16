//! `OrchestratorBlock`: a model decides which of the linked nodes is called next, and with which arguments.
//!
//! One run of the block is one decision. The graph contains the loop: `conversations` is linked to
//! `conversation_history`, and the outputs of the called nodes are linked to `last_tool_output`.

mod conversation;
mod tools;

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use ports::model::ModelMessage;
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use self::conversation::ToolConversation;
use self::tools::NodeTools;
use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::model::{ModelCallOptions, ModelClient, ModelReply};
use super::prompt::{ModelPrompt, fill_values};
use super::structured::{MAX_ATTEMPTS, three};
use crate::values::into_text;

const SYSTEM: &str = "You achieve the user's goal by calling tools. Decide which tool makes progress, and call it \
    with all required arguments, as its schema specifies. When the goal is achieved, do not call a tool; reply with \
    the result as text.";
const ONE_CALL: &str = "Call at most one tool at a time.";
const SEVERAL_CALLS: &str = "You may call several tools at a time.";

pub(super) struct OrchestratorBlock {
    spec: BlockSpec,
    model: ModelClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct OrchestratorInput {
    /// The goal. `{{name}}` inserts a value of prompt_values.
    prompt: String,
    /// The model to use. Falls back to the server's default if the name is not configured.
    #[serde(default)]
    model: Option<String>,
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
    #[serde(default = "three")]
    #[schemars(range(min = 1))]
    retry: u32,
    /// Values to insert into the prompts, by name.
    #[serde(default)]
    prompt_values: Map<String, Value>,
    /// Approximate maximum length of a text answer, in tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
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

impl OrchestratorBlock {
    pub(super) fn new(model: ModelClient) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "3b191d9f-356f-482d-8238-ba04b6d18381",
            name: "OrchestratorBlock",
            description: "Lets a language model decide which of the linked nodes to call next, and with which \
                arguments, until the goal is achieved.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Ai,
            inputs: typed::inputs::<OrchestratorInput>(),
            outputs: typed::outputs([
                typed::any("tools", "The arguments of a tool call, each sent to its linked input."),
                typed::text("finished", "The final answer, when no more tools are called."),
                typed::list("conversations", "The conversation, including this run's tool calls."),
            ]),
            effect: ToolEffect::None,
            costs: super::COSTS,
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, model })
    }

    /// The model's reply, with valid tool calls. Invalid calls are retried.
    async fn decide(
        &self,
        prompt: &mut ModelPrompt,
        tools: &NodeTools,
        input: &OrchestratorInput,
        context: &BlockContext,
    ) -> Result<ModelReply, BlockError> {
        let options = ModelCallOptions { model: input.model.clone(), max_tokens: input.max_tokens };
        let mut problem = String::new();
        for _ in 0..input.retry.clamp(1, MAX_ATTEMPTS) {
            let mut reply = self.model.call(prompt, &tools.definitions, &options, context).await?;
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

#[async_trait]
impl TypedBlock for OrchestratorBlock {
    type Input = OrchestratorInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        mut input: OrchestratorInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        if input.agent_mode_max_iterations != 0 {
            return Err(BlockError::failed(
                "Agent mode is not supported. Set agent_mode_max_iterations to 0, link conversations to \
                 conversation_history and link the outputs of the tools to last_tool_output.",
            ));
        }
        self.model.require_model()?;
        let mut conversation =
            ToolConversation::new(input.conversation_history.take().unwrap_or_default());
        match update_conversation(&mut conversation, &mut input)? {
            ConversationState::Ready => {}
            ConversationState::Waiting => {
                return out.emit("conversations", conversation.into_value()).await;
            }
        }
        let mut prompt = ModelPrompt::new(fill_values(&input.sys_prompt, &input.prompt_values)?);
        prompt.instruct(if input.multiple_tool_calls { SEVERAL_CALLS } else { ONE_CALL });
        conversation.append_to(&mut prompt)?;
        let tools = NodeTools::new(&context.tools);
        let reply = self.decide(&mut prompt, &tools, &input, &context).await?;
        if reply.calls.is_empty() {
            return out.emit("finished", Value::String(reply.text)).await;
        }
        for call in &reply.calls {
            for (pin, value) in tools.outputs(call).map_err(BlockError::Failed)? {
                out.emit(pin, value).await?;
            }
        }
        conversation.add_reply(&reply);
        out.emit("conversations", conversation.into_value()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // A decision needs a real model, so no example can run in isolation.
        Vec::new()
    }
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
    let prompt = fill_values(&input.prompt, &input.prompt_values)?;
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
