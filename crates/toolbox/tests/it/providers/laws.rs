//! Behavior of every HTTP provider, tested in each wire format.

use std::time::{Duration, Instant};

use futures::StreamExt;
use pilothouse_toolbox::providers::connect;
use ports::model::{ModelErrorKind, ModelEvent, StopReason};
use serde_json::json;
use testkit::model_server::{
    API_KEY, ConnectionCut, Dialect, Gate, ResponseEnd, Script, ScriptedCall, ScriptedUsage,
};
use tokio::net::TcpListener;

use super::{GENEROUS, PATIENCE, SHORT, ask, call, options, request, rig, user};

macro_rules! in_both_formats {
    ($($law:ident),* $(,)?) => {
        mod openai {
            $(#[tokio::test] async fn $law() { super::$law(super::Dialect::OpenAi).await; })*
        }
        mod anthropic {
            $(#[tokio::test] async fn $law() { super::$law(super::Dialect::Anthropic).await; })*
        }
    };
}

in_both_formats! {
    text_and_reasoning_are_complete_and_usage_is_counted,
    parallel_tool_calls_keep_their_arguments_apart,
    every_stop_reason_is_understood,
    an_empty_completion_finishes_without_text,
    a_cut_stream_is_unreachable_and_keeps_its_text,
    a_refused_connection_is_unreachable,
    a_complete_response_survives_a_missing_end,
    every_status_is_classified,
    a_retry_after_is_passed_on,
    an_error_in_a_stream_is_classified,
    an_unreadable_response_is_broken,
    a_server_that_never_answers_times_out,
    a_server_that_stops_responding_times_out,
    an_event_larger_than_the_cap_is_broken,
    an_endless_response_is_cut_off,
    dropping_the_stream_closes_the_connection,
    dropping_the_request_before_the_answer_closes_the_connection,
    no_message_contains_the_key_or_the_url,
}

async fn text_and_reasoning_are_complete_and_usage_is_counted(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let usage =
        ScriptedUsage { prompt_tokens: 1000, completion_tokens: 100, cache_read_tokens: 200 };
    server.enqueue(Script::default().think("hmm, grün?").say_in("Straße – yes", 5).usage(usage));
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.error, None);
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Straße – yes", "hmm, grün?"));
    assert_eq!(answer.reason, Some(StopReason::Stop));
    assert_eq!(answer.usage.prompt_tokens, 1000);
    assert_eq!(answer.usage.completion_tokens, 100);
    assert_eq!(answer.usage.cache_read_tokens, 200);
    // Only Anthropic has a known price for cached tokens.
    let expected = match dialect {
        Dialect::OpenAi => 1000 * 3 + 100 * 15,
        Dialect::Anthropic => 820 * 3 + 100 * 15,
    };
    assert_eq!(answer.usage.cost_microdollars, Some(expected));
    server.assert_no_violations();
}

async fn parallel_tool_calls_keep_their_arguments_apart(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let calls = [
        ScriptedCall::new("call_a", "look", &json!({"at": "the north"})),
        ScriptedCall::new("call_b", "look", &json!({"at": "süd"})),
        ScriptedCall { id: "call_c".into(), name: "todo_write".into(), arguments: "{\"x".into() },
        ScriptedCall { id: "call_d".into(), name: "look".into(), arguments: String::new() },
    ];
    server.enqueue(Script::default().say("Looking.").call_in(&calls, 4));
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.text, "Looking.");
    assert_eq!(
        answer.calls,
        [
            call("call_a", "look", r#"{"at":"the north"}"#),
            call("call_b", "look", r#"{"at":"süd"}"#),
            call("call_c", "todo_write", "{\"x"),
            call("call_d", "look", ""),
        ]
    );
    assert_eq!(answer.reason, Some(StopReason::ToolCalls));
}

async fn every_stop_reason_is_understood(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    use StopReason::*;
    for reason in [Stop, Length, ContentFilter, Other] {
        server.enqueue(Script::text("some").finish(reason));
        let answer = ask(&*provider, request(vec![user("hi")])).await;
        assert_eq!(answer.reason, Some(reason));
    }
}

async fn an_empty_completion_finishes_without_text(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    server.enqueue(Script::empty());
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!((answer.text.as_str(), answer.reason), ("", Some(StopReason::Stop)));
}

async fn a_cut_stream_is_unreachable_and_keeps_its_text(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    for cut in [ConnectionCut::Close, ConnectionCut::Reset, ConnectionCut::EndOfBody] {
        server.enqueue(Script::text("half a sen").cut(cut));
        let answer = ask(&*provider, request(vec![user("hi")])).await;
        assert_eq!(answer.text, "half a sen", "{cut:?}");
        let error = answer.error.expect("an error");
        assert_eq!(error.kind, ModelErrorKind::Unreachable, "{cut:?}");
        assert!(error.retryable());
    }
}

async fn a_refused_connection_is_unreachable(dialect: Dialect) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let provider =
        connect(&options(dialect, format!("http://{address}"), GENEROUS)).expect("connects");
    let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
    assert_eq!(error.kind, ModelErrorKind::Unreachable);
}

async fn a_complete_response_survives_a_missing_end(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let end = match dialect {
        Dialect::OpenAi => {
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        }
        Dialect::Anthropic => {
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
        }
    };
    for cut in [ConnectionCut::Close, ConnectionCut::Reset, ConnectionCut::EndOfBody] {
        server.enqueue(Script::text("whole").raw(end).cut(cut));
        let answer = ask(&*provider, request(vec![user("hi")])).await;
        assert_eq!((answer.text.as_str(), answer.reason), ("whole", Some(StopReason::Stop)));
    }
}

async fn every_status_is_classified(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let table = [
        (Script::server_error(), ModelErrorKind::Overloaded { after: None }),
        (Script::overloaded(), ModelErrorKind::Overloaded { after: None }),
        (Script::error(408, "timeout", "slow"), ModelErrorKind::Overloaded { after: None }),
        (Script::unauthorized(), ModelErrorKind::Auth),
        (Script::error(403, "permission_error", "no"), ModelErrorKind::Auth),
        (Script::context_too_long(), ModelErrorKind::TooLong),
        (Script::error(404, "not_found_error", "no such model"), ModelErrorKind::Refused),
        (Script::status(302, "text/html", "elsewhere"), ModelErrorKind::Broken),
    ];
    for (script, kind) in table {
        server.enqueue(script.clone());
        let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
        assert_eq!(error.kind, kind, "{script:?}");
    }
}

async fn a_retry_after_is_passed_on(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    server.enqueue(Script::rate_limited("7"));
    let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
    let after = Some(Duration::from_secs(7));
    assert_eq!(error.kind, ModelErrorKind::RateLimited { after });
    server.enqueue(Script::overloaded().header("retry-after", "7"));
    let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
    assert_eq!(error.kind, ModelErrorKind::Overloaded { after });
}

async fn an_error_in_a_stream_is_classified(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    server.enqueue(Script::text("It is").then_error("overloaded_error", "Overloaded"));
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.text, "It is");
    let error = answer.error.expect("an error");
    assert_eq!(error.kind, ModelErrorKind::Overloaded { after: None });
    assert!(error.message.contains("Overloaded"), "{error}");
}

