//! `OrchestratorBlock`: a model decides which of the nodes behind this one is called next, and with what.
//!
//! One run is one decision. The loop is drawn in the graph: `conversations` leads back to `conversation_history`, and
//! what the called nodes give leads back to `last_tool_output`.

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

use self::conversation::Conversation;
use self::tools::Tools;
use super::super::typed::{self, Typed, TypedBlock};
use super::model::{Answer, Asking, Model};
use super::prompt::{Prompt, filled};
use super::structured::{MOST_ATTEMPTS, three};
use crate::values::into_text;

const SYSTEM: &str = "You reach the goal of the user by calling tools. Think about which one brings you further, and \
    call it with every argument that it needs, in the form that its schema asks for. When the goal is reached, do not \
    call a tool but give the result in words.";
const ONE_CALL: &str = "Call at most one tool at a time.";
const SEVERAL_CALLS: &str = "You may call several tools at a time.";

pub(super) struct Orchestrator {
    spec: BlockSpec,
    model: Model,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// What is to be reached. `{{name}}` stands for a value of prompt_values.
    prompt: String,
    /// A model's name. One that this server is not configured with means the one that it is.
    #[serde(default)]
    model: Option<String>,
    /// Whether the model may call several tools in one answer.
    #[serde(default)]
    multiple_tool_calls: bool,
    /// Instructions that the model follows throughout.
    #[serde(default = "system")]
    sys_prompt: String,
    /// What was said before: link conversations of the same node to it.
    #[serde(default)]
    conversation_history: Option<Vec<Value>>,
    /// What the called tool gave: link the outputs of the tools to it.
    #[serde(default, deserialize_with = "even_null")]
    last_tool_output: Option<Value>,
    /// How often the model may try to make a call that fits its tool.
    #[serde(default = "three")]
    #[schemars(range(min = 1))]
    retry: u32,
    /// Values for the prompt, by name.
    #[serde(default)]
    prompt_values: Map<String, Value>,
    /// The answer in words is cut after about so many tokens.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
    /// Only 0 works here: one decision in every run, and the loop is drawn in the graph.
    #[serde(default)]
    agent_mode_max_iterations: i64,
    /// Kept for agents that set it: built_in is the only mode here.
    #[serde(default, rename = "execution_mode")]
    _execution_mode: Option<String>,
    /// Kept for agents that set it: a conversation is never shortened here.
    #[serde(default, rename = "conversation_compaction")]
    _conversation_compaction: Option<bool>,
    /// Kept for agents that set it: the server knows where its model is.
    #[serde(default, rename = "ollama_host")]
    _ollama_host: Option<String>,
}

fn system() -> String {
    SYSTEM.to_owned()
}

/// A tool that gave null has answered, which is not the same as no answer.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Orchestrator {
    pub(super) fn new(model: Model) -> Typed<Self> {
        let spec = BlockSpec {
            id: "3b191d9f-356f-482d-8238-ba04b6d18381",
            name: "OrchestratorBlock",
            description: "Has a language model decide which of the linked nodes is called next, and with what, until \
                it is done.",
            categories: &[BlockCategory::Ai],
            kind: BlockKind::Ai,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::any("tools", "The arguments of a call, each on the link to its input."),
                typed::text("finished", "The result in words, when no tool is called any more."),
                typed::list("conversations", "The conversation with the calls of this run."),
            ]),
            effect: ToolEffect::None,
            costs: super::COSTS,
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, model })
    }

    /// The model's answer, its calls fit for their tools.
    async fn decision(
        &self,
        prompt: &mut Prompt,
        tools: &Tools,
        given: &Given,
        context: &BlockContext,
    ) -> Result<Answer, BlockError> {
        let asking = Asking { model: given.model.clone(), max_tokens: given.max_tokens };
        let mut wrong = String::new();
        for _ in 0..given.retry.clamp(1, MOST_ATTEMPTS) {
            let mut answer =
                self.model.decide(prompt, &tools.definitions, &asking, context).await?;
            if !given.multiple_tool_calls {
                answer.calls.truncate(1);
            }
            match answer.calls.iter().try_for_each(|call| tools.outputs(call).map(drop)) {
                Ok(()) => return Ok(answer),
                Err(what) => {
                    refuse(prompt, answer, &what);
                    wrong = what;
                }
            }
        }
        let why = format!("The model did not call its tools as they have to be called. {wrong}");
        Err(BlockError::failed(why))
    }
}

/// Tells the model what is wrong with its calls. The conversation that goes on is spared this.
fn refuse(prompt: &mut Prompt, answer: Answer, what: &str) {
    let Answer { text, calls } = answer;
    let results: Vec<ModelMessage> = calls
        .iter()
        .map(|call| ModelMessage::ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: format!("Nothing was called. {what} Try again."),
            is_error: true,
        })
        .collect();
    let (tool_calls, provider_state) = (calls, None);
    prompt.messages.push(ModelMessage::Assistant { text, tool_calls, provider_state });
    prompt.messages.extend(results);
}

#[async_trait]
impl TypedBlock for Orchestrator {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        mut given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        if given.agent_mode_max_iterations != 0 {
            return Err(BlockError::failed(
                "Tools cannot be called within one run of this block. Set agent_mode_max_iterations to 0, and link \
                 conversations to conversation_history and the outputs of the tools to last_tool_output.",
            ));
        }
        self.model.must_understand()?;
        let mut conversation =
            Conversation::new(given.conversation_history.take().unwrap_or_default());
        match hear(&mut conversation, &mut given)? {
            Heard::All => {}
            Heard::Some => return out.emit("conversations", conversation.into_value()).await,
        }
        let mut prompt = Prompt::new(filled(&given.sys_prompt, &given.prompt_values)?);
        prompt.instruct(if given.multiple_tool_calls { SEVERAL_CALLS } else { ONE_CALL });
        conversation.tell(&mut prompt)?;
        let tools = Tools::new(&context.tools);
        let answer = self.decision(&mut prompt, &tools, &given, &context).await?;
        if answer.calls.is_empty() {
            return out.emit("finished", Value::String(answer.text)).await;
        }
        for call in &answer.calls {
            for (pin, value) in tools.outputs(call).map_err(BlockError::Failed)? {
                out.emit(pin, value).await?;
            }
        }
        conversation.decided(&answer);
        out.emit("conversations", conversation.into_value()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // Nothing can be decided without a model that understands the tools.
        Vec::new()
    }
}

enum Heard {
    All,
    /// Other calls still wait for their outputs, so that it is too early to decide.
    Some,
}

/// Takes the output of a tool and the prompt into the conversation.
fn hear(conversation: &mut Conversation, given: &mut Given) -> Result<Heard, BlockError> {
    let prompt = filled(&given.prompt, &given.prompt_values)?;
    let open = conversation.open_calls();
    let goes_on = given.last_tool_output.is_some();
    match (open.first(), given.last_tool_output.take()) {
        (Some(call), None) => {
            let why = format!("The call of {} waits for its output.", call.name);
            return Err(BlockError::failed(why));
        }
        (Some(call), Some(output)) => conversation.answer(&call.id, output),
        // A tool that gives more than once answers a call only with the first of it.
        (None, Some(output)) if !output.is_null() => {
            conversation.user(&format!("A tool gave this besides: {}", into_text(output)));
        }
        (None, _) => {}
    }
    if open.len() > 1 {
        return Ok(Heard::Some);
    }
    let is_said = goes_on && conversation.has_user(&prompt);
    if !prompt.is_empty() && !is_said {
        conversation.user(&prompt);
    }
    Ok(Heard::All)
}
