//! Permissions of a turn: the model is not offered denied tools, cannot call them, and cannot grant them to a
//! sub-session.

use serde_json::{Value, json};
use testkit::external_service::Answer;
use testkit::model_server::{Gate, RecordedRequest, Script};

use super::super::scripted::{bash, todo};
use super::{
    Stage, calls, delegate_with, finished, output_of, slow, told, unplanned, word, words_of,
};
use crate::events::{Events, Got, text_of};

impl Stage {
    /// Runs a turn in a new session, with permissions.
    async fn permitted(&self, words: &str, permissions: Value) -> (String, Vec<Got>) {
        let session = self.server.session().await;
        let events = self.send_permitted(&session, words, permissions).await;
        (session, finished(events).await)
    }

    async fn send_permitted(&self, session: &str, words: &str, permissions: Value) -> Events {
        let body = json!({"message": words, "permissions": permissions});
        let path = format!("/chat/sessions/{session}/stream");
        Events::of(self.server.post(&path, &body).send().await.expect("an answer"))
    }
}

/// The tools offered to the model with this message.
fn offered(stage: &Stage, words: &str) -> Vec<String> {
    let requests = stage.model.requests();
    let asked = requests.iter().find(|request| words_of(request) == words);
    asked.unwrap_or_else(|| panic!("nobody asked {words:?}")).tool_names()
}

fn try_both(step: usize, request: &RecordedRequest) -> Script {
    match step {
        0 => calls(&[bash("call_shell", "echo ran > trace.txt"), todo("call_todo", "note it")]),
        _ => Script::text(&format!(
            "{}, {}",
            told(request, "call_shell")["error"].as_str().unwrap_or("ran"),
            told(request, "call_todo")["error"].as_str().unwrap_or("ran")
        )),
    }
}

#[tokio::test]
async fn a_denied_tool_is_not_offered_and_is_refused_without_running() {
    for permissions in [
        json!({"tools": ["bash_exec"]}),
        json!({"tools": ["bash_exec"], "tools_exclude": true}),
        json!({"tools": ["todo_write", "run_sub_session"], "tools_exclude": false}),
    ] {
        let stage = Stage::set(&[]).await;
        stage.plays(|_, step, request| try_both(step, request));
        let (session, events) = stage.permitted("go", permissions.clone()).await;
        assert_eq!(text_of(&events), "permission_denied, ran", "{permissions}");
        let offered = offered(&stage, "go");
        assert!(!offered.contains(&"bash_exec".to_owned()), "{permissions}: {offered:?}");
        assert!(offered.contains(&"todo_write".to_owned()), "{permissions}: {offered:?}");
        if permissions["tools_exclude"] == false {
            assert_eq!(offered, ["run_sub_session", "todo_write"]);
        }
        let rows = stage.server.read_session(&session).await;
        let rows = rows["messages"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["tool_call_id"] == "call_shell").expect("a row");
        assert_eq!(row["outcome"], "denied");
    }
}

#[tokio::test]
async fn a_denied_external_tool_never_reaches_its_service() {
    let stage = Stage::set(&[]).await;
    stage.plays(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "write_slowly")]),
        1 => Script::text(&word(request, "call_slow", "error")),
        _ => unplanned(words, step),
    });
    let (_, events) = stage.permitted("go", json!({"tools": ["write_slowly"]})).await;
    assert_eq!(text_of(&events), "permission_denied");
    assert_eq!(stage.service.calls("write_slowly").len(), 0);
}

#[tokio::test]
async fn an_empty_list_is_no_filter() {
    let stage = Stage::set(&[]).await;
    stage.plays(|_, _, _| Script::text("Fine."));
    stage.permitted("all", json!({"tools": [], "tools_exclude": false})).await;
    stage.turn("plain").await;
    assert_eq!(offered(&stage, "all"), offered(&stage, "plain"));
}

