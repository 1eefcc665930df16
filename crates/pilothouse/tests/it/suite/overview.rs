//! The overview for operators, and the usage of a user.

use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use crate::server::{Engine, TestServer, json_of};
use crate::tokens::token;

const KEY: &str = "key-of-the-services-0123456789abcdef";

async fn overview(server: &TestServer) -> Value {
    json_of(server.get("/ops/overview").send().await.expect("an answer")).await
}

#[tokio::test]
async fn the_overview_shows_running_turns_without_their_text() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=100000 size=5 delay_ms=20").await;
    events.until("text-delta").await;
    let seen = overview(&server).await;
    assert_eq!((&seen["turns"]["running"], &seen["turns"]["queued"]), (&json!(1), &json!(0)));
    assert_eq!(seen["turns"]["oldest_queued_seconds"], Value::Null);
    assert_eq!(seen["executions"]["running"], 0);
    let turn = &seen["live_turns"][0];
    assert_eq!(turn["turn_id"], events.headers["x-turn-id"].to_str().expect("text"));
    assert_eq!((&turn["session_id"], &turn["status"]), (&json!(session), &json!("running")));
    assert_eq!((&turn["user_id"], &turn["attempt"]), (&json!("local"), &json!(1)));
    let workers = seen["workers"].as_array().expect("a list");
    let holder = workers.iter().find(|worker| worker["name"] == turn["worker"]);
    let holder = holder.unwrap_or_else(|| panic!("no worker has the turn: {seen}"));
    assert_eq!(holder["busy"], 1);
    assert!(holder["last_seen"].is_string(), "{holder}");
    if ENGINE == Engine::Embedded {
        assert_eq!(holder["slots"], 5, "it is the process that answers");
    }
    assert_eq!(seen["streams"]["open"], 1);
    assert!(seen["queue"]["depth"].is_u64() && seen["queue"]["outbox_lag_seconds"].is_u64());
    let dependencies = seen["dependencies"].as_array().expect("a list");
    assert!(!dependencies.is_empty() && dependencies.iter().all(|one| one["ok"] == true));
    assert!(seen["process"]["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1_000_000));
    assert!(seen["process"]["uptime_seconds"].is_u64());
    assert!(!seen.to_string().contains("/stream"), "{seen}");
    server.cancel(&session).await;
    events.rest().await;
    let after = overview(&server).await;
    assert_eq!((&after["turns"]["running"], &after["live_turns"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn the_overview_needs_the_internal_key_on_a_server_with_login() {
    let server = jwt_server(&[("CHAT_INTERNAL_API_KEY", KEY)]);
    let ask = async |key: Option<&str>, user: Option<&str>| {
        let mut request = server.get("/ops/overview");
        if let Some(key) = key {
            request = request.header("x-api-key", key);
        }
        if let Some(user) = user {
            request = request.bearer_auth(token(user));
        }
        request.send().await.expect("an answer").status().as_u16()
    };
    assert_eq!(ask(None, None).await, 401);
    assert_eq!(ask(None, Some("anna")).await, 401, "a user is not an operator");
    assert_eq!(ask(Some("another key"), None).await, 401);
    assert_eq!(ask(Some(KEY), None).await, 200);
}

#[tokio::test]
async fn users_see_what_their_own_turns_have_used() {
    let server = jwt_server(&[]);
    let anna = |path: &str| server.get(path).bearer_auth(token("anna"));
    let usage = async || json_of(anna("/chat/usage").send().await.expect("an answer")).await;
    let before = usage().await;
    assert_eq!((&before["daily"], &before["weekly"]), (&Value::Null, &Value::Null));
    assert_eq!((&before["tier"], &before["reset_cost"]), (&json!("self_hosted"), &json!(0)));
    assert_eq!(before["days"].as_array().expect("a list").len(), 30);
    assert_eq!(before["all_time"]["turns"], 0);

    let made = server.post("/chat/sessions", &json!({})).bearer_auth(token("anna")).send().await;
    let session = json_of(made.expect("an answer")).await["id"].as_str().expect("an id").to_owned();
    let path = format!("/chat/sessions/{session}/stream");
    let said = server.post(&path, &json!({"message": "/stream count=3 size=40"}));
    let said = said.bearer_auth(token("anna")).send().await.expect("an answer");
    said.text().await.expect("the whole turn");

    let after = usage().await;
    for sum in ["week", "all_time"] {
        assert_eq!(after[sum]["turns"], 1, "{after}");
        assert!(after[sum]["completion_tokens"].as_u64().is_some_and(|tokens| tokens > 0));
    }
    let of_days: u64 = after["days"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|day| day["turns"].as_u64())
        .sum();
    assert_eq!(of_days, 1);
    let history =
        json_of(anna(&format!("/chat/sessions/{session}")).send().await.expect("it")).await;
    let last = history["messages"].as_array().expect("a list").last().expect("a row").clone();
    assert_eq!(
        last["metadata"]["usage"]["completionTokens"], after["all_time"]["completion_tokens"],
        "the last row of a turn has its usage: {last}"
    );
    let bert = server.get("/chat/usage").bearer_auth(token("bert")).send().await;
    assert_eq!(json_of(bert.expect("an answer")).await["all_time"]["turns"], 0);
}
