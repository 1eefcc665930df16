//! A call that exceeds its time budget continues in the background, and the model can wait for it, cancel it, or ignore
//! it.

use serde_json::{Value, json};
use testkit::external_service::{ReceivedCallEnd, ServiceResponse};
use testkit::model_server::{Gate, RecordedRequest, Script, ScriptedCall};

use super::{
    LongWorkServer, calls, check, finished, output_of, result_text, slow, tool_result, unscripted,
};
use crate::events::ReceivedEvent;

/// The reports about background calls in a stream.
pub(crate) fn shown(events: &[ReceivedEvent]) -> Vec<&Value> {
    let shown = events.iter().filter(|got| got.chunk["type"] == "data-background");
    shown.map(|got| &got.chunk).collect()
}

#[tokio::test]
async fn a_call_over_its_budget_continues_and_returns_its_result_once() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    setup.service.answer("write_slowly", ServiceResponse::json(json!({"rows": 3})).held_by(&gate));
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "write_slowly")]),
        1 => check("call_list", json!({"list": true})),
        2 => look(request, "call_early", -5),
        3 => look(request, "call_wait", 100_000),
        4 => look(request, "call_again", 60),
        5 => check("call_empty", json!({"list": true})),
        6 => Script::text("It wrote three rows."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("write").await;
    // The model has the background id, and asks for a result that is not there yet.
    setup.model.wait_for_requests(4).await;
    gate.open();
    let events = finished(events).await;

    let moved = output_of(&events, "call_slow");
    assert_eq!((&moved["type"], &moved["tool"]), (&json!("background"), &json!("write_slowly")));
    assert_eq!(moved["timeout_seconds"], 1);
    let id = moved["background_id"].as_str().expect("a background id");
    let hex = id.strip_prefix("bg-").expect("a background id begins with bg-");
    assert!(hex.len() == 12 && hex.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");

    let listed = output_of(&events, "call_list");
    assert_eq!((&listed["type"], &listed["count"]), (&json!("background_tool_list"), &json!(1)));
    let entry = &listed["tools"][0];
    assert_eq!(
        (&entry["background_id"], &entry["tool"], &entry["done"]),
        (&json!(id), &json!("write_slowly"), &json!(false))
    );
    assert!(entry["age_seconds"].is_u64(), "{entry}");

    let early = output_of(&events, "call_early");
    assert_eq!((&early["status"], &early["waited_seconds"]), (&json!("still_running"), &json!(0)));
    assert_eq!(early.get("output"), None, "there is no result yet");

    let ended = output_of(&events, "call_wait");
    assert_eq!(ended["status"], "completed", "too long a wait is cut, not refused: {ended}");
    assert_eq!(ended["output"]["output"], json!({"rows": 3}), "the real result: {ended}");
    assert_eq!(output_of(&events, "call_again")["error"], "background_not_found");
    assert_eq!(output_of(&events, "call_empty")["count"], 0);

    let shown = shown(&events);
    let [end] = shown[..] else { panic!("one end is shown: {shown:?}") };
    assert_eq!((&end["id"], &end["data"]["status"]), (&json!(id), &json!("completed")));
    assert_eq!(end["data"]["toolCallId"], "call_slow");
    assert_eq!(end["data"]["output"]["output"], json!({"rows": 3}));

    let rows = setup.server.read_session(&session).await;
    let rows = rows["messages"].as_array().expect("rows").clone();
    let row = rows.iter().find(|row| row["tool_call_id"] == "call_slow").expect("a row");
    assert_eq!(row["outcome"], "ok", "moving to the background is not a failure");
    assert_eq!(setup.service.calls("write_slowly").len(), 1, "it was called once");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_wait_without_a_result_reports_its_duration() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "read_slowly")]),
        1 => look(request, "call_wait", 1),
        2 => Script::text("It takes longer."),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.turn("read").await;
    let waited = output_of(&events, "call_wait");
    assert_eq!(
        (&waited["status"], &waited["waited_seconds"]),
        (&json!("still_running"), &json!(1))
    );
}