async fn an_unreadable_response_is_broken(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let table = [
        Script::text("ok").truncated_json(),
        Script::text("ok").raw(&b"data: \xff\xfe\n\n"[..]),
        Script::text("ok").raw("data: \"just a string\"\n\n"),
        Script::status(200, "text/event-stream", "this is not an event stream at all"),
        Script::status(200, "text/html", "<html>Please log in</html>"),
        Script::status(200, "application/json", "{\"hello\": 1}"),
        Script::status(200, "application/json", "{\"hello\":"),
    ];
    for script in table {
        server.enqueue(script.clone());
        let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
        assert_eq!(error.kind, ModelErrorKind::Broken, "{script:?}");
    }
}

async fn a_server_that_never_answers_times_out(dialect: Dialect) {
    let (server, provider) = rig(dialect, SHORT).await;
    server.enqueue(Script::hang_before_headers());
    let began = Instant::now();
    let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
    assert_eq!(error.kind, ModelErrorKind::TimedOut);
    assert!(began.elapsed() >= SHORT.first_byte && began.elapsed() < PATIENCE);
    server.wait_until("the client to leave", |r| r[0].ending == ResponseEnd::ClientLeft).await;
}

async fn a_server_that_stops_responding_times_out(dialect: Dialect) {
    let (server, provider) = rig(dialect, SHORT).await;
    server.enqueue(Script::text("and then").hang());
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.text, "and then");
    assert_eq!(answer.error.expect("an error").kind, ModelErrorKind::TimedOut);
    server.wait_until("the client to leave", |r| r[0].ending == ResponseEnd::ClientLeft).await;
}

async fn an_event_larger_than_the_cap_is_broken(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    server.enqueue(Script::default().huge_delta(1024 * 1024));
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.text.len(), 1024 * 1024, "a large delta is still a delta");
    server.enqueue(Script::default().huge_delta(50 * 1024 * 1024));
    let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
    assert_eq!(error.kind, ModelErrorKind::Broken);
}

async fn an_endless_response_is_cut_off(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let comment = format!(": {}\n", "x".repeat(1024 * 1024));
    let mut script = Script::text("it goes on");
    for _ in 0..70 {
        script = script.raw(comment.clone());
    }
    server.enqueue(script);
    let answer = ask(&*provider, request(vec![user("hi")])).await;
    assert_eq!(answer.error.expect("an error").kind, ModelErrorKind::Broken);
}

async fn dropping_the_stream_closes_the_connection(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let gate = Gate::closed();
    server.enqueue(Script::text("first").wait_for(&gate).say("never"));
    let mut stream = provider.stream(request(vec![user("hi")])).await.expect("a stream");
    let first = stream.next().await.expect("an event").expect("no error");
    assert!(matches!(first, ModelEvent::Text(_)));
    gate.reached().await;
    assert_eq!(server.open_connections(), 1);
    drop(stream);
    server.wait_until("the client to leave", |r| r[0].ending == ResponseEnd::ClientLeft).await;
    server.wait_for_connections(0).await;
}

async fn dropping_the_request_before_the_answer_closes_the_connection(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    server.enqueue(Script::hang_before_headers());
    tokio::select! {
        _ = provider.stream(request(vec![user("hi")])) => panic!("nothing was answered"),
        _ = server.wait_for_requests(1) => {}
    }
    server.wait_until("the client to leave", |r| r[0].ending == ResponseEnd::ClientLeft).await;
    server.wait_for_connections(0).await;
}

async fn no_message_contains_the_key_or_the_url(dialect: Dialect) {
    let (server, provider) = rig(dialect, GENEROUS).await;
    let url = server.url(dialect);
    let echo = format!("Key {API_KEY} is not valid at {url}");
    server.enqueue(Script::error(401, "authentication_error", &echo));
    server.enqueue(Script::error(500, "x", &echo));
    server.enqueue(Script::text("a").then_error("overloaded_error", &echo));
    server.enqueue(Script::text("a").cut(ConnectionCut::Reset));
    for _ in 0..4 {
        let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(API_KEY) && !shown.contains("127.0.0.1"), "{shown}");
    }
}
