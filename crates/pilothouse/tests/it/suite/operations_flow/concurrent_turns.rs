//! An operation next to the other turns of its session: it does not delay them, and it waits for them before the
//! conversation continues.

use futures::future::join_all;
use serde_json::json;
use testkit::model_server::{Gate, Script, ScriptedCall};

use super::{DONE, OperationServer, content, film, finished, shown};
use crate::contract::assert_complete;
use crate::events::{text_of, turn_of};
use crate::history::history;

#[tokio::test]
async fn a_message_while_an_operation_waits_starts_its_own_turn() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    setup.model.enqueue(Script::text("Hello yourself."));
    let hello = setup.server.say(&begun.session, "hello").await;
    assert_ne!(turn_of(&hello), begun.task);
    let hello = hello.all().await;
    assert_eq!(
        (assert_complete(&hello), text_of(&hello)),
        (finished(), "Hello yourself.".to_owned())
    );
    let pending = json!({"message": "more"});
    let path = format!("/chat/sessions/{}/messages/pending", begun.session);
    let refused = setup.server.post(&path, &pending).send().await.expect("an answer");
    assert_eq!(crate::server::refusal(refused).await, (409, "NO_ACTIVE_TURN".to_owned()));
    setup.complete(&begun.operation, &film()).await;
    assert_eq!(text_of(&setup.to_the_end(&begun.task).await.0), DONE);
    history(&setup.server, &begun.session).await;
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_result_is_shown_at_once_and_answered_after_the_running_turn() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say_in("I am ", 1).wait_for(&gate).say_in("talking.", 1));
    let mut talk = setup.server.say(&begun.session, "talk").await;
    let mut said = talk.until_seen("text-delta").await;
    setup.complete(&begun.operation, &film()).await;
    let mut task = setup.follow(&begun.task).await;
    let mut events = task.until_seen("tool-output-available").await;
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}), "while the other turn talks");
    assert_eq!(content(&setup.row(&begun.session).await), json!({"file": "film.mp4"}));
    let active = setup.server.read_session(&begun.session).await["active_stream"].clone();
    assert_eq!(active["task_id"], turn_of(&talk), "the session is still at the other turn");
    assert!(setup.continuations().is_empty());
    gate.open();
    said.extend(talk.rest().await.0);
    assert_eq!((assert_complete(&said), text_of(&said)), (finished(), "I am talking.".to_owned()));
    events.extend(task.rest().await.0);
    assert_eq!((assert_complete(&events), text_of(&events)), (finished(), DONE.to_owned()));
    let history = history(&setup.server, &begun.session).await;
    let answers: Vec<&str> =
        history.iter().rev().filter_map(|row| row["content"].as_str()).take(2).collect();
    assert_eq!(answers, [DONE, "I am talking."], "one after the other");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_message_while_an_operation_continues_the_conversation_is_a_follow_up() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let gate = Gate::closed();
    setup
        .model
        .enqueue(Script::default().say_in("The film ", 1).wait_for(&gate).say_in("is ready.", 1));
    setup.model.enqueue(Script::text("In color."));
    setup.complete(&begun.operation, &film()).await;
    gate.reached().await;
    let path = format!("/chat/sessions/{}/messages/pending", begun.session);
    let sent = setup.server.post(&path, &json!({"message": "in color?"})).send().await;
    crate::server::json_of(sent.expect("an answer")).await;
    gate.open();
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), "The film is ready.In color.".to_owned()));
    let asked = setup.model.requests().last().expect("requests").last_user_text();
    assert_eq!(asked, "in color?");
    history(&setup.server, &begun.session).await;
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn several_operations_of_a_session_are_answered_one_after_another() {
    let setup = OperationServer::start().await;
    let session = setup.server.session().await;
    let call = |id: &str| ScriptedCall::new(id, super::TOOL, &json!({"work": id}));
    setup.model.enqueue(Script::default().call(&[call("call_a"), call("call_b"), call("call_c")]));
    let turn = setup.server.say(&session, "three").await.all().await;
    let mut begun = Vec::new();
    for id in ["call_a", "call_b", "call_c"] {
        let output = crate::events::output(&turn, id);
        let text = |name: &str| output[name].as_str().expect("an id").to_owned();
        begun.push((text("operation_id"), text("task_id")));
    }
    for (operation, _) in &begun {
        setup.call_of(operation).await;
    }
    let result = film();
    join_all(begun.iter().map(|(operation, _)| setup.complete(operation, &result))).await;
    for (_, task) in &begun {
        let (events, end) = setup.to_the_end(task).await;
        assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    }
    assert_eq!(setup.continuations().len(), 3);
    let history = history(&setup.server, &session).await;
    assert_eq!(history.iter().filter(|row| row["content"] == DONE).count(), 3);
    setup.model.assert_no_violations();
}
