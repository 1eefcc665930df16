//! An operation next to the other turns of its session: it does not delay them, and it waits for them before the
//! conversation continues.

use futures::future::join_all;
use serde_json::json;
use testkit::model_server::{Gate, Script, ScriptedCall};

use super::guarantees::history::history;
use super::guarantees::turn_of;
use super::{DONE, Workshop, content, film, finished, shown};
use crate::contract::assert_whole;
use crate::events::text_of;

#[tokio::test]
async fn a_message_while_an_operation_waits_starts_its_own_turn() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    shop.model.enqueue(Script::text("Hello yourself."));
    let hello = shop.server.say(&begun.session, "hello").await;
    assert_ne!(turn_of(&hello), begun.task);
    let hello = hello.all().await;
    assert_eq!((assert_whole(&hello), text_of(&hello)), (finished(), "Hello yourself.".to_owned()));
    let pending = json!({"message": "more"});
    let path = format!("/chat/sessions/{}/messages/pending", begun.session);
    let refused = shop.server.post(&path, &pending).send().await.expect("an answer");
    assert_eq!(crate::server::refusal(refused).await, (409, "NO_ACTIVE_TURN".to_owned()));
    shop.complete(&begun.operation, &film()).await;
    assert_eq!(text_of(&shop.to_the_end(&begun.task).await.0), DONE);
    history(&shop.server, &begun.session).await;
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn a_result_is_shown_at_once_and_answered_after_the_running_turn() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let gate = Gate::closed();
    shop.model.enqueue(Script::default().say_in("I am ", 1).wait_for(&gate).say_in("talking.", 1));
    let mut talk = shop.server.say(&begun.session, "talk").await;
    let mut said = talk.until_seen("text-delta").await;
    shop.complete(&begun.operation, &film()).await;
    let mut task = shop.follow(&begun.task).await;
    let mut events = task.until_seen("tool-output-available").await;
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}), "while the other turn talks");
    assert_eq!(content(&shop.row(&begun.session).await), json!({"file": "film.mp4"}));
    let active = shop.server.read_session(&begun.session).await["active_stream"].clone();
    assert_eq!(active["task_id"], turn_of(&talk), "the session is still at the other turn");
    assert!(shop.continuations().is_empty());
    gate.open();
    said.extend(talk.rest().await.0);
    assert_eq!((assert_whole(&said), text_of(&said)), (finished(), "I am talking.".to_owned()));
    events.extend(task.rest().await.0);
    assert_eq!((assert_whole(&events), text_of(&events)), (finished(), DONE.to_owned()));
    let history = history(&shop.server, &begun.session).await;
    let answers: Vec<&str> =
        history.iter().rev().filter_map(|row| row["content"].as_str()).take(2).collect();
    assert_eq!(answers, [DONE, "I am talking."], "one after the other");
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn a_message_while_an_operation_continues_the_conversation_is_a_follow_up() {
    let shop = Workshop::start().await;
    let begun = shop.begin_and_rest().await;
    let gate = Gate::closed();
    shop.model
        .enqueue(Script::default().say_in("The film ", 1).wait_for(&gate).say_in("is ready.", 1));
    shop.model.enqueue(Script::text("In colour."));
    shop.complete(&begun.operation, &film()).await;
    gate.reached().await;
    let path = format!("/chat/sessions/{}/messages/pending", begun.session);
    let sent = shop.server.post(&path, &json!({"message": "in colour?"})).send().await;
    crate::server::json_of(sent.expect("an answer")).await;
    gate.open();
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), "The film is ready.In colour.".to_owned()));
    let asked = shop.model.requests().last().expect("requests").last_user_text();
    assert_eq!(asked, "in colour?");
    history(&shop.server, &begun.session).await;
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn several_operations_of_a_session_are_answered_one_after_another() {
    let shop = Workshop::start().await;
    let session = shop.server.session().await;
    let call = |id: &str| ScriptedCall::new(id, super::TOOL, &json!({"work": id}));
    shop.model.enqueue(Script::default().call(&[call("call_a"), call("call_b"), call("call_c")]));
    let turn = shop.server.say(&session, "three").await.all().await;
    let mut begun = Vec::new();
    for id in ["call_a", "call_b", "call_c"] {
        let output = super::super::scripted::output(&turn, id);
        let text = |name: &str| output[name].as_str().expect("an id").to_owned();
        begun.push((text("operation_id"), text("task_id")));
    }
    for (operation, _) in &begun {
        shop.call_of(operation).await;
    }
    let result = film();
    join_all(begun.iter().map(|(operation, _)| shop.complete(operation, &result))).await;
    for (_, task) in &begun {
        let (events, end) = shop.to_the_end(task).await;
        assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    }
    assert_eq!(shop.continuations().len(), 3);
    let history = history(&shop.server, &session).await;
    assert_eq!(history.iter().filter(|row| row["content"] == DONE).count(), 3);
    shop.model.assert_no_violations();
}
