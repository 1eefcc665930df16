//! Sessions over HTTP: created, listed, read, renamed, pinned, deleted.

use serde_json::{Value, json};

use super::ENGINE;
use crate::events::kinds;
use crate::server::{TestServer, json_of, refusal};

async fn list(server: &TestServer, query: &str) -> Value {
    json_of(server.get(&format!("/chat/sessions{query}")).send().await.expect("an answer")).await
}

async fn patch(server: &TestServer, path: &str, body: Value) -> reqwest::Response {
    server.client.patch(server.api(path)).json(&body).send().await.expect("an answer")
}

#[tokio::test]
async fn a_session_is_created_listed_renamed_pinned_and_deleted() {
    let server = TestServer::start(ENGINE);
    let body = json!({"dry_run": true, "metadata": {"a": [1], "__proto__": 1}});
    let made = json_of(server.post("/chat/sessions", &body).send().await.expect("an answer")).await;
    assert_eq!(made["metadata"], json!({"a": [1]}));
    assert_eq!(made["user_id"], "local");
    let first = made["id"].as_str().expect("an id").to_owned();
    let second = server.session().await;

    assert_eq!(
        patch(&server, &format!("/chat/sessions/{first}/title"), json!({"title": "  Two words "}))
            .await
            .status(),
        200
    );
    assert_eq!(
        patch(&server, &format!("/chat/sessions/{first}/pinned"), json!({"is_pinned": true}))
            .await
            .status(),
        200
    );
    let listed = list(&server, "").await;
    assert_eq!(listed["total"], 2);
    let top = &listed["sessions"][0];
    assert_eq!(
        (&top["id"], &top["title"], &top["is_pinned"]),
        (&json!(first), &json!("Two words"), &json!(true))
    );
    for field in ["created_at", "updated_at", "chat_status", "is_processing", "parent_session_id"] {
        assert!(top.get(field).is_some(), "{field}");
    }
    assert_eq!(
        list(&server, "?limit=1&offset=1").await["sessions"].as_array().expect("a list").len(),
        1
    );
    assert_eq!(list(&server, "?pinned_first=false").await["total"], 2);

    let delete = async || {
        server
            .client
            .delete(server.api(&format!("/chat/sessions/{second}")))
            .send()
            .await
            .expect("an answer")
    };
    assert_eq!(delete().await.status(), 204);
    assert_eq!(refusal(delete().await).await, (404, "SESSION_NOT_FOUND".into()));
    assert_eq!(list(&server, "").await["total"], 1);
}

#[tokio::test]
async fn the_history_is_paginated_with_all_its_fields() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    for _ in 0..3 {
        server.say(&session, "/stream count=1 size=40").await.all().await;
    }
    let read = server.read_session(&session).await;
    assert_eq!(read["messages"].as_array().expect("a list").len(), 6);
    assert!(read["total_completion_tokens"].as_u64().expect("a number") > 0);
    let first = &read["messages"][0];
    for field in ["id", "role", "content", "sequence", "created_at", "session_id", "turn_id"] {
        assert!(first.get(field).is_some(), "{field}");
    }
    assert!(first.as_object().expect("an object").values().all(|value| !value.is_null()));
    let page = json_of(
        server.get(&format!("/chat/sessions/{session}?limit=2")).send().await.expect("an answer"),
    )
    .await;
    assert_eq!((&page["has_more_messages"], &page["oldest_sequence"]), (&json!(true), &json!(5)));
    let before = json_of(
        server
            .get(&format!("/chat/sessions/{session}?limit=4&before_sequence=5"))
            .send()
            .await
            .expect("an answer"),
    )
    .await;
    assert_eq!(before["has_more_messages"], false);
    assert_eq!(before["messages"].as_array().expect("a list").len(), 4);
}

#[tokio::test]
async fn a_tool_exchange_keeps_its_format_and_is_never_split() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let events = server
        .say(&session, "/tool list_workspace_files {}\n/tool todo_write {\"todos\":[]}")
        .await
        .all()
        .await;
    let kinds = kinds(&events);
    for kind in ["tool-input-available", "tool-output-available"] {
        assert_eq!(kinds.iter().filter(|one| **one == kind).count(), 2, "{kinds:?}");
    }
    let read = server.read_session(&session).await;
    let messages = read["messages"].as_array().expect("a list");
    let roles: Vec<&str> =
        messages.iter().map(|message| message["role"].as_str().expect("a role")).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant"]);
    let call = &messages[1]["tool_calls"][0];
    assert_eq!(
        (&call["type"], &call["function"]["name"]),
        (&json!("function"), &json!("list_workspace_files"))
    );
    assert!(call["function"]["arguments"].is_string());
    let result =
        messages.iter().find(|message| message["tool_call_id"] == call["id"]).expect("its result");
    assert_eq!(
        (&result["name"], &result["outcome"]),
        (&json!("list_workspace_files"), &json!("ok"))
    );
    let page = json_of(
        server.get(&format!("/chat/sessions/{session}?limit=2")).send().await.expect("an answer"),
    )
    .await;
    assert_eq!(page["messages"][0]["role"], "assistant", "the page reaches back to the call");
}

#[tokio::test]
async fn the_active_stream_is_named_while_a_turn_runs() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=100000 size=5 delay_ms=20").await;
    events.until("text-delta").await;
    let read = server.read_session(&session).await;
    let active = &read["active_stream"];
    assert_eq!(active["turn_id"], events.headers["x-turn-id"].to_str().expect("text"));
    assert_eq!(
        (&active["task_id"], &active["last_message_id"]),
        (&active["turn_id"], &json!("0-0"))
    );
    assert!(active["started_at"].is_string());
    assert_eq!(
        read["messages"].as_array().expect("a list").len(),
        1,
        "the running turn is only in the stream"
    );
    assert_eq!(list(&server, "").await["sessions"][0]["is_processing"], true);
    server.cancel(&session).await;
}

#[tokio::test]
async fn small_endpoints_return_their_fields() {
    let server = TestServer::with(ENGINE, &[("CHAT_STREAM_TTL", "120")]);
    let get = async |path: &str| json_of(server.get(path).send().await.expect("an answer")).await;
    assert_eq!(
        get("/chat/config/ttl").await,
        json!({"stream_ttl_seconds": 120, "stream_ttl_ms": 120000})
    );
    assert!(get("/chat/suggested-prompts").await["themes"][0]["prompts"][0].is_string());
    assert_eq!(get("/chat/health").await["status"], "healthy");
    let schema = server.get("/chat/schema/tool-responses").send().await.expect("an answer");
    assert_eq!(refusal(schema).await, (501, "NOT_IMPLEMENTED".into()));
}

#[tokio::test]
async fn sessions_are_found_by_words_of_their_titles() {
    let server = TestServer::start(ENGINE);
    for title in ["Invoices of May", "Holidays in May"] {
        let path = format!("/chat/sessions/{}/title", server.session().await);
        let named = server.client.patch(server.api(&path)).json(&json!({"title": title}));
        assert_eq!(named.send().await.expect("an answer").status(), 200);
    }
    assert_eq!(list(&server, "?search=may").await["total"], 2);
    let found = list(&server, "?search=%20MAY%20invoice").await;
    assert_eq!(found["total"], 1);
    assert_eq!(found["sessions"][0]["title"], "Invoices of May");
    assert_eq!(list(&server, "?search=%25").await, json!({"sessions": [], "total": 0}));
}
