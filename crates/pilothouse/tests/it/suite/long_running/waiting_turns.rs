//! A turn that waits for sub-sessions holds no worker and no concurrency permit: one of each runs a whole tree. The
//! depth and size of a tree are limited.

use serde_json::json;
use testkit::model_server::{Gate, Script, ScriptedCall};

use super::{
    LongWorkServer, calls, delegate, delegate_with, finished, last_message_of, look, output_of,
    result_text, steps_of, tool_result, unscripted,
};
use crate::events::text_of;
use crate::server::eventually;

const ONE_WORKER: (&str, &str) = ("NUM_COPILOT_WORKERS", "1");
const ONE_PERMIT: (&str, &str) = ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1");

/// Turns all notifications off: only timers are left.
const NO_WAKE_UPS: (&str, &str) = ("PILOTHOUSE_DEAF", "on");

/// With one worker, with one permit, with one of both, and with one of both and no notifications.
const MINIMAL_LIMITS: [&[(&str, &str)]; 4] = [
    &[ONE_WORKER],
    &[ONE_PERMIT],
    &[ONE_WORKER, ONE_PERMIT],
    &[ONE_WORKER, ONE_PERMIT, NO_WAKE_UPS],
];

#[tokio::test]
async fn a_tree_of_three_levels_needs_one_worker_and_one_permit() {
    for settings in MINIMAL_LIMITS {
        let setup = LongWorkServer::with(settings).await;
        setup.script_model(|words, step, request| match (words, step) {
            ("parent", 0) => calls(&[delegate("call_1", "child")]),
            ("child", 0) => calls(&[delegate("call_2", "grandchild")]),
            ("grandchild", 0) => calls(&[delegate("call_3", "last")]),
            ("last", 0) => Script::text("bottom"),
            ("grandchild", 1) => {
                Script::text(&format!("{} 3", result_text(request, "call_3", "response")))
            }
            ("child", 1) => {
                Script::text(&format!("{} 2", result_text(request, "call_2", "response")))
            }
            ("parent", 1) => {
                Script::text(&format!("{} 1", result_text(request, "call_1", "response")))
            }
            _ => unscripted(words, step),
        });
        let (_, events) = setup.turn("parent").await;
        assert_eq!(text_of(&events), "bottom 3 2 1", "{settings:?}");
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn three_concurrent_sub_sessions_need_one_worker_and_one_permit() {
    for settings in MINIMAL_LIMITS {
        let setup = LongWorkServer::with(settings).await;
        setup.script_model(|words, step, request| match (words, step) {
            ("parent", 0) => {
                calls(&[delegate("call_a", "a"), delegate("call_b", "b"), delegate("call_c", "c")])
            }
            ("parent", 1) => {
                let answers = ["call_a", "call_b", "call_c"]
                    .map(|call| result_text(request, call, "response"));
                Script::text(&answers.join(" "))
            }
            (child @ ("a" | "b" | "c"), 0) => Script::text(&format!("{child}!")),
            _ => unscripted(words, step),
        });
        let (_, events) = setup.turn("parent").await;
        assert_eq!(text_of(&events), "a! b! c!", "{settings:?}");
    }
}

#[tokio::test]
async fn many_waiting_parents_resume_one_after_another() {
    for settings in MINIMAL_LIMITS {
        let setup = LongWorkServer::with(settings).await;
        setup.script_model(|words, step, request| match (words.split(' ').next(), step) {
            (Some("parent"), 0) => calls(&[delegate("call_1", &words.replace("parent", "child"))]),
            (Some("parent"), 1) => Script::text(&result_text(request, "call_1", "response")),
            (Some("child"), 0) => Script::text(words),
            _ => unscripted(words, step),
        });
        let mut parents = Vec::new();
        for number in 0..6 {
            parents.push(setup.begin(&format!("parent {number}")).await.1);
        }
        for (number, parent) in parents.into_iter().enumerate() {
            let answer = text_of(&finished(parent).await);
            assert_eq!(answer, format!("child {number}"), "{settings:?}");
        }
    }
}

#[tokio::test]
async fn the_worker_of_a_waiting_turn_runs_other_turns() {
    let setup =
        LongWorkServer::with(&[ONE_WORKER, ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "5")]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        // Two wait for the same worker: the sub-session is behind the other turn.
        ("parent", 0) => calls(&[delegate("call_child", "child")]),
        ("parent", 1) => Script::text(&result_text(request, "call_child", "response")),
        ("child", 0) => Script::default().wait_for(&held).say("Here."),
        ("stranger", 0) => Script::text("Served."),
        _ => unscripted(words, step),
    });
    let (_, parent) = setup.begin("parent").await;
    gate.reached().await;
    // The only worker runs the sub-session now, so the other turn waits for that one, not for the parent.
    let (_, stranger) = setup.begin("stranger").await;
    gate.open();
    assert_eq!(text_of(&finished(stranger).await), "Served.");
    assert_eq!(text_of(&finished(parent).await), "Here.");
}

