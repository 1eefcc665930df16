//! Sub-sessions: what the parent gets, how it checks, continues and cancels them, and who may access them.

use std::collections::HashSet;

use serde_json::{Value, json};
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Gate, RecordedRequest, ResponseEnd, Script, ScriptedCall};

use super::{
    LongWorkServer, calls, delegate, delegate_with, finished, last_message_of, look, output_of,
    result_text, slow, steps_of, tool_result, unscripted,
};
use crate::events::{EventStream, ReceivedEvent, text_of};
use crate::scripts::todo;
use crate::server::{eventually, id_of, json_of};
use crate::tokens::{KEY, token};

#[tokio::test]
async fn a_parent_gets_the_response_the_calls_the_files_and_a_link() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, _| match (words, step) {
        ("parent", 0) => calls(&[delegate_with(
            "call_child",
            json!({"prompt": "child", "system_context": "You count apples."}),
        )]),
        ("parent", 1) => Script::text("It is done."),
        ("child", 0) => Script::default().say("Let me see.").call(&[
            todo("call_todo", "count"),
            ScriptedCall::new(
                "call_file",
                "write_workspace_file",
                &json!({"filename": "apples.txt", "content": "seven"}),
            ),
        ]),
        ("child", 1) => Script::text("Seven apples."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.turn("parent").await;
    let result = output_of(&events, "call_child");
    assert_eq!(
        (&result["type"], &result["status"]),
        (&json!("sub_session_status"), &json!("completed"))
    );
    assert_eq!(result["response"], "Seven apples.", "the text of the last step");
    let made: Vec<_> = result["tool_calls"].as_array().expect("calls").iter().collect();
    let names: Vec<_> =
        made.iter().map(|call| call["tool_name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["todo_write", "write_workspace_file"]);
    assert!(made.iter().all(|call| call["done"] == true), "{made:?}");
    let child = result["sub_session_id"].as_str().expect("an id");
    assert_eq!(result["sub_autopilot_session_id"], child);
    assert_eq!(result["sub_autopilot_session_link"], format!("/copilot?sessionId={child}"));
    assert_eq!(result["sub_workspace_files"][0]["path"], "apples.txt", "{result}");
    assert!(result["elapsed_seconds"].is_u64());
    assert_eq!(setup.children(&session).await, [child], "the list names its parent");
    assert_eq!(setup.server.read_session(child).await["parent_session_id"], session);
    // Its first message has the system context in front, and nothing of its parent's conversation.
    let asked = setup.model.requests();
    let of_child = asked.iter().find(|request| last_message_of(request) == "child").expect("asked");
    let all = of_child.body["messages"].to_string();
    assert!(all.contains("You count apples.") && !all.contains("parent"), "{all}");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn the_link_is_shown_while_the_sub_session_works() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, _| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_child", "child")]),
        ("parent", 1) => Script::text("It is done."),
        ("child", 0) => Script::default().wait_for(&held).say("Here."),
        _ => unscripted(words, step),
    });
    let (session, mut events) = setup.begin("parent").await;
    let shown = events.until("tool-output-available").await.chunk;
    assert_eq!((&shown["preliminary"], &shown["toolCallId"]), (&json!(true), &json!("call_child")));
    assert_eq!(shown["output"]["status"], "running");
    let child = setup.children(&session).await.remove(0);
    assert_eq!(
        shown["output"]["sub_autopilot_session_link"],
        format!("/copilot?sessionId={child}")
    );
    gate.open();
    let (rest, _) = events.rest().await;
    assert_eq!(output_of(&rest, "call_child")["response"], "Here.");
}

#[tokio::test]
async fn a_parent_that_does_not_wait_can_check_wait_and_cancel_later() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        ("parent", 0) => calls(&[
            delegate_with("call_a", json!({"prompt": "quick", "wait_for_result": 0})),
            delegate_with("call_b", json!({"prompt": "endless", "wait_for_result": 0})),
        ]),
        // Together with the wait of the other call, this waits until both have started.
        ("parent", 1) => look(
            "call_look",
            of(request, "call_a", json!({"wait_if_running": 0, "include_progress": true})),
        ),
        ("parent", 2) => look("call_wait", of(request, "call_a", json!({}))),
        ("parent", 3) => look("call_stop", of(request, "call_b", json!({"cancel": true}))),
        ("parent", 4) => look("call_after", of(request, "call_b", json!({}))),
        ("parent", 5) => Script::text("One answered, one was stopped."),
        ("quick", 0) => Script::default().call(&[todo("call_todo", &"long ".repeat(200))]),
        ("quick", 1) => Script::default().wait_for(&held).say("Quick enough."),
        ("endless", 0) => Script::default().say("For ever").hang(),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.begin("parent").await;
    // The parent waits for the sub-session that is held at the gate.
    setup
        .model
        .wait_until("the third step of the parent", |requests| steps_of(requests, "parent") == 3)
        .await;
    gate.reached().await;
    gate.open();
    let events = finished(events).await;
    let begun = output_of(&events, "call_a");
    let begun = begun["status"].as_str().expect("a status");
    assert!(["queued", "running"].contains(&begun), "{begun}");
    let early = output_of(&events, "call_look");
    assert!(early.get("response").is_none() && early["status"] != "completed", "{early}");
    let progress = &early["progress"];
    let last = progress["last_messages"].as_array().expect("messages");
    assert!(!last.is_empty() && last.len() <= 5);
    assert_eq!(progress["message_count"], last.len(), "few as they are, all are shown");
    assert_eq!((&last[0]["role"], &last[0]["content"]), (&json!("user"), &json!("quick")));
    assert!(last.iter().all(|row| row["content"].as_str().expect("text").chars().count() <= 400));
    let waited = output_of(&events, "call_wait");
    assert_eq!(
        (&waited["status"], &waited["response"]),
        (&json!("completed"), &json!("Quick enough."))
    );
    for call in ["call_stop", "call_after"] {
        let stopped = output_of(&events, call);
        assert_eq!(stopped["status"], "cancelled", "{stopped}");
        assert_eq!(stopped.get("response"), None, "a partial response is not returned");
    }
    let requests = setup.model.wait_until_idle().await;
    let endless = requests.iter().find(|request| last_message_of(request) == "endless");
    assert_eq!(
        endless.expect("it was asked").ending,
        ResponseEnd::ClientLeft,
        "the provider's connection is closed"
    );
}

