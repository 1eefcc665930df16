//! Background calls belong to one turn of one session: their number is limited, no other session sees them, and they
//! end with their turn.

use std::time::Instant;

use serde_json::json;
use testkit::external_service::ReceivedCallEnd;
use testkit::model_server::{Script, ScriptedCall};

use super::background_calls::shown;
use super::{
    ENDED_WITHIN, LongWorkServer, calls, check, delegate, finished, output_of, result_text, slow,
    tool_result, unscripted,
};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::ReceivedEvent;
use crate::processes::{processes_with, until_processes};
use crate::scripts::bash;

const MAX_BACKGROUND_CALLS: usize = 32;

#[tokio::test]
async fn a_thirty_third_background_call_ends_the_oldest() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_oldest", "read_slowly")]),
        1 => calls(&thirty_two()),
        2 => check("call_list", json!({"list": true})),
        3 => {
            let oldest = result_text(request, "call_oldest", "background_id");
            check("call_gone", json!({"background_id": oldest, "wait_seconds": 0}))
        }
        4 => Script::text("Thirty-two are at work."),
        _ => unscripted(words, step),
    });
    let (_, mut events) = setup.begin("read a lot").await;
    let mut seen = Vec::new();
    while !seen.iter().any(|got: &ReceivedEvent| got.chunk["toolCallId"] == "call_list") {
        seen.push(events.next().await.expect("the stream continues"));
    }
    let all = setup.service.wait_for_calls("read_slowly", MAX_BACKGROUND_CALLS + 1).await;
    assert_eq!(all[0].work(), "call_oldest");
    setup.service.wait_until_left("read_slowly", 0).await;
    let (rest, _) = events.rest().await;
    seen.extend(rest);
    assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()));
    let listed = output_of(&seen, "call_list");
    assert_eq!(listed["count"], MAX_BACKGROUND_CALLS);
    let oldest = &output_of(&seen, "call_oldest")["background_id"];
    let tools = listed["tools"].as_array().expect("a list");
    assert!(tools.iter().all(|tool| tool["background_id"] != *oldest && tool["done"] == false));
    assert_eq!(output_of(&seen, "call_gone")["error"], "background_not_found");
    let ends = shown(&seen);
    let end = ends.iter().find(|chunk| chunk["id"] == *oldest).expect("its end is shown");
    assert_eq!(end["data"]["status"], "cancelled");
}

pub(crate) fn thirty_two() -> Vec<ScriptedCall> {
    (0..MAX_BACKGROUND_CALLS).map(|number| slow(&format!("call_{number}"), "read_slowly")).collect()
}

#[tokio::test]
async fn a_sub_session_does_not_see_background_calls_of_its_parent() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match (words.split(' ').next(), step) {
        (Some("parent"), 0) => calls(&[slow("call_slow", "read_slowly")]),
        (Some("parent"), 1) => {
            let handle = result_text(request, "call_slow", "background_id");
            calls(&[delegate("call_child", &format!("look-for {handle}"))])
        }
        (Some("parent"), 2) => Script::text("It saw nothing."),
        (Some("look-for"), 0) => {
            let handle = words.split(' ').nth(1).expect("a background id");
            let by_handle = json!({"background_id": handle, "cancel": true});
            let list =
                ScriptedCall::new("call_list", "check_background_tool", &json!({"list": true}));
            calls(&[list, ScriptedCall::new("call_steal", "check_background_tool", &by_handle)])
        }
        (Some("look-for"), 1) => {
            let count = tool_result(request, "call_list")["count"].clone();
            Script::text(&format!("{count} and {}", result_text(request, "call_steal", "error")))
        }
        _ => unscripted(words, step),
    });
    let (_, events) = setup.turn("parent").await;
    assert_eq!(output_of(&events, "call_child")["response"], "0 and background_not_found");
}

#[tokio::test]
async fn background_calls_end_with_their_turn() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, _| match step {
        0 => calls(&[slow("call_read", "read_slowly"), slow("call_write", "write_slowly")]),
        1 => Script::text("I do not wait for it."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.turn("work").await;
    let ended = Instant::now();
    for tool in ["read_slowly", "write_slowly"] {
        setup.service.wait_until_left(tool, 0).await;
    }
    assert!(ended.elapsed() < ENDED_WITHIN, "it went on for {:?}", ended.elapsed());
    let shown = shown(&events);
    assert_eq!(shown.len(), 2, "the end of each is shown: {shown:?}");
    assert!(shown.iter().all(|chunk| chunk["data"]["status"] == "cancelled"));
    // A later turn of the same session starts with an empty list.
    setup.script_model(|words, step, _| match step {
        0 => check("call_list", json!({"list": true})),
        1 => Script::text("Nothing."),
        _ => unscripted(words, step),
    });
    let later = finished(setup.server.say(&session, "and now?").await).await;
    assert_eq!(output_of(&later, "call_list")["count"], 0);
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_cancelled_turn_ends_its_background_commands() {
    let setup = LongWorkServer::with(&[]).await;
    let length = format!("600.{}", setup.server.pid());
    let tree = format!("(setsid sleep {length} &) ; bash -c 'sleep {length}' & sleep {length}");
    setup.script_model(move |words, step, _| match step {
        0 => calls(&[bash("call_shell", &tree), slow("call_slow", "write_slowly")]),
        1 => Script::default().say("They are at work.").hang(),
        _ => unscripted(words, step),
    });
    let (session, mut events) = setup.begin("work").await;
    events.until("text-delta").await;
    until_processes(&length, 3).await;
    let report = setup.server.cancel(&session).await;
    let answered = Instant::now();
    assert_eq!(report["cancelled"], true);
    assert_ne!(report["reason"], "cancel_published_not_confirmed");
    until_processes(&length, 0).await;
    setup.service.wait_until_left("write_slowly", 0).await;
    assert!(answered.elapsed() < ENDED_WITHIN, "it took {:?}", answered.elapsed());
    events.rest().await;
    assert_eq!(setup.service.calls("write_slowly")[0].ending, ReceivedCallEnd::CallerLeft);
    assert_eq!(processes_with(&length), 0);
}
