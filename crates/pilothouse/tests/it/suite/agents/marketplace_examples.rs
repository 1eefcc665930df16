//! The example agents, used as a new user would: added to the library and started with their defaults.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Script};

use super::ENGINE;
use super::scripted::ScriptedServer;
use crate::agent_fixtures::{ApiUser, text};
use crate::server::TestServer;

/// Adds an example to the library and returns its graph id.
async fn add(user: &ApiUser<'_>, slug: &str) -> String {
    let listing = user.get(&format!("/store/agents/pilothouse/{slug}")).await;
    let version = &listing["store_listing_version_id"];
    let added = user.post("/library/agents", &json!({"store_listing_version_id": version})).await;
    text(&added["graph_id"]).to_owned()
}

#[tokio::test]
async fn every_example_without_external_needs_runs_with_its_defaults() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    for (slug, output, part) in [
        ("text-in-numbers", "report", "Reading time: about 1 min."),
        ("invoice-calculator", "invoice", "INVOICE for Harbor Office"),
        ("csv-report", "report", "| Hamburg | Germany | 320 |"),
    ] {
        let graph = add(&user, slug).await;
        let outputs = user.outputs(&graph, &json!({})).await;
        assert_eq!(outputs[output].as_array().map(Vec::len), Some(1), "{slug}: {outputs}");
        assert!(text(&outputs[output][0]).contains(part), "{slug}: {outputs}");
    }

    let letter = add(&user, "approval-letter").await;
    let asked = user.run(&letter, &json!({"recipient": "Ms Okafor"})).await;
    assert_eq!(asked["status"], "REVIEW", "{asked}");
    let pending = user.get("/review/pending").await;
    let payload = text(&pending[0]["payload"]);
    assert!(payload.contains("Dear Ms Okafor,"), "{pending}");
    let approved = json!({
        "node_exec_id": pending[0]["node_exec_id"], "approved": true,
        "reviewed_data": payload.replace("Kind regards", "Yours"), "message": "warmer",
    });
    user.post("/review/action", &json!({"reviews": [approved]})).await;
    let ended = user.wait_for(&asked).await;
    assert_eq!((&ended["status"], &ended["failed_nodes"]), (&json!("COMPLETED"), &json!([])));
    assert!(text(&ended["outputs"]["letter"][0]).contains("Yours,"), "{ended}");
    assert_eq!(ended["outputs"]["remark"], json!(["warmer"]));
    assert_eq!(ended["outputs"].get("rejected_letter"), None);
}

#[tokio::test]
async fn the_example_that_asks_a_model_writes_its_tasks() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let user = ApiUser::local(&setup.server);
    let graph = add(&user, "notes-to-tasks").await;
    setup
        .model
        .enqueue(Script::text(r#"{"list": ["Jonas: order a chain", "Mara: ask the yard"]}"#));
    let outputs = user.outputs(&graph, &json!({})).await;
    let tasks: Value = json!(["- [ ] Jonas: order a chain\n- [ ] Mara: ask the yard\n"]);
    assert_eq!(outputs["tasks"], tasks);
    let asked = setup.model.requests();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].body.to_string().contains("buoy 7 drifts"), "the prompt has the notes");
    setup.model.assert_no_violations();
}
