//! The possible results of an operation.

use serde_json::{Value, json};
use testkit::external_service::{Answer, SECRET};

use super::{CALL, DONE, TOOL, Workshop, content, finished, shown};
use crate::events::text_of;

#[tokio::test]
async fn a_failure_reported_by_the_service_fails_the_operation() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    shop.complete(&begun.operation, &json!({"success": false, "error": "out of paint"})).await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    let output = shown(&events);
    assert_eq!(
        (&output["error"], &output["message"]),
        (&json!("operation_failed"), &json!("out of paint"))
    );
    let row = shop.row(&begun.session).await;
    assert_eq!((&row["outcome"], content(&row)), (&json!("error"), output.clone()));
    let asked = shop.continuations()[0].last_user_text();
    assert!(asked.contains("It failed.") && asked.contains("out of paint"), "{asked}");
}

#[tokio::test]
async fn a_result_can_be_an_object_a_text_or_nothing() {
    let shop = Workshop::start().await;
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
        let begun = shop.begin_and_rest().await;
        shop.complete(&begun.operation, &completion).await;
        assert_eq!(*shown(&shop.to_the_end(&begun.task).await.0), result);
        let row = shop.row(&begun.session).await;
        assert_eq!((&row["outcome"], content(&row)), (&json!("ok"), result));
    }
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn a_service_that_refuses_makes_the_operation_fail() {
    let shop = Workshop::start().await;
    for (answer, part) in [
        (
            Answer::status(422, &format!("no such project, {SECRET}")),
            "422: no such project, <hidden>",
        ),
        (Answer::status(500, "on fire"), "500: on fire"),
        (Answer::status(302, ""), "302"),
    ] {
        shop.service.answer(TOOL, answer);
        let begun = shop.begin().await;
        let (events, end) = shop.to_the_end(&begun.task).await;
        assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
        let output = shown(&events);
        assert_eq!(output["error"], "external_tool_failed", "{output}");
        assert!(output["message"].as_str().is_some_and(|words| words.contains(part)), "{output}");
        assert_eq!(shop.row(&begun.session).await["outcome"], "error");
    }
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn an_operation_without_a_result_times_out() {
    let shop = Workshop::with(&[("CHAT_OPERATION_SECONDS", "1")]).await;
    let begun = shop.begin().await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(shown(&events)["error"], "operation_timed_out");
    assert_eq!(content(&shop.row(&begun.session).await)["error"], "operation_timed_out");
    shop.complete(&begun.operation, &super::film()).await;
    assert_eq!(
        content(&shop.row(&begun.session).await)["error"],
        "operation_timed_out",
        "too late"
    );
    assert_eq!(shop.service.calls(TOOL).len(), 1, "the work is not asked for again");
    assert_eq!(shop.continuations().len(), 1);
}

#[tokio::test]
async fn results_of_operations_are_sanitized() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let harm = json!({"success": true, "result": {
        "__proto__": {"x": 1}, "long": "y".repeat(300_000),
    }});
    shop.complete(&begun.operation, &harm).await;
    let (events, _) = shop.to_the_end(&begun.task).await;
    let output = shown(&events).to_string();
    assert!(!output.contains("__proto__"));
    assert!(output.chars().count() <= 100_000, "{}", output.len());
    let row: Value = shop.row(&begun.session).await;
    assert_eq!(row["tool_call_id"], CALL);
    assert!(row["content"].as_str().is_some_and(|text| text.chars().count() <= 100_000));
    shop.model.assert_no_violations();
}
