//! Canceling a tree of sessions: within a second of the response every turn, request and process of it has ended, on
//! every level.

use std::time::Instant;

use serde_json::{Value, json};
use testkit::external_service::ReceivedCallEnd as Call;
use testkit::model_server::{Gate, ResponseEnd, Script};

use super::{
    ENDED_WITHIN, LongWorkServer, calls, delegate, delegate_with, finished, result_text, slow,
    steps_of, unscripted,
};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::text_of;
use crate::history::history;
use crate::processes::{processes_with, until_processes};
use crate::scripts::bash;

/// Each level has a command with a child process and a background call; the last one also has an open model request.
#[tokio::test]
async fn a_cancelled_tree_ends_completely_within_a_second() {
    let setup = LongWorkServer::with(&[]).await;
    let length = format!("600.{}", setup.server.pid());
    let command = format!("(setsid sleep {length} &) ; bash -c 'sleep {length}' & sleep {length}");
    setup.script_model(move |words, step, _| {
        let level: u32 = words.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(9);
        let work = [
            bash(&format!("shell_{level}"), &command),
            slow(&format!("slow_{level}"), "read_slowly"),
        ];
        match (level, step) {
            (0..=2, 0) => calls(&work),
            (0 | 1, 1) => {
                calls(&[delegate(&format!("child_{level}"), &format!("level {}", level + 1))])
            }
            (2, 1) => Script::default().say("I work").hang(),
            _ => unscripted(words, step),
        }
    });
    let (session, events) = setup.begin("level 0").await;
    // The last level sends two requests: its second step starts when all three levels run.
    setup
        .model
        .wait_until("the second step of the last level", |requests| {
            steps_of(requests, "level 2") == 2
        })
        .await;
    until_processes(&length, 9).await;
    assert_cancelled_in_time(&setup, &session, &length, 3).await;
    assert_eq!(assert_complete(&events.all().await), TurnEnd::Aborted);
    assert_at_rest(&setup, &session, 3).await;
}

#[tokio::test]
async fn a_cancel_reaches_detached_and_queued_sub_sessions() {
    // One worker: the first sub-session has it, the second one waits for it.
    let setup = LongWorkServer::with(&[("NUM_COPILOT_WORKERS", "1")]).await;
    setup.script_model(|words, step, _| match (words, step) {
        ("parent", 0) => calls(&[
            delegate_with("call_a", json!({"prompt": "at work", "wait_for_result": 300})),
            delegate_with("call_b", json!({"prompt": "in line", "wait_for_result": 0})),
        ]),
        (_, 0) => Script::default().say("I work").hang(),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    setup.model.wait_for_requests(2).await;
    let report = setup.server.cancel(&session).await;
    let answered = Instant::now();
    assert_eq!(report["cancelled"], true);
    assert_ne!(report["reason"], "cancel_published_not_confirmed");
    assert_eq!(assert_complete(&events.all().await), TurnEnd::Aborted);
    let requests = setup.model.wait_until_idle().await;
    assert!(answered.elapsed() < ENDED_WITHIN, "it took {:?}", answered.elapsed());
    assert_eq!(requests.len(), 2, "the one in line never reached the model");
    assert_eq!(requests[1].ending, ResponseEnd::ClientLeft);
    let children = setup.children(&session).await;
    assert_eq!(children.len(), 2);
    for child in &children {
        assert_stopped(&setup, child).await;
    }
}

#[tokio::test]
async fn deleting_a_session_cancels_its_sub_sessions() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, _| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_1", "child")]),
        ("child", 0) => calls(&[delegate("call_2", "grandchild")]),
        ("grandchild", 0) => Script::default().say("I work").hang(),
        _ => unscripted(words, step),
    });
    let (session, _events) = setup.begin("parent").await;
    setup.model.wait_for_requests(3).await;
    let child = setup.children(&session).await.remove(0);
    let grandchild = setup.children(&child).await.remove(0);
    let url = setup.server.api(&format!("/chat/sessions/{session}"));
    let deleted = setup.server.client.delete(url).send().await.expect("an answer");
    let answered = Instant::now();
    assert!(deleted.status().is_success(), "{}", deleted.status());
    let requests = setup.model.wait_until_idle().await;
    assert!(answered.elapsed() < ENDED_WITHIN, "it took {:?}", answered.elapsed());
    assert_eq!(requests[2].ending, ResponseEnd::ClientLeft);
    for left in [child, grandchild] {
        assert_stopped(&setup, &left).await;
    }
}

#[tokio::test]
async fn canceling_a_sub_session_leaves_its_parent_and_sibling_running() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_a", "endless"), delegate("call_b", "sister")]),
        ("parent", 1) => {
            let status = result_text(request, "call_a", "status");
            Script::text(&format!("{status}, {}", result_text(request, "call_b", "response")))
        }
        ("endless", 0) => Script::default().say("I work").hang(),
        ("sister", 0) => Script::default().wait_for(&held).say("done"),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    let requests = setup.model.wait_for_requests(3).await;
    assert_eq!(requests.len(), 3);
    let mut stopped = 0;
    for child in setup.children(&session).await {
        let first = setup.server.read_session(&child).await["messages"][0]["content"].clone();
        if first == "endless" {
            assert_eq!(setup.server.cancel(&child).await["cancelled"], true);
            stopped += 1;
        }
    }
    assert_eq!(stopped, 1);
    gate.open();
    let events = finished(events).await;
    assert_eq!(text_of(&events), "cancelled, done");
}

/// Cancels the root; everything it has started ends within a second of the response.
async fn assert_cancelled_in_time(
    setup: &LongWorkServer,
    session: &str,
    length: &str,
    held: usize,
) {
    let report = setup.server.cancel(session).await;
    let answered = Instant::now();
    assert_eq!(report["cancelled"], true);
    assert_ne!(report["reason"], "cancel_published_not_confirmed");
    let requests = setup.model.wait_until_idle().await;
    until_processes(length, 0).await;
    let calls = setup
        .service
        .wait_until("read_slowly", "all callers to leave", |calls| {
            calls.iter().all(|call| call.ending != Call::Open)
        })
        .await;
    assert!(answered.elapsed() < ENDED_WITHIN, "it took {:?}", answered.elapsed());
    assert_eq!(calls.len(), held);
    assert_eq!(
        requests.iter().filter(|request| request.ending == ResponseEnd::ClientLeft).count(),
        1
    );
    assert_eq!(processes_with(length), 0);
}

/// Asserts that each session of the chain is idle and that its history says it was canceled.
async fn assert_at_rest(setup: &LongWorkServer, root: &str, levels: usize) {
    let mut session = root.to_owned();
    for level in 0..levels {
        assert_stopped(setup, &session).await;
        let mut children = setup.children(&session).await;
        assert_eq!(children.len(), usize::from(level + 1 < levels));
        session = children.pop().unwrap_or_default();
    }
}

async fn assert_stopped(setup: &LongWorkServer, session: &str) {
    let read = setup.server.read_session(session).await;
    assert_eq!(read["active_stream"], Value::Null, "it is idle");
    let rows = history(&setup.server, session).await;
    let notice = rows.last().expect("rows");
    assert_eq!(notice["metadata"]["code"], "cancelled", "{notice}");
}
