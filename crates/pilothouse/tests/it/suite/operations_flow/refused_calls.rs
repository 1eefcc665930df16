//! Calls of a long-running tool that start no operation: nothing is stored for them, and the service is not called.

use serde_json::json;
use testkit::model_server::{Script, ScriptedCall};

use super::{CALL, OperationServer, TOOL, finished, shown};
use crate::contract::assert_complete;
use crate::events::output;
use crate::server::id_of;

#[tokio::test]
async fn an_invalid_call_is_refused_at_once() {
    let setup = OperationServer::start().await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::tool(CALL, TOOL, &json!({"work": 5})));
    setup.model.enqueue(Script::text("I was wrong."));
    let events = setup.server.say(&session, "try").await.all().await;
    assert_eq!(output(&events, CALL)["error"], "invalid_arguments");
    assert_eq!(setup.service.calls(TOOL).len(), 0);
}

#[tokio::test]
async fn a_call_that_is_not_permitted_starts_no_operation() {
    let setup = OperationServer::start().await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().call(&[ScriptedCall::new(CALL, TOOL, &json!({}))]));
    setup.model.enqueue(Script::text("I may not."));
    let body = json!({"message": "try", "permissions": {"tools": [TOOL]}});
    let path = format!("/chat/sessions/{session}/stream");
    let said = setup.server.post(&path, &body).send().await.expect("an answer");
    let events = crate::events::EventStream::of(said).all().await;
    assert_eq!(assert_complete(&events), finished());
    assert_eq!(output(&events, CALL)["error"], "permission_denied");
    assert_eq!(setup.row(&session).await["outcome"], "denied");
    assert_eq!(setup.service.calls(TOOL).len(), 0);
}

#[tokio::test]
async fn a_dry_run_operation_ends_without_calling_its_service() {
    let setup = OperationServer::start().await;
    let made = setup.server.post("/chat/sessions", &json!({"dry_run": true})).send().await;
    let begun = setup.begin_in(&id_of(made.expect("an answer")).await).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, &shown(&events)["output"]["dry_run"]), (finished(), &json!(true)));
    assert_eq!(setup.service.calls(TOOL).len(), 0);
}
