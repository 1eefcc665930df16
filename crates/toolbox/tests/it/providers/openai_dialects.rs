//! Differences between OpenAI-compatible servers.

use ports::model::{ModelErrorKind, StopReason};
use serde_json::{Value, json};
use testkit::model_server::{Dialect, Script};

use super::{Answer, GENEROUS, ask, request, rig, user};

async fn answer_to(content_type: &str, body: String) -> Answer {
    let (server, provider) = rig(Dialect::OpenAi, GENEROUS).await;
    server.enqueue(Script::status(200, content_type, body));
    ask(&*provider, request(vec![user("hi")])).await
}

async fn answer_to_chunks(chunks: &[Value]) -> Answer {
    let body = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    answer_to("text/event-stream", body).await
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(calls: Value) -> Value {
    delta(json!({"tool_calls": calls}))
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

#[tokio::test]
async fn tool_calls_are_understood_in_every_dialect() {
    let whole = |id: Value, name: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let at = |index: u64, mut call: Value| {
        call["index"] = json!(index);
        call
    };
    let table = [
        (
            "whole calls in one delta, without an index",
            vec![calls(json!([
                whole(json!("a"), "look", json!("{\"n\":1}")),
                whole(json!("b"), "look", json!("{\"n\":2}")),
            ]))],
        ),
        (
            "whole calls in deltas of their own, all with index 0",
            vec![
                calls(json!([at(0, whole(json!("a"), "look", json!("{\"n\":1}")))])),
                calls(json!([at(0, whole(json!("b"), "look", json!("{\"n\":2}")))])),
            ],
        ),
        (
            "arguments as objects",
            vec![
                calls(json!([at(0, whole(json!("a"), "look", json!({"n": 1})))])),
                calls(json!([at(1, whole(json!("b"), "look", json!({"n": 2})))])),
            ],
        ),
        (
            "id and name repeated with every piece",
            vec![
                calls(json!([at(0, whole(json!("a"), "look", json!("{\"n\"")))])),
                calls(json!([at(0, whole(json!("a"), "look", json!(":1}")))])),
                calls(json!([at(1, whole(json!("b"), "look", json!("{\"n\"")))])),
                calls(json!([at(1, whole(json!("b"), "look", json!(":2}")))])),
            ],
        ),
        (
            "pieces without an index, known by their id",
            vec![
                calls(json!([whole(json!("a"), "look", json!("{\"n\""))])),
                calls(json!([whole(json!("b"), "look", json!("{\"n\""))])),
                calls(json!([{"id": "a", "function": {"arguments": ":1}"}}])),
                calls(json!([{"id": "b", "function": {"arguments": ":2}"}}])),
            ],
        ),
        (
            "pieces that continue the call before them",
            vec![
                calls(json!([whole(json!("a"), "look", json!(""))])),
                calls(json!([{"function": {"arguments": "{\"n\":1}"}}])),
                calls(json!([whole(json!("b"), "look", Value::Null)])),
                calls(json!([{"id": "", "function": {"name": null, "arguments": "{\"n\":2}"}}])),
            ],
        ),
        (
            "calls without an id",
            vec![calls(json!([
                whole(Value::Null, "look", json!("{\"n\":1}")),
                whole(json!(""), "look", json!("{\"n\":2}")),
            ]))],
        ),
        (
            "one id for two calls",
            vec![
                calls(json!([at(0, whole(json!("a"), "look", json!("{\"n\":1}")))])),
                calls(json!([at(1, whole(json!("a"), "look", json!("{\"n\":2}")))])),
            ],
        ),
        (
            "the name after the id, and arguments before the name",
            vec![
                calls(json!([{"index": 0, "id": "a"}])),
                calls(json!([{"index": 0, "function": {"arguments": "{\"n\":"}}])),
                calls(json!([{"index": 0, "function": {"name": "look", "arguments": "1}"}}])),
                calls(
                    json!([{"index": 1, "id": "b", "function": {"name": "look", "arguments": "{\"n\":2}"}}]),
                ),
            ],
        ),
    ];
    for (dialect, mut chunks) in table {
        // Several of these servers also send `stop`.
        chunks.push(finish("stop"));
        let answer = answer_to_chunks(&chunks).await;
        assert_eq!(answer.reason, Some(StopReason::ToolCalls), "{dialect}: {answer:?}");
        let made: Vec<_> =
            answer.calls.iter().map(|(_, name, input)| (name.as_str(), input.as_str())).collect();
        assert_eq!(made, [("look", "{\"n\":1}"), ("look", "{\"n\":2}")], "{dialect}");
        let (first, second) = (&answer.calls[0].0, &answer.calls[1].0);
        assert!(!first.is_empty() && !second.is_empty() && first != second, "{dialect}");
    }
}

#[tokio::test]
async fn a_call_that_is_never_named_is_broken() {
    let nameless = calls(json!([{"index": 0, "id": "a", "function": {"arguments": "{}"}}]));
    let answer = answer_to_chunks(&[nameless, finish("tool_calls")]).await;
    assert_eq!(answer.error.expect("an error").kind, ModelErrorKind::Broken);
}

#[tokio::test]
async fn reasoning_in_either_field_is_reported_once() {
    for chunk in [
        json!({"reasoning_content": "hmm", "content": null}),
        json!({"reasoning": "hmm"}),
        json!({"reasoning": "hmm", "reasoning_content": "hmm"}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}]}),
    ] {
        let answer = answer_to_chunks(&[
            delta(chunk),
            delta(json!({"content": [{"type": "text", "text": "yes"}]})),
            finish("stop"),
        ])
        .await;
        assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("hmm", "yes"));
    }
}

#[tokio::test]
async fn a_cost_named_by_the_server_counts_before_the_price_list() {
    let usage = json!({"choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 10, "cost": 0.0123,
        "prompt_tokens_details": {"cached_tokens": 64},
    }});
    let answer = answer_to_chunks(&[delta(json!({"content": "x"})), finish("stop"), usage]).await;
    assert_eq!(answer.usage.cost_microdollars, Some(12_300));
    assert_eq!(answer.usage.cache_read_tokens, 64);
}

#[tokio::test]
async fn a_completion_that_was_not_streamed_is_understood() {
    let completion = json!({
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        }}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    });
    let answer = answer_to("application/json; charset=utf-8", completion.to_string()).await;
    assert_eq!(answer.error, None);
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("Looking.", 1));
    assert_eq!(answer.reason, Some(StopReason::ToolCalls));
    assert_eq!(answer.usage.prompt_tokens, 4);
}

#[tokio::test]
async fn a_done_without_a_finish_reason_is_incomplete() {
    let body = format!("data: {}\n\ndata: [DONE]\n\n", delta(json!({"content": "half"})));
    let answer = answer_to("text/event-stream", body).await;
    assert_eq!(answer.text, "half");
    assert_eq!(answer.error.expect("an error").kind, ModelErrorKind::Unreachable);
}

#[tokio::test]
async fn comments_other_choices_and_unusual_line_ends_are_tolerated() {
    let other = json!({"choices": [{"index": 1, "delta": {"content": "no"}}]});
    let body = format!(
        ": PROCESSING\r\n\r\ndata:{}\r\n\r\ndata: {other}\r\n\r\ndata: {}\r\n\r\ndata: [DONE]\r\n\r\n",
        delta(json!({"content": "yes"})),
        finish("stop"),
    );
    let answer = answer_to("text/plain", body).await;
    assert_eq!((answer.text.as_str(), answer.reason), ("yes", Some(StopReason::Stop)));
}