#[tokio::test]
async fn a_cancel_closes_the_connection_of_a_background_call_and_removes_it() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "write_slowly")]),
        // The wait in the same call is ignored.
        1 => check(
            "call_cancel",
            json!({"background_id": background_id(request), "cancel": true, "wait_seconds": 500}),
        ),
        2 => look(request, "call_again", 0),
        3 => Script::text("It was stopped."),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.begin("write").await;
    let events = finished(events).await;
    let cancelled = output_of(&events, "call_cancel");
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert_eq!(output_of(&events, "call_again")["error"], "background_not_found");
    let calls = setup.service.calls("write_slowly");
    assert_eq!((calls.len(), calls[0].ending), (1, ReceivedCallEnd::CallerLeft));
    assert_eq!(shown(&events)[0]["data"]["status"], "cancelled");
}

#[tokio::test]
async fn canceling_a_finished_background_call_returns_its_result() {
    let setup = LongWorkServer::with(&[]).await;
    let (answered, thinking) = (Gate::closed(), Gate::closed());
    setup
        .service
        .answer("write_slowly", ServiceResponse::json(json!({"rows": 3})).held_by(&answered));
    let held = thinking.clone();
    setup.script_model(move |words, step, request| match step {
        0 => calls(&[slow("call_slow", "write_slowly")]),
        1 => Script::default()
            .wait_for(&held)
            .call(&[cancel_call("call_cancel", &background_id(request))]),
        2 => Script::text("It was too late."),
        _ => unscripted(words, step),
    });
    let (_, mut events) = setup.begin("write").await;
    thinking.reached().await;
    answered.open();
    let mut seen = events.until_seen("data-background").await;
    thinking.open();
    let (rest, _) = events.rest().await;
    seen.extend(rest);
    let cancelled = output_of(&seen, "call_cancel");
    assert_eq!(cancelled["status"], "completed", "{cancelled}");
    assert_eq!(cancelled["output"]["output"], json!({"rows": 3}));
}

#[tokio::test]
async fn a_call_that_fails_in_the_background_is_an_error_with_its_reason() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    setup.service.answer("write_slowly", ServiceResponse::status(507, "no room").held_by(&gate));
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "write_slowly")]),
        1 => look(request, "call_wait", 60),
        2 => Script::text("There was no room."),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.begin("write").await;
    setup.model.wait_for_requests(2).await;
    gate.open();
    let events = finished(events).await;
    let failed = output_of(&events, "call_wait");
    assert_eq!((&failed["status"], &failed["output"]["type"]), (&json!("error"), &json!("error")));
    assert_eq!(failed["output"]["error"], "external_tool_failed");
    let reason = failed["output"]["message"].as_str().expect("a sentence");
    assert!(reason.contains("507") && reason.contains("no room"), "{reason}");
    assert_eq!(shown(&events)[0]["data"]["status"], "error");
}

#[tokio::test]
async fn an_unknown_background_id_is_not_found_and_a_missing_one_is_invalid() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, _| match step {
        0 => check("call_unknown", json!({"background_id": "bg-0123456789ab"})),
        1 => check("call_nothing", json!({})),
        2 => Script::text("There is none."),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.turn("look").await;
    assert_eq!(output_of(&events, "call_unknown")["error"], "background_not_found");
    assert_eq!(output_of(&events, "call_nothing")["error"], "invalid_arguments");
}

/// The id of the background call.
fn background_id(request: &RecordedRequest) -> String {
    result_text(request, "call_slow", "background_id")
}

fn look(request: &RecordedRequest, call: &str, wait_seconds: i64) -> Script {
    assert_eq!(tool_result(request, "call_slow")["type"], "background");
    check(call, json!({"background_id": background_id(request), "wait_seconds": wait_seconds}))
}

fn cancel_call(id: &str, background_id: &str) -> ScriptedCall {
    let arguments = json!({"background_id": background_id, "cancel": true});
    ScriptedCall::new(id, "check_background_tool", &arguments)
}
