//! Every route of the API document, walked: nobody gets in without an identity, and what belongs to another
//! user looks exactly like what does not exist.

use serde_json::{Value, json};

use super::auth::{jwt_server, token};
use crate::server::{TestServer, id_of, json_of};

/// Routes that everybody may call.
const OPEN: &[&str] = &["/api/chat/health"];

pub(crate) async fn routes(server: &TestServer) -> Vec<(String, String)> {
    let document = server.client.get(server.api("/openapi.json")).send().await.expect("an answer");
    let document: Value = json_of(document).await;
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            routes.push((method.to_uppercase(), path.clone()));
        }
    }
    assert!(routes.len() > 15, "{routes:?}");
    routes
}

/// A body that each route would take from its owner.
fn body(path: &str) -> Value {
    match path.rsplit('/').next() {
        Some("title") => json!({"title": "stolen"}),
        Some("pinned") => json!({"is_pinned": true}),
        Some("api-keys") => json!({"name": "stolen"}),
        Some("pending" | "stream") => json!({"message": "stolen"}),
        _ => json!({}),
    }
}

async fn call(server: &TestServer, method: &str, path: &str, user: Option<&str>) -> (u16, String) {
    let method = method.parse().expect("a method");
    let mut request = server.client.request(method, format!("{}{path}", server.base()));
    if request.try_clone().is_some_and(|r| r.build().is_ok_and(|r| r.method() != "GET")) {
        request = request.json(&body(path));
    }
    if let Some(user) = user {
        request = request.bearer_auth(token(user));
    }
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("text"))
}

#[tokio::test]
async fn no_route_answers_without_an_identity() {
    let server = jwt_server(&[("CHAT_INTERNAL_API_KEY", "key-of-the-services-0123456789abcdef")]);
    for (method, path) in routes(&server).await {
        let (status, _) = call(&server, &method, &path.replace(['{', '}'], ""), None).await;
        let expected = if OPEN.contains(&path.as_str()) { 200 } else { 401 };
        assert_eq!(status, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn what_is_foreign_looks_missing_on_every_route() {
    let server = jwt_server(&[]);
    let made = server
        .post("/chat/sessions", &json!({}))
        .bearer_auth(token("anna"))
        .send()
        .await
        .expect("an answer");
    let session = id_of(made).await;
    let said =
        server.post(&format!("/chat/sessions/{session}/stream"), &json!({"message": "private"}));
    let said = said.bearer_auth(token("anna")).send().await.expect("an answer");
    let turn = said.headers()["x-turn-id"].to_str().expect("text").to_owned();
    said.text().await.expect("the whole turn");
    let key = server
        .post("/api-keys", &json!({"name": "mine"}))
        .bearer_auth(token("anna"))
        .send()
        .await
        .expect("an answer");
    let key = id_of(key).await;
    // A title of her own, or one that is generated later would look like a change.
    let title = server.client.patch(server.api(&format!("/chat/sessions/{session}/title")));
    let title = title.bearer_auth(token("anna")).json(&json!({"title": "mine"})).send().await;
    assert_eq!(title.expect("an answer").status(), 200);
    let before = annas_view(&server, &session).await;

    let mut walked = 0;
    for (method, path) in routes(&server).await {
        let with = |session: &str, turn: &str, key: &str| {
            path.replace("{session_id}", session)
                .replace("{task_id}", turn)
                .replace("{key_id}", key)
        };
        let foreign = with(&session, &turn, &key);
        if foreign == path {
            continue;
        }
        walked += 1;
        let missing = "01900000-0000-7000-8000-000000000000";
        let of_foreign = call(&server, &method, &foreign, Some("bert")).await;
        let of_missing =
            call(&server, &method, &with(missing, missing, missing), Some("bert")).await;
        assert_eq!(of_foreign, of_missing, "{method} {path}");
        assert!(matches!(of_foreign.0, 404 | 204), "{method} {path}: {of_foreign:?}");
        assert!(!of_foreign.1.contains("private"));
    }
    assert!(walked >= 10, "{walked}");
    assert_eq!(annas_view(&server, &session).await, before, "and nothing was changed");
}

async fn annas_view(server: &TestServer, session: &str) -> Value {
    let read = server.get(&format!("/chat/sessions/{session}")).bearer_auth(token("anna"));
    json_of(read.send().await.expect("an answer")).await
}
