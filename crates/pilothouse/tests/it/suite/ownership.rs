//! Every route of the API document: none answers without an identity, and what belongs to another user looks exactly
//! like what does not exist.

use serde_json::{Value, json};

use super::auth::jwt_server;
use crate::agent_fixtures::{ApiUser, UNKNOWN_ID, adder, text};
use crate::server::{TestServer, id_of, json_of};
use crate::tokens::token;

/// Routes that need no login.
const OPEN: &[&str] = &["/api/about", "/api/chat/health"];

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

/// A body that each route would accept from the owner.
fn body(path: &str) -> Value {
    match path.rsplit('/').next() {
        Some("active") => json!({"active_graph_version": 1}),
        Some("edits") => json!({"base_version": 1, "edits": []}),
        Some("title") => json!({"title": "stolen"}),
        Some("pinned") => json!({"is_pinned": true}),
        Some("api-keys") => json!({"name": "stolen"}),
        Some("pending" | "stream") => json!({"message": "stolen"}),
        _ if is_graph(path) => adder("stolen", 1),
        _ => json!({}),
    }
}

/// Whether a path ends with the id of a graph.
fn is_graph(path: &str) -> bool {
    path.strip_prefix("/api/graphs/").is_some_and(|rest| !rest.contains('/'))
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
async fn resources_of_other_users_look_missing_on_every_route() {
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
    // A title set by the user, because one that is generated later would look like a change.
    let title = server.client.patch(server.api(&format!("/chat/sessions/{session}/title")));
    let title = title.bearer_auth(token("anna")).json(&json!({"title": "mine"})).send().await;
    assert_eq!(title.expect("an answer").status(), 200);
    let agent = AgentIds::of_anna(&server).await;
    let before = annas_view(&server, &session, &agent).await;

    let mut walked = 0;
    for (method, path) in routes(&server).await {
        let with = |session: &str, turn: &str, key: &str, agent: &AgentIds| {
            let path = path
                .replace("{session_id}", session)
                .replace("{task_id}", turn)
                .replace("{key_id}", key);
            match path.contains("/workspace/") {
                true => format!("{}?session_id={session}", path.replace("{file_id}", "wf-1")),
                false => agent.put_into(&path),
            }
        };
        let foreign = with(&session, &turn, &key, &agent);
        if foreign == path {
            continue;
        }
        walked += 1;
        let of_foreign = call(&server, &method, &foreign, Some("bert")).await;
        let missing = with(UNKNOWN_ID, UNKNOWN_ID, UNKNOWN_ID, &AgentIds::missing());
        let of_missing = call(&server, &method, &missing, Some("bert")).await;
        assert_eq!(of_foreign, of_missing, "{method} {path}");
        assert!(matches!(of_foreign.0, 404 | 204), "{method} {path}: {of_foreign:?}");
        assert!(!of_foreign.1.contains("private"));
    }
    assert!(walked >= 37, "{walked}");
    assert_eq!(annas_view(&server, &session, &agent).await, before, "nothing was changed");
}

/// The ids of a user's agent, its library entry, its folder, and one of its executions.
struct AgentIds {
    graph: String,
    entry: String,
    folder: String,
    execution: String,
}

impl AgentIds {
    async fn of_anna(server: &TestServer) -> Self {
        let anna = ApiUser::named(server, "anna");
        let graph = anna.make(&adder("private", 1)).await;
        let run = anna.run(&graph, &json!({})).await;
        let folder = anna.post("/library/folders", &json!({"name": "private"})).await;
        let entry = anna.entry(&graph).await;
        let id = |of: &Value| text(&of["id"]).to_owned();
        Self { entry: id(&entry), folder: id(&folder), execution: id(&run), graph }
    }

    fn missing() -> Self {
        let unknown = || UNKNOWN_ID.to_owned();
        Self { graph: unknown(), entry: unknown(), folder: unknown(), execution: unknown() }
    }

    fn put_into(&self, path: &str) -> String {
        path.replace("{graph_id}", &self.graph)
            .replace("{library_agent_id}", &self.entry)
            .replace("{folder_id}", &self.folder)
            .replace("{execution_id}", &self.execution)
            .replace("{version}", "1")
    }
}

/// Everything that anna owns.
async fn annas_view(server: &TestServer, session: &str, agent: &AgentIds) -> Vec<Value> {
    let anna = ApiUser::named(server, "anna");
    let mut seen = Vec::new();
    for path in [
        format!("/chat/sessions/{session}"),
        format!("/graphs/{}", agent.graph),
        format!("/graphs/{}/versions", agent.graph),
        format!("/library/agents/{}", agent.entry),
        format!("/library/folders/{}", agent.folder),
        "/executions".to_owned(),
    ] {
        seen.push(anna.get(&path).await);
    }
    seen
}
