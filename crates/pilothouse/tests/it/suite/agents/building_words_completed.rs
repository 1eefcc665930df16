//! Agents that a generator service reports after it has accepted the work, and servers that are killed meanwhile.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use testkit::external_service::ServiceResponse;

use super::operations_flow::webhook;
use super::words_server::{GENERATE, UPDATE, WordsServer, made, reported};
use crate::agent_fixtures::{adder, graph, text};

/// Milliseconds between an accepted completion and the kill.
const KILL_DELAYS_MS: [u64; 3] = [0, 10, 60];

#[tokio::test]
async fn a_reported_agent_is_saved_once() {
    let setup = WordsServer::start().await;
    setup.generator.answer(GENERATE, ServiceResponse::accepted());
    let begun = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
    let completion = reported(&adder("Adder", 10));
    let sent = (0..8).map(|_| webhook(&setup.server, &begun.operation, &completion).send());
    for answer in join_all(sent).await {
        assert_eq!(answer.expect("an answer").status().as_u16(), 200);
    }
    let saved = setup.result(&begun).await;
    assert_eq!(
        (&saved["type"], &saved["state"]),
        (&json!("agent_saved"), &json!("verified")),
        "{saved}"
    );
    assert_eq!(saved["session_id"], begun.session);
    setup.complete(&begun, &completion).await;
    assert_eq!(setup.library().await, ["Adder"]);
    assert_eq!(setup.versions(text(&saved["agent_id"])).await, 1);
}

#[tokio::test]
async fn a_reported_change_is_one_new_version() {
    let setup = WordsServer::start().await;
    let id = setup.user().make(&adder("Adder", 10)).await;
    setup.generator.answer(UPDATE, ServiceResponse::accepted());
    let arguments = json!({"agent_id": id, "changes": "Add 20"});
    let begun = setup.begin_accepted("edit_agent", &arguments).await;
    let completion = reported(&adder("Adder", 20));
    let sent = (0..8).map(|_| webhook(&setup.server, &begun.operation, &completion).send());
    for answer in join_all(sent).await {
        assert_eq!(answer.expect("an answer").status().as_u16(), 200);
    }
    let saved = setup.result(&begun).await;
    assert_eq!(
        (&saved["type"], &saved["graph_version"]),
        (&json!("agent_saved"), &json!(2)),
        "{saved}"
    );
    assert_eq!(setup.versions(&id).await, 2);
}

#[tokio::test]
async fn a_reported_agent_that_cannot_be_saved_is_kept_without_secrets() {
    let setup = WordsServer::start().await;
    setup.generator.answer(GENERATE, ServiceResponse::accepted());
    let begun = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
    let settings = json!({"api_key": "sk-canary", "url": "https://example.com"});
    let broken = graph("Broken", &[("a", "no-such-block", settings)], &[]);
    setup.complete(&begun, &reported(&broken)).await;
    let failed = setup.result(&begun).await;
    assert_eq!(
        (&failed["type"], &failed["error"]),
        (&json!("error"), &json!("validation_failed")),
        "{failed}"
    );
    let kept = &failed["agent_json"]["nodes"][0]["input_default"];
    assert_eq!(*kept, json!({"api_key": "[REDACTED]", "url": "https://example.com"}));
    assert!(setup.library().await.is_empty());
}

#[tokio::test]
async fn results_without_an_agent_stay_as_they_were_reported() {
    let setup = WordsServer::start().await;
    setup.generator.answer(GENERATE, ServiceResponse::accepted());
    let begun = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
    setup.complete(&begun, &json!({"success": true, "result": {"note": "no agent"}})).await;
    assert_eq!(setup.result(&begun).await, json!({"note": "no agent"}));
    let begun = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
    setup.complete(&begun, &json!({"success": false, "error": "out of ideas"})).await;
    let failed = setup.result(&begun).await;
    assert_eq!(
        (&failed["error"], &failed["message"]),
        (&json!("operation_failed"), &json!("out of ideas"))
    );
    // A preview was asked for, so nothing is saved.
    let preview = json!({"description": "Add 10", "save": false});
    let begun = setup.begin_accepted("create_agent", &preview).await;
    setup.complete(&begun, &reported(&adder("Adder", 10))).await;
    assert_eq!(setup.result(&begun).await["type"], "agent_preview");
    assert!(setup.library().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_a_crash_interrupts_is_done_again_and_saved_once() {
    let mut setup = WordsServer::start().await;
    let id = setup.user().make(&adder("Other", 10)).await;
    setup.generator.answer(GENERATE, ServiceResponse::never());
    setup.generator.answer(UPDATE, ServiceResponse::never());
    let created = setup.begin("create_agent", &json!({"description": "Add 10"})).await;
    setup.generator.wait_for_calls(GENERATE, 1).await;
    let changes = json!({"agent_id": id, "changes": "Add 20"});
    let edited = setup.begin("edit_agent", &changes).await;
    setup.generator.wait_for_calls(UPDATE, 1).await;
    setup.server.kill9();
    setup.generator.answer(GENERATE, made(&adder("Adder", 10)));
    setup.generator.answer(UPDATE, made(&adder("Other", 20)));
    setup.server.restart();
    let saved = setup.result(&created).await;
    assert_eq!(saved["type"], "agent_saved", "{saved}");
    let changed = setup.result(&edited).await;
    assert_eq!(
        (&changed["type"], &changed["graph_version"]),
        (&json!("agent_saved"), &json!(2)),
        "{changed}"
    );
    let ids = setup.generator.calls(GENERATE);
    assert_eq!((ids.len(), &ids[0].body["operation_id"]), (2, &ids[1].body["operation_id"]));
    let mut library = setup.library().await;
    library.sort();
    assert_eq!(
        (library, setup.versions(&id).await),
        (vec!["Adder".to_owned(), "Other".to_owned()], 2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_work_outlives_a_crash_and_its_agent_is_saved_once() {
    let mut setup = WordsServer::start().await;
    setup.generator.answer(GENERATE, ServiceResponse::accepted());
    let first = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
    setup.server.restart();
    setup.complete(&first, &reported(&adder("First", 10))).await;
    assert_eq!(setup.result(&first).await["type"], "agent_saved");
    assert_eq!(setup.generator.calls(GENERATE).len(), 1, "the work is not requested again");
    // The report may be cut off anywhere: the service sends it again.
    for delay in KILL_DELAYS_MS {
        let begun = setup.begin_accepted("create_agent", &json!({"description": "Add 10"})).await;
        let completion = reported(&adder(&format!("After {delay}"), 10));
        let cut_off = async {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        };
        let sent = webhook(&setup.server, &begun.operation, &completion).send();
        // Either the answer or the kill comes first; both must be harmless.
        tokio::select! {
            _ = sent => {}
            () = cut_off => {}
        }
        setup.server.restart();
        setup.complete(&begun, &completion).await;
        let saved = setup.result(&begun).await;
        assert_eq!(saved["type"], "agent_saved", "{saved}");
    }
    let mut library = setup.library().await;
    library.sort();
    assert_eq!(library, ["After 0", "After 10", "After 60", "First"]);
}
