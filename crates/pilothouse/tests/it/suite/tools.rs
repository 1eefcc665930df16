//! The list of tools, from which pages take the labels of calls.

use serde_json::{Value, json};
use testkit::external_service::ExternalService;

use super::ENGINE;
use crate::server::{TestServer, json_of};

/// The built-in tools, as unit tests and the style guide of the page read them.
const RECORDED: &str = include_str!("../../../../../web/src/styleguide/fixtures/tools.json");

async fn listed(server: &TestServer) -> Vec<Value> {
    let list = json_of(server.get("/chat/tools").send().await.expect("an answer")).await;
    list.as_array().expect("a list").clone()
}

#[tokio::test]
async fn every_built_in_tool_is_listed_with_its_labels() {
    let tools = listed(&TestServer::start(ENGINE)).await;
    let recorded: Value = serde_json::from_str(RECORDED).expect("JSON");
    assert_eq!(json!(tools), recorded, "run `make gen`");
    assert!(tools.len() > 20, "{tools:?}");
    for tool in &tools {
        let labels = &tool["labels"];
        assert!(tool["summary"].is_string() && tool["requires_sign_in"].is_boolean(), "{tool}");
        assert!(labels["label"].is_string() && labels["doing"].is_string(), "{tool}");
        assert!(labels["done"].is_string() && labels["icon"].is_string(), "{tool}");
    }
}

#[tokio::test]
async fn an_external_tool_is_listed_with_a_readable_name() {
    let service = ExternalService::start(&[("print_chart", json!({}))]).await;
    let server = TestServer::with(ENGINE, &[("CHAT_TOOLS_FILE", &service.tools_file())]);
    let tools = listed(&server).await;
    let chart = tools.last().expect("a tool");
    assert_eq!(
        json!([chart["name"], chart["summary"], chart["requires_sign_in"]]),
        json!(["print_chart", chart["description"], true])
    );
    assert_eq!(
        chart["labels"],
        json!({
            "label": "Print chart",
            "icon": "wrench",
            "doing": "Running",
            "done": "",
            "object": {"arguments": [], "style": "plain"},
        })
    );
}
