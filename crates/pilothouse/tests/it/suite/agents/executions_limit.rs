//! The limit of executions of one user that run at the same time.

use serde_json::json;
use testkit::model_server::{Gate, ModelServer, RecordedRequest, Script};

use super::execution_fixtures::{ASK_MODEL, GraphBuilder};
use super::server_for;
use crate::server::{Api, json_of};
use crate::tokens::{KEY, token};

/// A user with the requests that these tests make.
struct User<'a> {
    api: &'a Api,
    token: String,
}

impl User<'_> {
    async fn creates_agent(&self, question: &str) -> String {
        let body = GraphBuilder::default()
            .node("think", ASK_MODEL, json!({"prompt": question}))
            .output("answer", "think.response")
            .document(question);
        let created = self.asks(self.api.post("/graphs", &body)).await;
        created["id"].as_str().expect("an id").to_owned()
    }

    async fn starts(&self, graph: &str) -> String {
        let run = self.asks(self.api.post(&format!("/graphs/{graph}/execute"), &json!({}))).await;
        run["id"].as_str().expect("an id").to_owned()
    }

    async fn waits(&self, graph: &str, run: &str) -> serde_json::Value {
        let path = format!("/graphs/{graph}/executions/{run}/wait?timeout=30");
        self.asks(self.api.get(&path)).await
    }

    async fn sees(&self, run: &str) -> String {
        let run = self.asks(self.api.get(&format!("/executions/{run}"))).await;
        run["status"].as_str().expect("a status").to_owned()
    }

    async fn asks(&self, request: reqwest::RequestBuilder) -> serde_json::Value {
        let request = request.header("authorization", format!("Bearer {}", self.token));
        json_of(request.send().await.expect("an answer")).await
    }
}

#[tokio::test]
async fn executions_over_the_limit_of_a_user_wait_and_those_of_others_run() {
    let model = ModelServer::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    model.respond_with(move |request: &RecordedRequest| match request.last_user_text().as_str() {
        "slow" => Script::default().say("At last").wait_for(&held).say("."),
        _ => Script::text("Here you are."),
    });
    let users = [("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", KEY), ("JWT_ISSUER", "test")];
    let one = [("EXECUTIONS_PER_USER", "1")];
    let server = server_for(&model, &[&users[..], &one].concat());
    let anna = User { api: &server, token: token("anna") };
    let ben = User { api: &server, token: token("ben") };

    let (slow, quick) = (anna.creates_agent("slow").await, anna.creates_agent("quick").await);
    let first = anna.starts(&slow).await;
    gate.reached().await;
    let second = anna.starts(&quick).await;
    let theirs = ben.creates_agent("quick").await;
    let other = ben.starts(&theirs).await;
    assert_eq!(ben.waits(&theirs, &other).await["status"], "COMPLETED");
    assert_eq!(anna.sees(&second).await, "QUEUED", "it started before the completed one");
    assert_eq!(anna.sees(&first).await, "RUNNING");
    gate.open();
    for (graph, run, answer) in [(&slow, &first, "At last."), (&quick, &second, "Here you are.")] {
        let ended = anna.waits(graph, run).await;
        assert_eq!(
            (&ended["status"], &ended["outputs"]),
            (&json!("COMPLETED"), &json!({"answer": [answer]}))
        );
    }
    model.assert_no_violations();
}