#[tokio::test]
async fn waiting_for_an_ended_sub_session_returns_at_once() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        ("parent", 0) => {
            calls(&[delegate_with("call_child", json!({"prompt": "child", "wait_for_result": 0}))])
        }
        ("parent", 1) => {
            let child = result_text(request, "call_child", "sub_session_id");
            let wait = json!({"sub_session_id": child, "wait_if_running": 300});
            Script::default().wait_for(&held).call(&[ScriptedCall::new(
                "call_wait",
                "get_sub_session_result",
                &wait,
            )])
        }
        ("parent", 2) => Script::text(&result_text(request, "call_wait", "response")),
        ("child", 0) => Script::text("Long done."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    gate.reached().await;
    let child = setup.children(&session).await.remove(0);
    eventually("the child's end", async || {
        let session = setup.server.read_session(&child).await;
        let rows = session["messages"].as_array().expect("rows").len();
        (rows == 2 && session["active_stream"].is_null()).then_some(())
    })
    .await;
    gate.open();
    assert_eq!(text_of(&finished(events).await), "Long done.");
}

#[tokio::test]
async fn a_fourth_level_is_refused_and_the_third_continues() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match (words, step) {
        ("level 0", 0) => calls(&[delegate("call_1", "level 1")]),
        ("level 1", 0) => calls(&[delegate("call_2", "level 2")]),
        ("level 2", 0) => calls(&[delegate("call_3", "level 3")]),
        ("level 3", 0) => calls(&[delegate("call_4", "level 4")]),
        ("level 3", 1) => Script::text(&result_text(request, "call_4", "error")),
        (_, 1) => {
            let (call, _) = &request.tool_results()[0];
            Script::text(&result_text(request, call, "response"))
        }
        _ => unscripted(words, step),
    });
    let (_, events) = setup.turn("level 0").await;
    assert_eq!(text_of(&events), "sub_session_too_deep");
    let asked = setup.model.requests();
    assert!(asked.iter().all(|request| last_message_of(request) != "level 4"));
}

#[tokio::test]
async fn an_eleventh_running_sub_session_is_refused_until_one_has_ended() {
    let room = [
        ("NUM_COPILOT_WORKERS", "50"),
        ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "50"),
        ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "50"),
    ];
    let setup = LongWorkServer::with(&room).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        ("parent", 0) => {
            let ten: Vec<ScriptedCall> = (0..10)
                .map(|number| {
                    let prompt = json!({"prompt": format!("child {number}"), "wait_for_result": 0});
                    delegate_with(&format!("call_{number}"), prompt)
                })
                .collect();
            calls(&ten)
        }
        ("parent", 1) => calls(&[delegate("call_11th", "one too many")]),
        ("parent", 2) => {
            assert_eq!(tool_result(request, "call_11th")["error"], "too_many_sub_sessions");
            look(
                "call_wait",
                json!({"sub_session_id": result_text(request, "call_0", "sub_session_id")}),
            )
        }
        ("parent", 3) => calls(&[delegate("call_later", "one more")]),
        ("parent", 4) => Script::text(&result_text(request, "call_later", "response")),
        ("child 0", 0) => Script::default().wait_for(&held).say("Done."),
        ("one more", 0) => Script::text("There was room."),
        (child, 0) if child.starts_with("child") => Script::default().say("I work").hang(),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    setup
        .model
        .wait_until("the parent's third step", |requests| steps_of(requests, "parent") == 3)
        .await;
    gate.open();
    let events = finished(events).await;
    assert_eq!(output_of(&events, "call_11th")["error"], "too_many_sub_sessions");
    assert_eq!(text_of(&events), "There was room.");
    assert_eq!(setup.children(&session).await.len(), 11, "none for the one that was refused");
}