/// The user denies one tool, each level denies another one, and each tries to grant the level below everything.
#[tokio::test]
async fn permissions_narrow_over_three_levels_and_cannot_be_extended() {
    let stage = Stage::set(&[]).await;
    let everything =
        json!(["bash_exec", "todo_write", "web_fetch", "search_docs", "run_sub_session"]);
    stage.plays(move |words, step, request| {
        let next = |call: &str, prompt: &str, permissions: Value| {
            calls(&[delegate_with(call, json!({"prompt": prompt, "permissions": permissions}))])
        };
        match (words, step) {
            ("top", 0) => {
                next("call_1", "one", json!({"tools": everything, "tools_exclude": false}))
            }
            ("one", 0) => next("call_2", "two", json!({"tools": ["web_fetch"]})),
            ("two", 0) => {
                next("call_3", "three", json!({"tools": everything, "tools_exclude": false}))
            }
            ("three", step) => try_both(step, request),
            (_, 1) => {
                let (call, _) = &request.tool_results()[0];
                Script::text(&word(request, call, "response"))
            }
            _ => unplanned(words, step),
        }
    });
    let (_, events) = stage.permitted("top", json!({"tools": ["bash_exec"]})).await;
    assert_eq!(text_of(&events), "permission_denied, ran");
    assert!(!offered(&stage, "top").contains(&"bash_exec".to_owned()));
    assert_eq!(
        offered(&stage, "one"),
        ["run_sub_session", "search_docs", "todo_write", "web_fetch"]
    );
    for below in ["two", "three"] {
        assert_eq!(
            offered(&stage, below),
            ["run_sub_session", "search_docs", "todo_write"],
            "{below}"
        );
    }
}

#[tokio::test]
async fn a_prompt_with_fewer_permissions_is_not_added_to_a_running_turn() {
    let stage = Stage::set(&[]).await;
    stage.plays(|words, step, request| match (words, step) {
        ("parent", 0) => {
            calls(&[delegate_with("call_wide", json!({"prompt": "busy", "wait_for_result": 0}))])
        }
        ("parent", 1) => {
            let narrow = json!({
                "prompt": "do it for me",
                "sub_session_id": word(request, "call_wide", "sub_session_id"),
                "permissions": {"tools": ["bash_exec"]},
            });
            calls(&[delegate_with("call_narrow", narrow)])
        }
        ("parent", 2) => Script::text(&word(request, "call_narrow", "error")),
        ("busy", 0) => Script::default().say("I work").hang(),
        _ => unplanned(words, step),
    });
    let (session, events) = stage.turn("parent").await;
    assert_eq!(text_of(&events), "sub_session_busy");
    let child = stage.children(&session).await.remove(0);
    let pending = stage.server.get(&format!("/chat/sessions/{child}/messages/pending"));
    let pending = pending.send().await.expect("an answer").text().await.expect("text");
    assert!(!pending.contains("do it for me"), "{pending}");
    // The parent has ended without it; the test cancels the turn it leaves.
    stage.server.cancel(&child).await;
}

/// A user may also send to a sub-session. The turn that runs there keeps its permissions.
#[tokio::test]
async fn a_follow_up_to_a_sub_session_does_not_extend_its_permissions() {
    let stage = Stage::set(&[]).await;
    let gate = Gate::closed();
    stage.service.answer("read_slowly", Answer::json(json!({})).held_by(&gate));
    stage.plays(|words, step, request| match (words, step) {
        ("parent", 0) => {
            let narrow = json!({"prompt": "child", "wait_for_result": 300, "permissions": {"tools": ["bash_exec"]}});
            calls(&[delegate_with("call_child", narrow)])
        }
        ("parent", 1) => Script::text(&word(request, "call_child", "response")),
        ("child", 0) => calls(&[slow("call_slow", "read_slowly")]),
        ("child", 1) => Script::text("Nobody came."),
        ("use the shell", step) => try_both(step, request),
        _ => unplanned(words, step),
    });
    let (session, events) = stage.begin("parent").await;
    gate.reached().await;
    let child = stage.children(&session).await.remove(0);
    let body = json!({"message": "use the shell"});
    let path = format!("/chat/sessions/{child}/stream");
    let sent = stage.server.post(&path, &body).send().await.expect("an answer");
    assert_eq!(sent.status(), 200, "it is a follow-up");
    gate.open();
    let events = finished(events).await;
    assert_eq!(text_of(&events), "permission_denied, ran");
    let result = output_of(&events, "call_child");
    assert_eq!(result["status"], "completed");
}

#[tokio::test]
async fn a_message_with_fewer_permissions_gets_its_own_turn() {
    let stage = Stage::set(&[]).await;
    let gate = Gate::closed();
    stage.service.answer("read_slowly", Answer::json(json!({})).held_by(&gate));
    stage.plays(|words, step, request| match (words, step) {
        ("first", 0) => calls(&[slow("call_slow", "read_slowly")]),
        ("first", 1) => Script::text("Done."),
        ("use the shell", step) => try_both(step, request),
        _ => unplanned(words, step),
    });
    let (session, first) = stage.begin("first").await;
    gate.reached().await;
    let narrow = json!({"tools": ["bash_exec"]});
    let second = stage.send_permitted(&session, "use the shell", narrow).await;
    gate.open();
    assert_eq!(text_of(&finished(first).await), "Done.", "nothing has joined it");
    assert_eq!(text_of(&finished(second).await), "permission_denied, ran");
}
