//! The scripted model server itself, as far as other tests depend on it.

use ports::model::{ModelErrorKind, StopReason};
use serde_json::json;
use testkit::model_server::{Dialect, ResponseEnd, Script};

use super::{GENEROUS, ask, assistant, request, result, rig, user};

#[tokio::test]
async fn a_history_with_an_unpaired_result_is_refused_and_recorded() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (server, provider) = rig(dialect, GENEROUS).await;
        let unpaired = vec![user("hi"), assistant("", &[("1", "{}")]), result("2", "what?")];
        let error = ask(&*provider, request(unpaired)).await.error.expect("an error");
        assert_eq!(error.kind, ModelErrorKind::Refused);
        assert_eq!(server.violations().len(), 1);
        assert!(error.message.contains(&server.violations()[0]), "{error}");
    }
}

#[tokio::test]
async fn without_a_script_the_answer_is_a_clear_error() {
    let (server, provider) = rig(Dialect::OpenAi, GENEROUS).await;
    let error = ask(&*provider, request(vec![user("hi")])).await.error.expect("an error");
    assert!(error.message.contains("no script left"), "{error}");
    assert_eq!(server.wait_until_idle().await[0].ending, ResponseEnd::Played);
}

#[tokio::test]
async fn a_responder_sees_the_request_and_takes_over_when_the_queue_is_empty() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (server, provider) = rig(dialect, GENEROUS).await;
        server.enqueue(Script::text("from the queue"));
        server.respond_with(|request| match request.tool_results().as_slice() {
            [] => Script::tool("call_a", "look", &json!({"at": request.last_user_text()})),
            [(id, content), ..] => Script::text(&format!("{id}: {content}")),
        });
        let first = ask(&*provider, request(vec![user("hi")])).await;
        assert_eq!(first.text, "from the queue");
        let second = ask(&*provider, request(vec![user("the sea")])).await;
        assert_eq!(second.reason, Some(StopReason::ToolCalls));
        assert_eq!(second.calls[0].2, r#"{"at":"the sea"}"#);
        let calls = assistant("", &[("call_a", "{}")]);
        let history = vec![user("the sea"), calls, result("call_a", "calm")];
        let third = ask(&*provider, request(history)).await;
        assert_eq!(third.text, "call_a: calm");
        assert_eq!(server.requests()[2].tool_names(), ["look", "todo_write"]);
        server.assert_no_violations();
    }
}