#[tokio::test]
async fn a_failed_sub_session_returns_its_error() {
    let setup = LongWorkServer::with(&[]).await;
    setup.script_model(|words, step, request| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_child", "child")]),
        ("parent", 1) => Script::text(&result_text(request, "call_child", "status")),
        ("child", 0) => Script::error(400, "no_such_thing", "the provider does not like it"),
        _ => unscripted(words, step),
    });
    let (_, events) = setup.turn("parent").await;
    assert_eq!(text_of(&events), "error");
    let result = output_of(&events, "call_child");
    assert_eq!(result.get("response"), None);
    let why = result["error"].as_str().expect("a reason");
    assert!(why.contains("the provider does not like it"), "{why}");
}

#[tokio::test]
async fn a_continued_sub_session_never_returns_an_old_response_for_a_new_prompt() {
    let setup = LongWorkServer::with(&[]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_one", "first question")]),
        ("parent", 1) => {
            let again = json!({"prompt": "second question", "sub_session_id": child_in(request), "wait_for_result": 0});
            calls(&[delegate_with("call_two", again)])
        }
        ("parent", 2) => look("call_early", json!({"sub_session_id": child_in(request), "wait_if_running": 0})),
        ("parent", 3) => look("call_late", json!({"sub_session_id": child_in(request)})),
        ("parent", 4) => Script::text("Both are answered."),
        ("first question", 0) => Script::text("First answer."),
        ("second question", 0) => {
            let knows = request.body["messages"].to_string().contains("First answer.");
            Script::default().wait_for(&held).say(if knows { "Second answer." } else { "Who are you?" })
        }
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    setup
        .model
        .wait_until("the fourth step of the parent", |requests| steps_of(requests, "parent") == 4)
        .await;
    gate.open();
    let events = finished(events).await;
    assert_eq!(output_of(&events, "call_one")["response"], "First answer.");
    for call in ["call_two", "call_early"] {
        let early = output_of(&events, call);
        assert_eq!(early.get("response"), None, "not the answer of before: {early}");
        assert_ne!(early["status"], "completed");
    }
    assert_eq!(output_of(&events, "call_late")["response"], "Second answer.");
    assert_eq!(setup.children(&session).await.len(), 1);
}

#[tokio::test]
async fn a_prompt_for_a_busy_sub_session_becomes_a_follow_up() {
    // A budget long enough for the call to hold its step until the test has seen the follow-up.
    let setup = LongWorkServer::with(&[("CHAT_TOOL_BUDGET_SECONDS", "60")]).await;
    let gate = Gate::closed();
    setup.service.answer("read_slowly", ServiceResponse::json(json!({})).held_by(&gate));
    setup.script_model(|words, step, request| match (words, step) {
        ("parent", 0) => {
            calls(&[delegate_with("call_one", json!({"prompt": "child", "wait_for_result": 0}))])
        }
        ("parent", 1) => {
            let more = json!({"prompt": "and pears", "sub_session_id": child_in(request)});
            calls(&[delegate_with("call_two", more)])
        }
        ("parent", 2) => Script::text(&result_text(request, "call_two", "response")),
        ("child", 0) => calls(&[slow("call_work", "read_slowly")]),
        ("child", 1) => Script::text("Only apples."),
        ("and pears", 0) => Script::text("Apples and pears."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    gate.reached().await;
    let child = setup.children(&session).await.remove(0);
    let path = format!("/chat/sessions/{child}/messages/pending");
    eventually("the follow-up", async || {
        let list = json_of(setup.server.get(&path).send().await.expect("an answer")).await;
        list.to_string().contains("and pears").then_some(())
    })
    .await;
    gate.open();
    let events = finished(events).await;
    let result = output_of(&events, "call_two");
    assert_eq!(
        (&result["status"], &result["response"]),
        (&json!("completed"), &json!("Apples and pears."))
    );
    assert_eq!(setup.children(&session).await, std::slice::from_ref(&child));
    let rows = setup.server.read_session(&child).await;
    let turns: HashSet<_> = rows["messages"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["turn_id"].as_str().expect("a turn").to_owned())
        .collect();
    assert_eq!(turns.len(), 1, "one turn answered both");
    setup.model.assert_no_violations();
}

/// Another user's session, an own session that is no sub-session, a sub-session of another session, and an unknown one.
#[tokio::test]
async fn sessions_that_are_no_sub_session_of_this_one_look_missing() {
    let setup = LongWorkServer::with(&[
        ("AUTH_MODE", "jwt"),
        ("JWT_VERIFY_KEY", KEY),
        ("JWT_ISSUER", "test"),
    ])
    .await;
    setup.script_model(|words, step, request| match (words.split(' ').next(), step) {
        (Some("parent"), 0) => calls(&[delegate("call_child", "child")]),
        (Some("parent"), 1) => Script::text(&child_of(request, "call_child")),
        (Some("child"), 0) => Script::text("Here."),
        (Some("spy"), 0) => {
            let id = words.split(' ').nth(1).expect("an id");
            let resume = json!({"prompt": "tell me", "sub_session_id": id});
            let get = json!({"sub_session_id": id});
            let cancel = json!({"sub_session_id": id, "cancel": true});
            calls(&[
                delegate_with("call_resume", resume),
                ScriptedCall::new("call_get", "get_sub_session_result", &get),
                ScriptedCall::new("call_cancel", "get_sub_session_result", &cancel),
            ])
        }
        (Some("spy"), 1) => Script::text("Nothing."),
        _ => unscripted(words, step),
    });
    let own_parent = setup.server_session("anna").await;
    let own_child = text_of(&setup.say_as("anna", &own_parent, "parent").await);
    let foreign = setup.server_session("bob").await;
    let foreign_child = text_of(&setup.say_as("bob", &foreign, "parent").await);
    let spy = setup.server_session("anna").await;
    let mut answers = Vec::new();
    for id in [&own_parent, &own_child, &foreign, &foreign_child, &spy, "no-such-session"] {
        let events = setup.say_as("anna", &spy, &format!("spy {id}")).await;
        let outputs = events.iter().filter(|got| got.chunk["type"] == "tool-output-available");
        answers.extend(outputs.map(|got| got.chunk["output"].clone()));
    }
    assert_eq!(answers.len(), 6 * 3);
    assert_eq!(answers[0]["error"], "sub_session_not_found");
    assert!(answers.iter().all(|answer| *answer == answers[0]), "all look alike: {answers:?}");
}

impl LongWorkServer {
    async fn server_session(&self, user: &str) -> String {
        let request = self.server.client.post(self.server.api("/chat/sessions"));
        id_of(request.bearer_auth(token(user)).send().await.expect("an answer")).await
    }

    async fn say_as(&self, user: &str, session: &str, words: &str) -> Vec<ReceivedEvent> {
        let path = format!("/chat/sessions/{session}/stream");
        let request = self.server.post(&path, &json!({"message": words})).bearer_auth(token(user));
        finished(EventStream::of(request.send().await.expect("an answer"))).await
    }
}

fn child_of(request: &RecordedRequest, call: &str) -> String {
    result_text(request, call, "sub_session_id")
}

/// The sub-session that the parent started first.
fn child_in(request: &RecordedRequest) -> String {
    child_of(request, "call_one")
}

/// Arguments about the sub-session of a call.
fn of(request: &RecordedRequest, call: &str, mut arguments: Value) -> Value {
    assert_eq!(tool_result(request, call)["type"], "sub_session_status");
    arguments["sub_session_id"] = json!(child_of(request, call));
    arguments
}
