//! What a turn streams and stores of a model's response: text, reasoning, usage, finish reason, title, and a prompt
//! that is the same for every user.

use std::time::Duration;

use ports::model::StopReason;
use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, MODEL, Script, ScriptedUsage};

use super::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, ReceivedEvent, first, text_of};
use crate::scripts::todo;
use crate::server::{TEST_TIMEOUT, id_of};
use crate::tokens::token;

const FINISHED: fn() -> TurnEnd = || TurnEnd::Finished("stop".to_owned());

#[tokio::test]
async fn a_response_is_streamed_delta_by_delta_and_stored_in_the_history() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(
            Script::default().say_in("Grüße aus dem Lotsenhaus: 🛟 \"quoted\" \\ done.", 7),
        );
        let (events, end) = setup.turn(&session, "Hello").await;
        assert_eq!(end, FINISHED());
        assert_eq!(text_of(&events), "Grüße aus dem Lotsenhaus: 🛟 \"quoted\" \\ done.");
        let deltas = events.iter().filter(|got| got.chunk["type"] == "text-delta").count();
        assert_eq!(deltas, 7, "every delta of the model is one of ours");
        let rows = setup.messages(&session).await;
        assert_eq!(
            (rows.len(), &rows[0]["role"], &rows[0]["content"]),
            (2, &json!("user"), &json!("Hello"))
        );
        assert_eq!(
            (&rows[1]["role"], &rows[1]["content"]),
            (&json!("assistant"), &json!(text_of(&events)))
        );
        assert_eq!(rows[1]["model"], MODEL);
        assert!(rows[1]["duration_ms"].is_u64(), "{}", rows[1]);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn reasoning_is_a_separate_part_and_is_sent_back_within_a_turn() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup
            .model
            .enqueue(Script::default().think("Two steps will do.").call(&[todo("call_a", "one")]));
        setup.model.enqueue(Script::default().think("Now answer.").say("Done."));
        let path = format!("/chat/sessions/{session}/stream");
        let body = json!({"message": "think", "mode": "extended_thinking"});
        let events =
            EventStream::of(setup.server.post(&path, &body).send().await.expect("an answer"))
                .all()
                .await;
        assert_eq!(assert_complete(&events), FINISHED());
        let thought: String = events
            .iter()
            .filter(|got| got.chunk["type"] == "reasoning-delta")
            .filter_map(|got| got.chunk["delta"].as_str())
            .collect();
        assert_eq!(thought, "Two steps will do.Now answer.");
        let rows = setup.messages(&session).await;
        assert_eq!(rows[1]["reasoning"], "Two steps will do.");
        assert_eq!(
            (&rows[3]["reasoning"], &rows[3]["content"]),
            (&json!("Now answer."), &json!("Done."))
        );
        assert!(
            rows.iter().all(|row| row.get("provider_state").is_none()),
            "signatures stay on the server"
        );
        // The model server's validator requires the signed reasoning within a turn; a later turn does not need it.
        setup.model.enqueue(Script::text("Again."));
        setup.turn(&session, "and now").await;
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn the_stream_has_the_finish_reason_of_the_model() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        for (reason, shown) in [
            (StopReason::Stop, "stop"),
            (StopReason::Length, "length"),
            (StopReason::ContentFilter, "content-filter"),
            (StopReason::Other, "other"),
        ] {
            setup.model.enqueue(Script::default().say("Some words").finish(reason));
            let (_, end) = setup.turn(&session, "why").await;
            assert_eq!(end, TurnEnd::Finished(shown.to_owned()), "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn usage_and_cost_are_counted_over_the_steps_of_a_turn_and_the_turns_of_a_session() {
    for dialect in dialects() {
        let prices = [("CHAT_INPUT_PRICE_PER_MTOK", "3"), ("CHAT_OUTPUT_PRICE_PER_MTOK", "15")];
        let setup = ScriptedServer::with(dialect, &prices).await;
        let session = setup.server.session().await;
        let used = |prompt_tokens, completion_tokens| ScriptedUsage {
            prompt_tokens,
            completion_tokens,
            cache_read_tokens: 0,
        };
        setup
            .model
            .enqueue(Script::default().usage(used(1000, 100)).call(&[todo("call_a", "one")]));
        setup.model.enqueue(Script::default().usage(used(2000, 200)).say("Done."));
        let (events, _) = setup.turn(&session, "first").await;
        // 3000 tokens at 3 dollars and 300 at 15 dollars per million.
        let counted = json!({
            "promptTokens": 3000, "completionTokens": 300, "cacheReadTokens": 0, "cacheWriteTokens": 0,
            "costMicrodollars": 9000 + 4500,
        });
        assert_eq!(first(&events, "data-usage")["data"], counted, "{dialect:?}");
        setup.model.enqueue(Script::default().usage(used(500, 50)).say("More."));
        setup.turn(&session, "second").await;
        let totals = setup.server.read_session(&session).await;
        assert_eq!(totals["total_prompt_tokens"], 3500);
        assert_eq!(totals["total_completion_tokens"], 350);
        assert_eq!(totals["total_cost_microdollars"], 13_500 + 1500 + 750);
    }
}

#[tokio::test]
async fn usage_of_completed_steps_counts_in_failed_and_cancelled_turns() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let usage =
            ScriptedUsage { prompt_tokens: 1000, completion_tokens: 100, cache_read_tokens: 0 };
        setup.model.enqueue(Script::default().usage(usage).call(&[todo("call_a", "one")]));
        setup.model.enqueue(Script::unauthorized());
        assert_eq!(
            setup.turn(&session, "fail").await.1,
            TurnEnd::Failed("provider_auth".to_owned())
        );
        setup.model.enqueue(Script::default().usage(usage).call(&[todo("call_b", "two")]));
        setup.model.enqueue(Script::default().say_in("And", 1).hang());
        let mut events = setup.server.say(&session, "stop").await;
        events.until("text-delta").await;
        setup.server.cancel(&session).await;
        let totals = setup.server.read_session(&session).await;
        assert_eq!(
            (&totals["total_prompt_tokens"], &totals["total_completion_tokens"]),
            (&json!(2000), &json!(200)),
            "{dialect:?}"
        );
    }
}

