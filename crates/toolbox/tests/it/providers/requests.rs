//! Request bodies, and histories that strict servers accept.

use pilothouse_toolbox::providers::{ProviderConfigError, ProviderOptions, connect};
use ports::model::{ModelErrorKind, ModelMessage, ModelRequest};
use protocol::turn::ModelTier;
use serde_json::json;
use testkit::model_server::{API_KEY, Dialect, ModelServer, Script};

use super::{GENEROUS, ask, assistant, options, request, result, rig, user};

fn a_tool_loop() -> ModelRequest {
    let mut failed = result("call_b", "");
    if let ModelMessage::ToolResult { is_error, .. } = &mut failed {
        *is_error = true;
    }
    let calls = assistant("", &[("call_a", "{\"at\":\"x\"}"), ("call_b", "{broken")]);
    request(vec![user("Look around"), calls, result("call_a", "a wall"), failed])
}

#[tokio::test]
async fn a_chat_completion_request_has_this_body() {
    let (server, provider) = rig(Dialect::OpenAi, GENEROUS).await;
    server.enqueue(Script::text("ok"));
    ask(&*provider, a_tool_loop()).await;
    let sent = server.requests().remove(0);
    assert_eq!(sent.headers["authorization"], format!("Bearer {API_KEY}"));
    let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}});
    assert_eq!(
        sent.body,
        json!({
            "model": "scripted-model",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Look around"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "call_a", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"x\"}"}},
                    {"id": "call_b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "call_a", "content": "a wall"},
                {"role": "tool", "tool_call_id": "call_b", "content": "(no output)"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [
                {"type": "function", "function": {"name": "look", "description": "Looks at a place. It may take a while.", "parameters": parameters}},
                {"type": "function", "function": {"name": "todo_write", "description": "Keeps the list.\nOf things to do.", "parameters": parameters}},
            ],
        })
    );
    server.assert_no_violations();
}

#[tokio::test]
async fn a_messages_request_has_this_body() {
    let (server, provider) = rig(Dialect::Anthropic, GENEROUS).await;
    server.enqueue(Script::text("ok"));
    ask(&*provider, a_tool_loop()).await;
    let sent = server.requests().remove(0);
    assert_eq!(sent.headers["x-api-key"], API_KEY);
    assert_eq!(sent.headers["anthropic-version"], "2023-06-01");
    let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}});
    assert_eq!(
        sent.body,
        json!({
            "model": "scripted-model",
            "max_tokens": 4096,
            "stream": true,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Look around"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "call_a", "name": "look", "input": {"at": "x"}},
                    {"type": "tool_use", "id": "call_b", "name": "look", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_a", "content": "a wall"},
                    {"type": "tool_result", "tool_use_id": "call_b", "content": "(no output)", "is_error": true},
                ]},
            ],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "tools": [
                {"name": "look", "description": "Looks at a place. It may take a while.", "input_schema": parameters},
                {"name": "todo_write", "description": "Keeps the list.\nOf things to do.", "input_schema": parameters, "cache_control": {"type": "ephemeral"}},
            ],
        })
    );
    server.assert_no_violations();
}

#[tokio::test]
async fn an_irregular_history_is_normalized() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (server, provider) = rig(dialect, GENEROUS).await;
        let histories = [
            vec![user("a"), user("b")],
            vec![user("a"), assistant("", &[]), user("b"), user(" ")],
            vec![user("a"), assistant("b ", &[]), assistant("c\n", &[]), user("d")],
            vec![assistant("the end of something", &[]), user("go on")],
            vec![user("a"), assistant("", &[("1", "[]")]), result("1", "\n"), user("and?")],
        ];
        for history in histories {
            server.enqueue(Script::text("ok"));
            let answer = ask(&*provider, request(history)).await;
            assert_eq!(answer.text, "ok", "{:?}", server.violations());
        }
        server.assert_no_violations();
    }
}

#[tokio::test]
async fn a_request_without_tools_or_system_leaves_them_out() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (server, provider) = rig(dialect, GENEROUS).await;
        server.enqueue(Script::text("ok"));
        let plain = ModelRequest {
            system: String::new(),
            tools: [].into(),
            tier: ModelTier::Advanced,
            ..request(vec![user("hi")])
        };
        ask(&*provider, plain).await;
        let sent = server.requests().remove(0);
        assert_eq!(sent.model(), "scripted-advanced");
        assert!(sent.body.get("tools").is_none() && sent.body.get("system").is_none());
        assert_eq!(sent.messages().len(), 1);
        server.assert_no_violations();
    }
}

#[tokio::test]
async fn a_local_server_needs_no_key() {
    let server = ModelServer::start().await;
    let mut options = options(Dialect::OpenAi, format!("{}/", server.openai_url()), GENEROUS);
    if let ProviderOptions::OpenAi(options) = &mut options {
        options.api_key = None;
        options.max_output_tokens = Some(77);
    }
    server.enqueue(Script::text("ok"));
    ask(&*connect(&options).expect("connects"), request(vec![user("hi")])).await;
    let sent = server.requests().remove(0);
    assert!(!sent.headers.contains_key("authorization"));
    assert_eq!(sent.body["max_tokens"], 77);
}

#[tokio::test]
async fn a_bad_address_or_key_is_refused_at_once() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        for address in
            ["", "localhost:11434", "ftp://example.com", "http://", "http://u:p@localhost/v1"]
        {
            let options = options(dialect, address.into(), GENEROUS);
            assert!(
                matches!(connect(&options), Err(ProviderConfigError::BadAddress)),
                "{dialect:?} {address}"
            );
        }
    }
    let mut options = options(Dialect::OpenAi, "http://127.0.0.1/v1".into(), GENEROUS);
    if let ProviderOptions::OpenAi(options) = &mut options {
        options.api_key = Some("a\nb".into());
    }
    assert!(matches!(connect(&options), Err(ProviderConfigError::BadKey)));
}

/// Without an installed crypto provider, the first HTTPS client of a process would panic.
#[tokio::test]
async fn an_https_url_needs_no_setup_by_the_caller() {
    let server = ModelServer::start().await;
    let address = server.openai_url().replace("http://", "https://");
    match connect(&options(Dialect::OpenAi, address, GENEROUS)) {
        Ok(provider) => {
            let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
            assert_eq!(error.kind, ModelErrorKind::Unreachable, "the server speaks no TLS");
        }
        // A machine without root certificates gets this error.
        Err(error) => assert!(matches!(error, ProviderConfigError::NoClient(_)), "{error}"),
    }
}
