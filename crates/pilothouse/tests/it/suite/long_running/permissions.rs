//! Permissions of a turn: the model is not offered denied tools, cannot call them, and cannot grant them to a
//! sub-session.

use serde_json::{Value, json};
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Gate, RecordedRequest, Script};

use super::{
    LongWorkServer, calls, delegate_with, finished, last_message_of, output_of, result_text, slow,
    tool_result, unscripted,
};
use crate::events::{EventStream, ReceivedEvent, text_of};
use crate::scripts::{bash, todo};

impl LongWorkServer {
    /// Runs a turn in a new session, with permissions.
    async fn permitted(&self, words: &str, permissions: Value) -> (String, Vec<ReceivedEvent>) {
        let session = self.server.session().await;
        let events = self.send_permitted(&session, words, permissions).await;
        (session, finished(events).await)
    }

    async fn send_permitted(&self, session: &str, words: &str, permissions: Value) -> EventStream {
        let body = json!({"message": words, "permissions": permissions});
        let path = format!("/chat/sessions/{session}/stream");
        EventStream::of(self.server.post(&path, &body).send().await.expect("an answer"))
    }
}

/// The tools offered to the model with this message.
fn offered(setup: &LongWorkServer, words: &str) -> Vec<String> {
    let requests = setup.model.requests();
    let asked = requests.iter().find(|request| last_message_of(request) == words);
    asked.unwrap_or_else(|| panic!("no request has the message {words:?}")).tool_names()
}

fn try_both(step: usize, request: &RecordedRequest) -> Script {
    match step {
        0 => calls(&[bash("call_shell", "echo ran > trace.txt"), todo("call_todo", "note it")]),
        _ => Script::text(&format!(
            "{}, {}",
            tool_result(request, "call_shell")["error"].as_str().unwrap_or("ran"),
            tool_result(request, "call_todo")["error"].as_str().unwrap_or("ran")
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
        let setup = LongWorkServer::with(&[]).await;
        setup.script_model(|_, step, request| try_both(step, request));
        let (session, events) = setup.permitted("go", permissions.clone()).await;
        assert_eq!(text_of(&events), "permission_denied, ran", "{permissions}");
        let offered = offered(&setup, "go");
        assert!(!offered.contains(&"bash_exec".to_owned()), "{permissions}: {offered:?}");
        assert!(offered.contains(&"todo_write".to_owned()), "{permissions}: {offered:?}");
        if permissions["tools_exclude"] == false {
            assert_eq!(offered, ["run_sub_session", "todo_write"]);
        }
        let rows = setup.server.read_session(&session).await;
        let rows = rows["messages"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["tool_call_id"] == "call_shell").expect("a row");
        assert_eq!(row["outcome"], "denied");
    }
}

#[tokio::test]
async fn a_denied_external_tool_never_reaches_its_service() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match step {
        0 => calls(&[slow("call_slow", "write_slowly")]),
        1 => Script::text(&result_text(request, "call_slow", "error")),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.permitted("go", json!({"tools": ["write_slowly"]})).await;
    assert_eq!(text_of(&events), "permission_denied");
    assert_eq!(setup.service.calls("write_slowly").len(), 0);
}

#[tokio::test]
async fn an_empty_list_is_no_filter() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|_, _, _| Script::text("Fine."));
    setup.permitted("all", json!({"tools": [], "tools_exclude": false})).await;
    setup.turn("plain").await;
    assert_eq!(offered(&setup, "all"), offered(&setup, "plain"));
}