#[tokio::test]
async fn cached_tokens_are_counted_separately() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let usage =
            ScriptedUsage { prompt_tokens: 900, completion_tokens: 10, cache_read_tokens: 800 };
        setup.model.enqueue(Script::default().usage(usage).say("Done."));
        let (events, _) = setup.turn(&session, "cached").await;
        let data = &first(&events, "data-usage")["data"];
        assert_eq!(
            (&data["promptTokens"], &data["cacheReadTokens"]),
            (&json!(900), &json!(800)),
            "{dialect:?}"
        );
        assert_eq!(data.get("costMicrodollars"), None, "without prices there is no cost");
    }
}

async fn title_of(setup: &ScriptedServer, session: &str) -> String {
    let named = async {
        loop {
            if let Some(title) = setup.server.read_session(session).await["title"].as_str() {
                return title.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, named).await.expect("the session gets a title")
}

#[tokio::test]
async fn the_first_response_generates_a_title_once() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::text("Hello."));
        setup.turn(&session, "Plan my trip").await;
        assert_eq!(title_of(&setup, &session).await, "A scripted title");
        setup.model.enqueue(Script::text("Again."));
        setup.turn(&session, "more").await;
        setup.model.enqueue(Script::text("And again."));
        setup.turn(&session, "and more").await;
        assert_eq!(setup.model.title_requests().len(), 1);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_title_set_by_the_user_is_never_replaced() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("Hel").wait_for(&gate).say("lo."));
    let events = setup.server.say(&session, "Plan my trip").await;
    gate.reached().await;
    let path = setup.server.api(&format!("/chat/sessions/{session}/title"));
    let renamed = setup
        .server
        .client
        .patch(path)
        .json(&json!({"title": "Mine"}))
        .send()
        .await
        .expect("an answer");
    assert!(renamed.status().is_success());
    gate.open();
    assert_eq!(text_of(&events.all().await), "Hello.");
    // The second turn ends after the title of the first would have been requested.
    setup.model.enqueue(Script::text("Again."));
    setup.turn(&session, "more").await;
    assert_eq!(setup.server.read_session(&session).await["title"], "Mine");
}

async fn ask_as(
    setup: &ScriptedServer,
    user: &str,
    session: &str,
    text: &str,
) -> Vec<ReceivedEvent> {
    let path = format!("/chat/sessions/{session}/stream");
    let request = setup.server.post(&path, &json!({"message": text})).bearer_auth(token(user));
    EventStream::of(request.send().await.expect("an answer")).all().await
}

#[tokio::test]
async fn the_prompt_and_the_tools_are_the_same_for_every_user() {
    for dialect in dialects() {
        let setup = ScriptedServer::with(
            dialect,
            &[("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", crate::tokens::KEY), ("JWT_ISSUER", "test")],
        )
        .await;
        setup.model.respond_with(|_| Script::text("Hello."));
        for user in ["anna", "bert"] {
            let made = setup
                .server
                .client
                .post(setup.server.api("/chat/sessions"))
                .bearer_auth(token(user))
                .send()
                .await;
            let session = id_of(made.expect("an answer")).await;
            for text in ["one", "two"] {
                ask_as(&setup, user, &session, text).await;
            }
        }
        let prompts: Vec<(Value, Value)> = setup
            .model
            .requests()
            .iter()
            .map(|request| {
                let system = match dialect {
                    Dialect::OpenAi => request.messages()[0].clone(),
                    Dialect::Anthropic => request.body["system"].clone(),
                };
                (system, request.body["tools"].clone())
            })
            .collect();
        assert_eq!(prompts.len(), 4);
        assert!(prompts[0].1.as_array().is_some_and(|tools| !tools.is_empty()));
        assert!(prompts.iter().all(|prompt| *prompt == prompts[0]), "{dialect:?}");
        setup.model.assert_no_violations();
    }
}
