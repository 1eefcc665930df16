//! Credits: disabled by default; once enabled, nothing runs without them, and each cost is charged once.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::model_server::{Dialect, Script, ScriptedUsage};

use super::scripted::ScriptedServer;
use crate::agent_fixtures::{AI_TEXT, ApiUser, CALCULATOR, OUTPUT, adder, graph, text};
use crate::tokens::KEY;

const INTERNAL: &str = "internal-internal-internal-internal";

/// A server with a login, a scripted model and these settings.
async fn setup(settings: &[(&str, &str)]) -> ScriptedServer {
    let mut all = vec![("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", KEY), ("JWT_ISSUER", "test")];
    all.extend(settings);
    ScriptedServer::with(Dialect::OpenAi, &all).await
}

/// A response for which the provider reports this many tokens.
fn answer(text: &str, tokens: u64) -> Script {
    let usage = ScriptedUsage { prompt_tokens: tokens - 5, ..ScriptedUsage::default() };
    Script::text(text).usage(usage)
}

async fn grant(setup: &ScriptedServer, key: Option<&str>, body: &Value) -> (u16, Value) {
    let mut request = setup.server.post("/credits/grant", body);
    if let Some(key) = key {
        request = request.header("x-api-key", key);
    }
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.json().await.expect("JSON"))
}

fn gift(amount: i64, key: &str) -> Value {
    json!({"user_id": "anna", "amount": amount, "key": key, "description": "Welcome"})
}

/// An agent with one question to the model.
fn asker() -> Value {
    graph(
        "Asker",
        &[("ask", AI_TEXT, json!({"prompt": "?"})), ("out", OUTPUT, json!({"name": "answer"}))],
        &["ask.response -> out.value"],
    )
}

/// The balance, after checking that it equals the sum of the ledger entries.
async fn balance(user: &ApiUser<'_>) -> i64 {
    let balance = user.get("/credits").await["credits"].as_i64().expect("a number");
    let ledger = user.get("/credits/transactions").await;
    let entries = ledger["transactions"].as_array().expect("a list");
    let mut sum = 0;
    for entry in entries.iter().rev() {
        sum += entry["amount"].as_i64().expect("a number");
        assert_eq!(entry["running_balance"], sum, "{ledger}");
    }
    assert_eq!(sum, balance, "{ledger}");
    balance
}

#[tokio::test]
async fn credits_are_disabled_by_default() {
    let setup = setup(&[]).await;
    let anna = ApiUser::named(&setup.server, "anna");
    assert_eq!(anna.get("/credits").await, json!({"credits": 0, "enabled": false}));
    setup.model.enqueue(answer("Aye.", 5_000));
    let run = format!("/blocks/{AI_TEXT}/execute");
    assert_eq!(anna.post(&run, &json!({"prompt": "?"})).await["response"], json!(["Aye."]));
    assert_eq!(anna.get("/credits/transactions").await, json!({"transactions": []}));
    let bought = anna.refused(Method::POST, "/credits", &json!({"credit_amount": 5})).await;
    assert_eq!(bought, (501, "TOP_UP_UNAVAILABLE".to_owned()));
    let (status, body) = grant(&setup, Some(INTERNAL), &gift(5, "march")).await;
    assert_eq!((status, &body["code"]), (503, &json!("INTERNAL_KEY_NOT_CONFIGURED")));
}

#[tokio::test]
async fn nothing_runs_without_credits_and_every_charge_is_in_the_ledger_once() {
    let setup = setup(&[("CREDITS_ENABLED", "on"), ("CHAT_INTERNAL_API_KEY", INTERNAL)]).await;
    let (anna, bert) =
        (ApiUser::named(&setup.server, "anna"), ApiUser::named(&setup.server, "bert"));
    let run = format!("/blocks/{AI_TEXT}/execute");
    let question = json!({"prompt": "?"});
    let agent = anna.make(&asker()).await;
    let execute = format!("/graphs/{agent}/execute");
    let no_funds = (402, "NO_FUNDS".to_owned());
    assert_eq!(anna.refused(Method::POST, &run, &question).await, no_funds);
    assert_eq!(anna.refused(Method::POST, &execute, &json!({})).await, no_funds);
    assert_eq!(setup.model.requests().len(), 0, "the model was not called");

    for key in [None, Some("wrong-wrong-wrong-wrong-wrong-wrong")] {
        assert_eq!(grant(&setup, key, &gift(10, "march")).await.0, 401);
    }
    assert_eq!(grant(&setup, Some(INTERNAL), &gift(0, "march")).await.0, 422);
    for _ in 0..2 {
        let granted = grant(&setup, Some(INTERNAL), &gift(10, "march")).await;
        assert_eq!(granted, (200, json!({"credits": 10, "enabled": true})), "one grant");
    }
    assert_eq!((balance(&anna).await, balance(&bert).await), (10, 0));

    // A block on its own: every call is charged separately, one credit per started thousand tokens.
    for (tokens, left) in [(1_000, 9), (1_001, 7)] {
        setup.model.enqueue(answer("Aye.", tokens));
        assert_eq!(anna.post(&run, &question).await["response"], json!(["Aye."]));
        assert_eq!(balance(&anna).await, left);
    }
    let free = json!({"operation": "Add", "a": 1, "b": 2});
    anna.post(&format!("/blocks/{CALCULATOR}/execute"), &free).await;
    setup.model.enqueue(Script::unauthorized());
    let failed = anna.post(&run, &question).await;
    assert!(failed["error"].is_array() && failed.get("response").is_none(), "{failed}");
    assert_eq!(balance(&anna).await, 7, "a call without result and usage is free");

    // The same block in an agent, with the cost in the execution's statistics.
    setup.model.enqueue(answer("Aye, aye.", 2_500));
    let ended = anna.run(&agent, &json!({})).await;
    assert_eq!(ended["outputs"], json!({"answer": ["Aye, aye."]}), "{ended}");
    assert_eq!(ended["stats"]["cost"], 3);
    assert_eq!(balance(&anna).await, 4);
    let sums = anna.make(&adder("Adder", 1)).await;
    anna.outputs(&sums, &json!({"n": 1})).await;
    assert_eq!(balance(&anna).await, 4);

    // Work that was started is paid for, below zero if necessary; then no new work starts.
    setup.model.enqueue(answer("Aye.", 9_000));
    anna.post(&run, &question).await;
    assert_eq!(balance(&anna).await, -5);
    assert_eq!(anna.refused(Method::POST, &run, &question).await, no_funds);
    assert_eq!(anna.refused(Method::POST, &execute, &json!({})).await, no_funds);

    let ledger = anna.get("/credits/transactions").await;
    let kinds: Vec<&str> = ledger["transactions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| text(&entry["transaction_type"]))
        .collect();
    assert_eq!(kinds, ["USAGE", "USAGE", "USAGE", "USAGE", "GRANT"], "the newest first");
    assert_eq!(ledger["transactions"][4]["description"], "Welcome");
    let page = anna.get("/credits/transactions?limit=2&offset=1").await;
    assert_eq!(
        page["transactions"].as_array().map(Vec::as_slice),
        ledger["transactions"].as_array().map(|all| &all[1..3])
    );
    let refused = anna.refused(Method::GET, "/credits/transactions?limit=0", &Value::Null).await;
    assert_eq!(refused.0, 422);
    assert_eq!(balance(&bert).await, 0, "only anna was charged");
    setup.model.assert_no_violations();
}
