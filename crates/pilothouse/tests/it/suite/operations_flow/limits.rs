//! Access to an operation, its status tool, and the limit of operations per session.

use serde_json::{Value, json};
use testkit::external_service::ServiceResponse;
use testkit::model_server::{Script, ScriptedCall};

use super::{CALL, OperationServer, StartedOperation, TOOL, film, status};
use crate::events::{EventStream, output};
use crate::server::{Api, id_of};
use crate::tokens::{KEY as TOKEN_KEY, token};

fn check(id: &str, arguments: Value) -> ScriptedCall {
    ScriptedCall::new(id, "check_operation_status", &arguments)
}

#[tokio::test]
async fn the_model_can_check_an_operation_by_either_id() {
    let setup = OperationServer::start().await;
    let begun = setup.start_and_wait().await;
    let both = [
        check("call_1", json!({"operation_id": begun.operation})),
        check("call_2", json!({"task_id": begun.task})),
        check("call_3", json!({"operation_id": "nothing"})),
    ];
    let ask = async |renamed: &dyn Fn(&str) -> String| {
        let calls: Vec<ScriptedCall> = both
            .iter()
            .map(|call| ScriptedCall { id: renamed(&call.id), ..call.clone() })
            .collect();
        setup.model.enqueue(Script::default().call(&calls));
        setup.model.enqueue(Script::text("So it stands."));
        let events = setup.server.say(&begun.session, "how is it?").await.all().await;
        calls.iter().map(|call| output(&events, &call.id).clone()).collect::<Vec<_>>()
    };
    let before = ask(&|id| id.to_owned()).await;
    for answer in &before[..2] {
        assert_eq!(
            (&answer["type"], &answer["status"]),
            (&json!("operation_status"), &json!("running"))
        );
        assert_eq!(
            (&answer["operation_id"], &answer["task_id"]),
            (&json!(begun.operation), &json!(begun.task))
        );
    }
    assert_eq!(before[2]["status"], "not_found");
    setup.complete(&begun.operation, &film()).await;
    setup.to_the_end(&begun.task).await;
    let after = ask(&|id| format!("{id}_again")).await;
    for answer in &after[..2] {
        assert_eq!(
            (&answer["status"], &answer["output"]),
            (&json!("completed"), &json!({"file": "film.mp4"}))
        );
    }
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn an_operation_is_visible_to_its_owner_only() {
    let jwt = [("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", TOKEN_KEY), ("JWT_ISSUER", "test")];
    let setup = OperationServer::with(&jwt).await;
    let session = session_of(&setup.server, "anna").await;
    let events = say_as(&setup.server, "anna", &session, "a film").await;
    let started = output(&events, CALL);
    let id = |name: &str| started[name].as_str().expect("an id").to_owned();
    let begun = StartedOperation {
        session,
        operation: id("operation_id"),
        task: id("task_id"),
        turn: events,
    };
    setup.wait_until_waiting(&begun).await;
    for path in
        [format!("/chat/tasks/{}", begun.task), format!("/chat/tasks/{}/stream", begun.task)]
    {
        let asked = setup.server.get(&path).bearer_auth(token("bert")).send().await;
        assert_eq!(status(asked).await, 404, "{path}");
        assert_eq!(status(setup.server.get(&path).send().await).await, 401, "{path}");
    }
    let his = session_of(&setup.server, "bert").await;
    setup.model.enqueue(Script::default().call(&[
        check("call_1", json!({"operation_id": begun.operation})),
        check("call_2", json!({"task_id": begun.task})),
    ]));
    setup.model.enqueue(Script::text("There is none."));
    let told = say_as(&setup.server, "bert", &his, "how is it?").await;
    for call in ["call_1", "call_2"] {
        assert_eq!(output(&told, call)["status"], "not_found");
    }
    // A user's token is not accepted as the internal key, not even from the owner of the operation.
    let path = format!("/chat/operations/{}/complete", begun.operation);
    let forged = setup.server.post(&path, &film()).bearer_auth(token("anna")).send().await;
    assert_eq!(status(forged).await, 401);
    setup.complete(&begun.operation, &film()).await;
    let path = format!("/chat/tasks/{}/stream", begun.task);
    let hers = setup.server.get(&path).bearer_auth(token("anna")).send().await.expect("an answer");
    assert_eq!(*super::shown(&EventStream::of(hers).all().await), json!({"file": "film.mp4"}));
}

#[tokio::test]
async fn a_session_has_at_most_32_operations() {
    let setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::accepted());
    let session = setup.server.session().await;
    let calls: Vec<ScriptedCall> = (0..33)
        .map(|number| ScriptedCall::new(&format!("call_{number}"), TOOL, &json!({})))
        .collect();
    setup.model.enqueue(Script::default().call(&calls));
    let events = setup.server.say(&session, "very many").await.all().await;
    let begun: Vec<&Value> = calls.iter().map(|call| output(&events, &call.id)).collect();
    let refused = begun.iter().filter(|answer| answer["error"] == "too_many_operations").count();
    let started = begun.iter().filter(|answer| answer["type"] == "operation_started").count();
    assert_eq!((started, refused), (32, 1));
    setup.service.wait_for_calls(TOOL, 32).await;
    // An operation that has ended makes room.
    let one =
        begun.iter().find(|answer| answer["type"] == "operation_started").expect("32 of them");
    setup.complete(one["operation_id"].as_str().expect("an id"), &film()).await;
    setup.to_the_end(one["task_id"].as_str().expect("an id")).await;
    setup.model.enqueue(Script::tool("call_more", TOOL, &json!({})));
    let events = setup.server.say(&session, "one more").await.all().await;
    assert_eq!(output(&events, "call_more")["type"], "operation_started");
    setup.model.assert_no_violations();
}

async fn session_of(server: &Api, user: &str) -> String {
    let made = server.post("/chat/sessions", &json!({})).bearer_auth(token(user)).send().await;
    id_of(made.expect("an answer")).await
}

async fn say_as(
    server: &Api,
    user: &str,
    session: &str,
    text: &str,
) -> Vec<crate::events::ReceivedEvent> {
    let path = format!("/chat/sessions/{session}/stream");
    let said = server.post(&path, &json!({"message": text})).bearer_auth(token(user)).send().await;
    EventStream::of(said.expect("an answer")).all().await
}