/// The user denies one tool, each level denies another one, and each tries to grant the level below everything.
#[tokio::test]
async fn permissions_narrow_over_three_levels_and_cannot_be_extended() {
    let setup = LongWorkServer::with(&[]).await;
    let everything =
        json!(["bash_exec", "todo_write", "web_fetch", "search_docs", "run_sub_session"]);
    setup.script_model(move |words, step, request| {
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
                Script::text(&result_text(request, call, "response"))
            }
            _ => unscripted(words, step),
        }
    });
    let (_, events) = setup.permitted("top", json!({"tools": ["bash_exec"]})).await;
    assert_eq!(text_of(&events), "permission_denied, ran");
    assert!(!offered(&setup, "top").contains(&"bash_exec".to_owned()));
    assert_eq!(
        offered(&setup, "one"),
        ["run_sub_session", "search_docs", "todo_write", "web_fetch"]
    );
    for below in ["two", "three"] {
        assert_eq!(
            offered(&setup, below),
            ["run_sub_session", "search_docs", "todo_write"],
            "{below}"
        );
    }
}

#[tokio::test]
async fn a_prompt_with_fewer_permissions_is_not_added_to_a_running_turn() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match (words, step) {
        ("parent", 0) => {
            calls(&[delegate_with("call_wide", json!({"prompt": "busy", "wait_for_result": 0}))])
        }
        ("parent", 1) => {
            let narrow = json!({
                "prompt": "do it for me",
                "sub_session_id": result_text(request, "call_wide", "sub_session_id"),
                "permissions": {"tools": ["bash_exec"]},
            });
            calls(&[delegate_with("call_narrow", narrow)])
        }
        ("parent", 2) => Script::text(&result_text(request, "call_narrow", "error")),
        ("busy", 0) => Script::default().say("I work").hang(),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.turn("parent").await;
    assert_eq!(text_of(&events), "sub_session_busy");
    let child = setup.children(&session).await.remove(0);
    let pending = setup.server.get(&format!("/chat/sessions/{child}/messages/pending"));
    let pending = pending.send().await.expect("an answer").text().await.expect("text");
    assert!(!pending.contains("do it for me"), "{pending}");
    // The parent has ended without it; the test cancels the turn it leaves.
    setup.server.cancel(&child).await;
}

/// A user may also send to a sub-session. The turn that runs there keeps its permissions.
#[tokio::test]
async fn a_follow_up_to_a_sub_session_does_not_extend_its_permissions() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    setup.service.answer("read_slowly", ServiceResponse::json(json!({})).held_by(&gate));
    setup.script_model(|words, step, request| match (words, step) {
        ("parent", 0) => {
            let narrow = json!({"prompt": "child", "wait_for_result": 300, "permissions": {"tools": ["bash_exec"]}});
            calls(&[delegate_with("call_child", narrow)])
        }
        ("parent", 1) => Script::text(&result_text(request, "call_child", "response")),
        ("child", 0) => calls(&[slow("call_slow", "read_slowly")]),
        ("child", 1) => Script::text("Nobody came."),
        ("use the shell", step) => try_both(step, request),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    gate.reached().await;
    let child = setup.children(&session).await.remove(0);
    let body = json!({"message": "use the shell"});
    let path = format!("/chat/sessions/{child}/stream");
    let sent = setup.server.post(&path, &body).send().await.expect("an answer");
    assert_eq!(sent.status(), 200, "it is a follow-up");
    gate.open();
    let events = finished(events).await;
    assert_eq!(text_of(&events), "permission_denied, ran");
    let result = output_of(&events, "call_child");
    assert_eq!(result["status"], "completed");
}

#[tokio::test]
async fn a_message_with_fewer_permissions_gets_its_own_turn() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    setup.service.answer("read_slowly", ServiceResponse::json(json!({})).held_by(&gate));
    setup.script_model(|words, step, request| match (words, step) {
        ("first", 0) => calls(&[slow("call_slow", "read_slowly")]),
        ("first", 1) => Script::text("Done."),
        ("use the shell", step) => try_both(step, request),
        _ => unscripted(words, step),
    });
    let (session, first) = setup.begin("first").await;
    gate.reached().await;
    let narrow = json!({"tools": ["bash_exec"]});
    let second = setup.send_permitted(&session, "use the shell", narrow).await;
    gate.open();
    assert_eq!(text_of(&finished(first).await), "Done.", "nothing has joined it");
    assert_eq!(text_of(&finished(second).await), "permission_denied, ran");
}
