//! The webhook: its authentication, its input, and that repeated results have no effect.

use futures::future::join_all;
use serde_json::{Value, json};

use super::{DONE, KEY, OperationServer, content, film, finished, shown, status, webhook};
use crate::events::text_of;
use crate::history::{history, rows};
use crate::server::{TestServer, json_of, refusal};

const UNKNOWN: &str = "01900000-0000-7000-8000-000000000000";

#[tokio::test]
async fn without_an_internal_key_the_server_accepts_no_results() {
    let server = TestServer::start(super::ENGINE);
    let answer = webhook(&server, UNKNOWN, &film()).send().await.expect("an answer");
    assert_eq!(refusal(answer).await, (503, "INTERNAL_KEY_NOT_CONFIGURED".to_owned()));
}

#[tokio::test]
async fn a_result_is_accepted_only_with_the_key_and_in_its_format() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let path = format!("/chat/operations/{}/complete", begun.operation);
    let post = || setup.server.post(&path, &film());
    assert_eq!(status(post().send().await).await, 401);
    for wrong in ["", "wrong", &KEY[1..], &format!("{KEY}x")] {
        assert_eq!(status(post().header("x-api-key", wrong).send().await).await, 401, "{wrong}");
    }
    let wrong_in_front = post().header("x-api-key", "wrong").bearer_auth(KEY);
    assert_eq!(status(wrong_in_front.send().await).await, 401);

    for body in [
        json!({}),
        json!({"result": "film.mp4"}),
        json!({"success": "yes"}),
        json!({"success": true, "error": 5}),
        json!([true]),
    ] {
        let answer = webhook(&setup.server, &begun.operation, &body).send().await;
        assert_eq!(status(answer).await, 422, "{body}");
    }
    let raw = |body: String, kind: &'static str| {
        let request = setup.server.client.post(setup.server.api(&path)).header("x-api-key", KEY);
        // A refused body that was not read ends its connection, so the client must not reuse it.
        request.header("content-type", kind).header("connection", "close").body(body).send()
    };
    assert_eq!(status(raw("{".to_owned(), "application/json").await).await, 400);
    assert_eq!(status(raw(film().to_string(), "text/plain").await).await, 415);
    let large = json!({"success": true, "result": "x".repeat(2 << 20)}).to_string();
    assert_eq!(status(raw(large, "application/json").await).await, 413);
    let missing = webhook(&setup.server, UNKNOWN, &film()).send().await.expect("an answer");
    assert_eq!(refusal(missing).await, (404, "OPERATION_NOT_FOUND".to_owned()));
    assert_eq!(content(&setup.row(&begun.session).await)["type"], "operation_pending", "unchanged");

    let answer = post().bearer_auth(KEY).send().await.expect("an answer");
    assert_eq!(json_of(answer).await, json!({"status": "ok", "task_id": begun.task}));
    assert_eq!(*shown(&setup.to_the_end(&begun.task).await.0), json!({"file": "film.mp4"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_concurrent_results_give_one_result_and_one_response() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let completions: Vec<Value> =
        (0..100).map(|number| json!({"success": true, "result": {"number": number}})).collect();
    let sent = completions.iter().map(|completion| async {
        let sent = webhook(&setup.server, &begun.operation, completion).send().await;
        json_of(sent.expect("an answer")).await
    });
    for answer in join_all(sent).await {
        assert_eq!(answer, json!({"status": "ok", "task_id": begun.task}));
    }
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(content(&setup.row(&begun.session).await), *shown(&events), "the same one of them");
    setup.complete(&begun.operation, &film()).await;
    assert_eq!(content(&setup.row(&begun.session).await), *shown(&events), "and it stays");
    assert_eq!(setup.continuations().len(), 1, "the model was asked once");
    let history = history(&setup.server, &begun.session).await;
    assert_eq!(rows(&history, "assistant").len(), 3, "and answered once: {history:?}");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_result_after_the_end_changes_nothing() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.complete(&begun.operation, &film()).await;
    setup.to_the_end(&begun.task).await;
    let events = setup.to_the_end(&begun.task).await.0;
    let before = history(&setup.server, &begun.session).await;
    for late in [json!({"success": false, "error": "no"}), film(), json!({"success": true})] {
        let answer = webhook(&setup.server, &begun.operation, &late).send().await;
        let answer = json_of(answer.expect("an answer")).await;
        assert_eq!(answer, json!({"status": "ok", "task_id": begun.task}));
    }
    assert_eq!(setup.to_the_end(&begun.task).await.0, events);
    assert_eq!(history(&setup.server, &begun.session).await, before);
    assert_eq!(setup.task(&begun.task).await["status"], "completed");
    // A turn that the late result had started would run before this one.
    setup.server.say(&begun.session, "next").await.all().await;
    assert_eq!(setup.continuations().len(), 1);
}
