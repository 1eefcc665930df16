//! A model that stops sending is timed out, and the error names the call it was writing. A running background call
//! keeps its turn alive.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Gate, Script};

use super::{LongWorkServer, calls, check, finished, output_of, result_text, slow, unscripted};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{first, text_of};

const SHORT: (&str, &str) = ("CHAT_MAX_TOOL_WAIT_SECONDS", "1");
/// Twice the tool wait, which is how the server derives it.
const IDLE: Duration = Duration::from_secs(2);

/// A call whose arguments are incomplete.
const INCOMPLETE_CALL: &str = concat!(
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_half","type":"function","#,
    r#""function":{"name":"bash_exec","arguments":"{\"comm"}}]},"finish_reason":null}]}"#,
    "\n\n"
);

#[tokio::test]
async fn a_model_that_stalls_in_a_call_times_out_and_the_error_names_the_call() {
    let setup = LongWorkServer::with(&[SHORT]).await;
    setup.script_model(|_, _, _| Script::default().say("I try").raw(INCOMPLETE_CALL).hang());
    let (_, events) = setup.begin("go").await;
    let began = Instant::now();
    let events = events.all().await;
    assert!(began.elapsed() >= IDLE - Duration::from_millis(200), "after {:?}", began.elapsed());
    assert_eq!(assert_complete(&events), TurnEnd::Failed("idle_timeout".into()));
    let words = first(&events, "error")["errorText"].as_str().expect("text").to_owned();
    assert!(words.contains("2 seconds") && words.contains("bash_exec"), "{words}");
    let log = setup.server.log();
    let line = log.lines().find(|line| line.contains("the model sent nothing for too long"));
    let line = line.unwrap_or_else(|| panic!("it was not logged:\n{log}"));
    assert!(line.contains("bash_exec"), "{line}");
    setup.model.wait_until_idle().await;
}

#[tokio::test]
async fn a_model_may_be_silent_while_a_background_call_runs() {
    let setup = LongWorkServer::with(&[SHORT]).await;
    setup.script_model(|words, step, _| match step {
        0 => calls(&[slow("call_slow", "read_slowly")]),
        1 => Script::default().delay(IDLE + Duration::from_secs(1)).say("It is still at work."),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.turn("go").await;
    assert_eq!(text_of(&events), "It is still at work.");
}

#[tokio::test]
async fn a_model_that_stays_silent_after_a_background_call_times_out() {
    let setup = LongWorkServer::with(&[SHORT]).await;
    let gate = Gate::closed();
    setup.service.answer("read_slowly", ServiceResponse::json(json!({})).held_by(&gate));
    setup.script_model(|words, step, _| match step {
        0 => calls(&[slow("call_slow", "read_slowly")]),
        1 => Script::default().hang(),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.begin("go").await;
    setup.model.wait_for_requests(2).await;
    gate.open();
    assert_eq!(assert_complete(&events.all().await), TurnEnd::Failed("idle_timeout".into()));
}

#[tokio::test]
async fn waiting_for_a_background_call_longer_than_the_idle_limit_is_no_silence() {
    let setup = LongWorkServer::with(&[SHORT]).await;
    let gate = Gate::closed();
    setup.service.answer("read_slowly", ServiceResponse::json(json!({"lines": 7})).held_by(&gate));
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "read_slowly")]),
        1 => {
            let handle = result_text(request, "call_slow", "background_id");
            check("call_wait", json!({"background_id": handle}))
        }
        2 => Script::text("There it is."),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.begin("go").await;
    setup.model.wait_for_requests(2).await;
    tokio::time::sleep(IDLE + Duration::from_millis(500)).await;
    gate.open();
    let events = finished(events).await;
    assert_eq!(output_of(&events, "call_wait")["output"]["output"], json!({"lines": 7}));
}
