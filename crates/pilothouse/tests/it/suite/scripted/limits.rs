//! Limits and circuit breakers of a turn, each with its own code, and a session that works after every one of them.

use std::time::Duration;

use serde_json::json;
use testkit::model_server::{Dialect, Script, ScriptedCall, ScriptedUsage};

use super::{ScriptedServer, dialects};
use crate::contract::TurnEnd;
use crate::events::text_of;
use crate::scripts::{bash, todo};

/// Asserts that the turn fails with this code, that the history says so, and that the next turn works.
async fn assert_fails(setup: &ScriptedServer, session: &str, code: &str) {
    let (_, end) = setup.turn(session, "go").await;
    assert_eq!(end, TurnEnd::Failed(code.to_owned()));
    let rows = setup.messages(session).await;
    let notice = rows.last().expect("rows");
    assert_eq!((&notice["role"], &notice["metadata"]["code"]), (&json!("system"), &json!(code)));
    setup.model.enqueue(Script::text("Fine."));
    let (events, _) = setup.turn(session, "and now").await;
    assert_eq!(text_of(&events), "Fine.");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn the_last_step_may_call_no_tool_and_can_still_respond() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(dialect, &[("CHAT_MAX_STEPS", "3")]).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::default().call(&[todo("call_a", "one")]));
        setup.model.enqueue(Script::default().call(&[todo("call_b", "two")]));
        setup.model.enqueue(Script::text("That is what I found."));
        let (events, end) = setup.turn(&session, "go").await;
        assert_eq!(end, TurnEnd::Finished("stop".to_owned()));
        assert_eq!(text_of(&events), "That is what I found.");
        let requests = setup.model.requests();
        let forbidden: Vec<bool> = requests
            .iter()
            .map(|request| match dialect {
                Dialect::OpenAi => request.body["tool_choice"] == "none",
                Dialect::Anthropic => request.body["tool_choice"]["type"] == "none",
            })
            .collect();
        assert_eq!(forbidden, [false, false, true], "{dialect:?}");
        // The list stays the same: a provider refuses calls of tools that are not in it.
        assert_eq!(requests[2].tool_names(), requests[0].tool_names());
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_tool_call_in_the_last_step_fails_the_turn() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(dialect, &[("CHAT_MAX_STEPS", "2")]).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::default().call(&[todo("call_a", "one")]));
        setup.model.enqueue(Script::default().call(&[todo("call_b", "two")]));
        assert_fails(&setup, &session, "max_turns_exhausted").await;
    }
}

#[tokio::test]
async fn a_turn_has_a_limited_number_of_tool_calls() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_MAX_TOOL_CALLS", "3")]).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().call(&[todo("call_a", "one"), todo("call_b", "two")]));
    setup.model.enqueue(Script::default().call(&[todo("call_c", "three"), todo("call_d", "four")]));
    assert_fails(&setup, &session, "max_tool_calls_exhausted").await;
}

#[tokio::test]
async fn a_turn_has_a_limited_number_of_tokens() {
    let setup = ScriptedServer::with(Dialect::Anthropic, &[("CHAT_MAX_TOKENS", "1000")]).await;
    let session = setup.server.session().await;
    let usage = ScriptedUsage { prompt_tokens: 900, completion_tokens: 101, cache_read_tokens: 0 };
    setup.model.enqueue(Script::default().usage(usage).call(&[todo("call_a", "one")]));
    assert_fails(&setup, &session, "max_tokens_exhausted").await;
}

#[tokio::test]
async fn a_turn_has_a_limited_cost() {
    let prices = [
        ("CHAT_INPUT_PRICE_PER_MTOK", "3"),
        ("CHAT_OUTPUT_PRICE_PER_MTOK", "15"),
        ("CHAT_MAX_COST_DOLLARS", "0.01"),
    ];
    let setup = ScriptedServer::with(Dialect::OpenAi, &prices).await;
    let session = setup.server.session().await;
    let usage = ScriptedUsage { prompt_tokens: 3400, completion_tokens: 0, cache_read_tokens: 0 };
    setup.model.enqueue(Script::default().usage(usage).call(&[todo("call_a", "one")]));
    assert_fails(&setup, &session, "max_budget_exhausted").await;
}

#[tokio::test]
async fn a_turn_has_a_limited_duration() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_MAX_TURN_SECONDS", "2")]).await;
    let (talking, working) = (setup.server.session().await, setup.server.session().await);
    // Never silent, so no other limit stops it.
    let mut chatter = Script::default();
    for _ in 0..120 {
        chatter = chatter.say_in("and so on ", 1).delay(Duration::from_millis(250));
    }
    setup.model.enqueue(chatter);
    assert_fails(&setup, &talking, "max_time_exhausted").await;
    setup.model.enqueue(Script::default().call(&[bash("call_a", "sleep 100")]));
    assert_fails(&setup, &working, "max_time_exhausted").await;
}

#[tokio::test]
async fn the_third_identical_failing_call_fails_the_turn() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        for at in 0..3 {
            let call =
                ScriptedCall::new(&format!("call_{at}"), "todo_write", &json!({"todos": "all"}));
            setup.model.enqueue(Script::default().call(&[call]));
        }
        assert_fails(&setup, &session, "circuit_breaker_repeated_failures").await;
        assert_eq!(setup.model.requests().len(), 4, "three tries, and the turn after");
    }
}

#[tokio::test]
async fn alternating_failing_calls_do_not_fail_the_turn() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    for at in 0..4 {
        let call = ScriptedCall::new(
            &format!("call_{at}"),
            "todo_write",
            &json!({"todos": format!("all {}", at % 2)}),
        );
        setup.model.enqueue(Script::default().call(&[call]));
    }
    setup.model.enqueue(Script::text("I give up."));
    let (_, end) = setup.turn(&session, "go").await;
    assert_eq!(end, TurnEnd::Finished("stop".to_owned()));
}

#[tokio::test]
async fn repeated_calls_without_arguments_fail_the_turn() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    for (at, name) in ["todo_write", "web_fetch", "write_workspace_file", "todo_write", "web_fetch"]
        .iter()
        .enumerate()
    {
        let call = ScriptedCall {
            id: format!("call_{at}"),
            name: (*name).to_owned(),
            arguments: "{}".to_owned(),
        };
        setup.model.enqueue(Script::default().call(&[call]));
    }
    assert_fails(&setup, &session, "circuit_breaker_empty_tool_calls").await;
}
