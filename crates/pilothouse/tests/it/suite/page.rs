//! The built-in page and the API document.

use std::process::Stdio;

use serde_json::Value;

use super::ENGINE;
use crate::server::TestServer;

#[tokio::test]
async fn the_page_is_served_with_a_strict_policy_and_no_inline_code() {
    let server = TestServer::start(ENGINE);
    for (path, media_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/page/app.js", "text/javascript; charset=utf-8"),
        ("/page/stream.js", "text/javascript; charset=utf-8"),
        ("/page/view.js", "text/javascript; charset=utf-8"),
        ("/page/style.css", "text/css; charset=utf-8"),
    ] {
        let response =
            server.client.get(format!("{}{path}", server.base())).send().await.expect("an answer");
        assert_eq!(response.status(), 200, "{path}");
        let policy =
            response.headers()["content-security-policy"].to_str().expect("text").to_owned();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(response.headers()["content-type"], media_type);
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        let text = response.text().await.expect("text");
        assert!(!text.contains("innerHTML") && !text.contains("{{"), "{path}");
        if path == "/" {
            assert!(text.contains("data-provider=\"offline\""));
            assert!(!text.contains("onclick=") && !text.contains("style="));
            for script in text.split("<script").skip(1) {
                assert!(script.contains("src="), "no inline script");
            }
        }
    }
}

#[tokio::test]
async fn the_api_document_is_what_it_was() {
    let server = TestServer::start(ENGINE);
    let printed = server.command(&["openapi"]).stdout(Stdio::piped()).output().expect("it runs");
    assert!(printed.status.success());
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let served = server.client.get(server.api("/openapi.json")).send().await.expect("an answer");
    let served: Value = served.json().await.expect("JSON");
    assert_eq!(served, printed);
    for schema in ["Chunk", "ToolResponse", "Problem"] {
        assert!(printed["components"]["schemas"].get(schema).is_some(), "{schema}");
    }
    assert_eq!(printed["info"]["title"], "Pilothouse");
    let mut names = Vec::new();
    for operation in printed["paths"]
        .as_object()
        .expect("paths")
        .values()
        .flat_map(|path| path.as_object().expect("methods").values())
    {
        names.push(operation["operationId"].as_str().expect("a name"));
        for response in operation["responses"].as_object().expect("responses").values() {
            assert!(response["description"].is_string(), "{operation}");
        }
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "every operation has a name of its own");
    let committed = include_str!("../../../../../docs/openapi.json");
    let committed: Value = serde_json::from_str(committed).expect("JSON");
    assert!(printed == committed, "docs/openapi.json is stale; write it anew with `make gen`");
}

#[tokio::test]
async fn every_prompt_the_offline_pilot_suggests_works() {
    let server = TestServer::start(ENGINE);
    let suggested =
        server.client.get(server.api("/chat/suggested-prompts")).send().await.expect("an answer");
    let suggested: Value = suggested.json().await.expect("JSON");
    let themes = suggested["themes"].as_array().expect("themes");
    let prompts: Vec<&str> = themes
        .iter()
        .flat_map(|theme| theme["prompts"].as_array().expect("prompts"))
        .map(|prompt| prompt.as_str().expect("text"))
        .collect();
    assert!(!prompts.is_empty());
    let session = server.session().await;
    for prompt in prompts {
        for got in server.say(&session, prompt).await.all().await {
            assert!(
                got.chunk["type"] != "error" && got.chunk["output"]["type"] != "error",
                "{prompt}: {got:?}"
            );
        }
    }
}
