//! Reasoning within a tool loop, which only Anthropic requires in later requests.

use ports::model::{ModelMessage, ModelRequest, StopReason};
use protocol::message::ToolCall;
use protocol::turn::TurnMode;
use serde_json::{Value, json};
use testkit::model_server::{Dialect, Script, ScriptedCall};

use super::{GENEROUS, ask, assistant, request, result, rig, user};

fn thinking(messages: Vec<ModelMessage>) -> ModelRequest {
    ModelRequest { mode: TurnMode::ExtendedThinking, ..request(messages) }
}

fn with_state(provider_state: Option<Value>) -> ModelMessage {
    ModelMessage::Assistant {
        text: String::new(),
        tool_calls: vec![ToolCall {
            id: "call_a".into(),
            name: "look".into(),
            arguments: "{}".into(),
        }],
        provider_state,
    }
}

#[tokio::test]
async fn signed_reasoning_is_sent_back_unchanged_within_the_tool_loop() {
    let (server, provider) = rig(Dialect::Anthropic, GENEROUS).await;
    let calls = [ScriptedCall::new("call_a", "look", &json!({}))];
    server.enqueue(Script::default().think("I should look.").call(&calls));
    let first = ask(&*provider, thinking(vec![user("hi")])).await;
    assert_eq!(first.reason, Some(StopReason::ToolCalls));
    assert_eq!(first.reasoning, "I should look.");
    let state = first.provider_state;
    assert!(state.is_some());

    server.enqueue(Script::text("A wall."));
    let history = vec![user("hi"), with_state(state.clone()), result("call_a", "a wall")];
    ask(&*provider, thinking(history)).await;
    let sent = &server.requests()[1];
    assert_eq!(sent.body["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
    assert_eq!(sent.body["max_tokens"], 4096 + 8192);
    assert_eq!(sent.messages()[1]["content"][0]["thinking"], "I should look.");

    // In the next turn the loop is over: the old reasoning is not sent again.
    server.enqueue(Script::text("Still a wall."));
    let history = vec![
        user("hi"),
        with_state(state),
        result("call_a", "a wall"),
        assistant("A wall.", &[]),
        user("and now?"),
    ];
    ask(&*provider, thinking(history)).await;
    assert_eq!(server.requests()[2].messages()[1]["content"][0]["type"], "tool_use");
    server.assert_no_violations();
}

#[tokio::test]
async fn a_loop_that_started_without_reasoning_continues_without_it() {
    let (server, provider) = rig(Dialect::Anthropic, GENEROUS).await;
    server.enqueue(Script::text("ok"));
    let history = vec![user("hi"), with_state(None), result("call_a", "a wall")];
    ask(&*provider, thinking(history)).await;
    assert!(server.requests()[0].body.get("thinking").is_none());
    server.assert_no_violations();
}

#[tokio::test]
async fn fast_mode_requests_no_reasoning() {
    let (server, provider) = rig(Dialect::Anthropic, GENEROUS).await;
    server.enqueue(Script::text("ok"));
    ask(&*provider, request(vec![user("hi")])).await;
    assert!(server.requests()[0].body.get("thinking").is_none());
}

#[tokio::test]
async fn redacted_reasoning_is_kept_and_unknown_events_are_ignored() {
    let (server, provider) = rig(Dialect::Anthropic, GENEROUS).await;
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 100, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "zzz"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "something_new", "index": 7}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "yes"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    server.enqueue(Script::status(200, "text/event-stream", body));
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.text, "yes");
    let hidden = json!({"type": "redacted_thinking", "data": "zzz"});
    assert_eq!(answer.provider_state, Some(json!({"thinking": [hidden]})));
    assert_eq!((answer.usage.prompt_tokens, answer.usage.completion_tokens), (103, 9));
    assert_eq!(answer.usage.cache_write_tokens, 100);
}
