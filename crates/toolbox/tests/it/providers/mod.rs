//! The model providers against a scripted model server.

mod anthropic;
mod laws;
mod model_server;
mod offline;
mod openai_dialects;
mod requests;
mod title;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use pilothouse_toolbox::providers::{
    AnthropicOptions, CONTEXT_TOKENS, EndpointOptions, OpenAiOptions, ProviderOptions,
    ProviderTimeouts, TokenPrices, connect,
};
use ports::ModelProvider;
use ports::model::{
    ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream, StopReason, ToolDefinition,
    ToolUse,
};
use protocol::message::ToolCall;
use protocol::secret::SecretText;
use protocol::turn::{ModelTier, TurnMode};
use protocol::usage::Usage;
use serde_json::{Value, json};
use testkit::model_server::{API_KEY, Dialect, MODEL, ModelServer, TITLE_MODEL};

/// Longer than any answer of a test; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const GENEROUS: ProviderTimeouts =
    ProviderTimeouts { connect: PATIENCE, first_byte: PATIENCE, idle: PATIENCE };
const SHORT: ProviderTimeouts = ProviderTimeouts {
    connect: Duration::from_millis(100),
    first_byte: Duration::from_millis(200),
    idle: Duration::from_millis(200),
};

fn options(dialect: Dialect, base_url: String, timeouts: ProviderTimeouts) -> ProviderOptions {
    let endpoint = EndpointOptions {
        base_url,
        model: MODEL.to_owned(),
        advanced_model: "scripted-advanced".to_owned(),
        title_model: TITLE_MODEL.to_owned(),
        timeouts,
        prices: TokenPrices { input_per_mtok: Some(3.0), output_per_mtok: Some(15.0) },
        context_tokens: CONTEXT_TOKENS,
    };
    let api_key: SecretText = API_KEY.into();
    match dialect {
        Dialect::OpenAi => ProviderOptions::OpenAi(OpenAiOptions {
            endpoint,
            api_key: Some(api_key),
            max_output_tokens: None,
        }),
        Dialect::Anthropic => ProviderOptions::Anthropic(AnthropicOptions {
            endpoint,
            api_key,
            max_output_tokens: 4096,
        }),
    }
}

pub(crate) async fn rig(
    dialect: Dialect,
    timeouts: ProviderTimeouts,
) -> (ModelServer, Arc<dyn ModelProvider>) {
    let server = ModelServer::start().await;
    let provider = connect(&options(dialect, server.url(dialect), timeouts)).expect("connects");
    (server, provider)
}

fn user(text: &str) -> ModelMessage {
    ModelMessage::User { text: text.into() }
}

fn assistant(text: &str, calls: &[(&str, &str)]) -> ModelMessage {
    let call = |(id, arguments): &(&str, &str)| ToolCall {
        id: (*id).into(),
        name: "look".into(),
        arguments: (*arguments).into(),
    };
    ModelMessage::Assistant {
        text: text.into(),
        tool_calls: calls.iter().map(call).collect(),
        provider_state: None,
    }
}

fn result(call_id: &str, content: &str) -> ModelMessage {
    ModelMessage::ToolResult {
        call_id: call_id.into(),
        name: "look".into(),
        content: content.into(),
        is_error: false,
    }
}

fn request(messages: Vec<ModelMessage>) -> ModelRequest {
    let tool = |name: &str, description: &str| ToolDefinition {
        name: name.into(),
        description: description.into(),
        parameters: json!({"type": "object", "properties": {"at": {"type": "string"}}}),
    };
    ModelRequest {
        system: "Be brief.".into(),
        messages,
        tools: [
            tool("look", "Looks at a place. It may take a while."),
            tool("todo_write", "Keeps the list.\nOf things to do."),
        ]
        .into(),
        tool_use: ToolUse::Allowed,
        tier: ModelTier::Standard,
        mode: TurnMode::Fast,
    }
}

/// All events of a stream.
async fn drain(mut stream: ModelStream) -> Vec<Result<ModelEvent, ModelError>> {
    let mut events = Vec::new();
    while let Some(event) =
        tokio::time::timeout(PATIENCE, stream.next()).await.expect("the stream continues or ends")
    {
        events.push(event);
    }
    assert!(stream.next().await.is_none(), "an ended stream stays ended");
    events
}

/// One complete response and its end.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    reasoning: String,
    /// Id, name and arguments.
    calls: Vec<(String, String, String)>,
    reason: Option<StopReason>,
    usage: Usage,
    provider_state: Option<Value>,
    error: Option<ModelError>,
}

async fn ask(provider: &dyn ModelProvider, request: ModelRequest) -> Answer {
    match provider.stream(request).await {
        Ok(stream) => answer(drain(stream).await),
        Err(error) => Answer { error: Some(error), ..Answer::default() },
    }
}

/// Also checks that there is exactly one `Finished` or error, as the last event.
fn answer(events: Vec<Result<ModelEvent, ModelError>>) -> Answer {
    let is_end = |event: &Result<_, _>| matches!(event, Err(_) | Ok(ModelEvent::Finished { .. }));
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1, "{events:?}");
    assert!(events.last().is_some_and(is_end), "{events:?}");
    let mut answer = Answer::default();
    for event in events {
        match event {
            Ok(ModelEvent::Text(delta)) => {
                assert!(!delta.is_empty(), "an empty delta");
                answer.text.push_str(&delta);
            }
            Ok(ModelEvent::Reasoning(delta)) => answer.reasoning.push_str(&delta),
            Ok(ModelEvent::ToolCall { index, id, name }) => {
                assert_eq!(index, answer.calls.len(), "calls are numbered in order");
                answer.calls.push((id.0, name, String::new()));
            }
            Ok(ModelEvent::ToolInput { index, delta }) => answer.calls[index].2.push_str(&delta),
            Ok(ModelEvent::Finished { reason, usage, provider_state }) => {
                answer.reason = Some(reason);
                answer.usage = usage;
                answer.provider_state = provider_state;
            }
            Err(error) => answer.error = Some(error),
        }
    }
    answer
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.into(), name.into(), arguments.into())
}
