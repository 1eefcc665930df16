//! The possible results of an operation.

use serde_json::{Value, json};
use testkit::external_service::{SECRET, ServiceResponse};

use super::{CALL, DONE, OperationServer, TOOL, content, finished, shown};
use crate::events::text_of;

#[tokio::test]
async fn a_failure_reported_by_the_service_fails_the_operation() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.complete(&begun.operation, &json!({"success": false, "error": "out of paint"})).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    let output = shown(&events);
    assert_eq!(
        (&output["error"], &output["message"]),
        (&json!("operation_failed"), &json!("out of paint"))
    );
    let row = setup.row(&begun.session).await;
    assert_eq!((&row["outcome"], content(&row)), (&json!("error"), output.clone()));
    let asked = setup.continuations()[0].last_user_text();
    assert!(asked.contains("It failed.") && asked.contains("out of paint"), "{asked}");
}

#[tokio::test]
async fn a_result_can_be_an_object_a_text_or_nothing() {
    let setup = OperationServer::start().await;
    let nothing = json!({"status": "completed"});
    for (completion, result) in [
        (json!({"success": true, "result": null}), nothing.clone()),
        (json!({"success": true}), nothing),
        (json!({"success": true, "result": "film.mp4"}), json!("film.mp4")),
        (
            json!({"success": true, "result": {"a": [1, 2]}, "error": null, "more": 1}),
            json!({"a": [1, 2]}),
        ),
    ] {
        let begun = setup.start_and_wait().await;
        setup.complete(&begun.operation, &completion).await;
        assert_eq!(*shown(&setup.to_the_end(&begun.task).await.0), result);
        let row = setup.row(&begun.session).await;
        assert_eq!((&row["outcome"], content(&row)), (&json!("ok"), result));
    }
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_service_that_refuses_makes_the_operation_fail() {
    let setup = OperationServer::start().await;
    for (answer, part) in [
        (
            ServiceResponse::status(422, &format!("no such project, {SECRET}")),
            "422: no such project, <secret>",
        ),
        (ServiceResponse::status(500, "on fire"), "500: on fire"),
        (ServiceResponse::status(302, ""), "302"),
    ] {
        setup.service.answer(TOOL, answer);
        let begun = setup.begin().await;
        let (events, end) = setup.to_the_end(&begun.task).await;
        assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
        let output = shown(&events);
        assert_eq!(output["error"], "external_tool_failed", "{output}");
        assert!(output["message"].as_str().is_some_and(|words| words.contains(part)), "{output}");
        assert_eq!(setup.row(&begun.session).await["outcome"], "error");
    }
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn an_operation_without_a_result_times_out() {
    let setup = OperationServer::with(&[("CHAT_OPERATION_SECONDS", "1")]).await;
    let begun = setup.begin().await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(shown(&events)["error"], "operation_timed_out");
    assert_eq!(content(&setup.row(&begun.session).await)["error"], "operation_timed_out");
    setup.complete(&begun.operation, &super::film()).await;
    assert_eq!(
        content(&setup.row(&begun.session).await)["error"],
        "operation_timed_out",
        "too late"
    );
    assert_eq!(setup.service.calls(TOOL).len(), 1, "the work is not asked for again");
    assert_eq!(setup.continuations().len(), 1);
}

#[tokio::test]
async fn results_of_operations_are_sanitized() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let harm = json!({"success": true, "result": {
        "__proto__": {"x": 1}, "long": "y".repeat(300_000),
    }});
    setup.complete(&begun.operation, &harm).await;
    let (events, _) = setup.to_the_end(&begun.task).await;
    let output = shown(&events).to_string();
    assert!(!output.contains("__proto__"));
    assert!(output.chars().count() <= 100_000, "{}", output.len());
    let row: Value = setup.row(&begun.session).await;
    assert_eq!(row["tool_call_id"], CALL);
    assert!(row["content"].as_str().is_some_and(|text| text.chars().count() <= 100_000));
    setup.model.assert_no_violations();
}
