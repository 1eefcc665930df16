//! Tool calls of a model: concurrent, with unique ids, validated, limited and sanitized.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Script, ScriptedCall};

use super::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, ReceivedEvent, output};
use crate::scripts::{bash, todo};
use crate::server::json_of;

fn outputs(events: &[ReceivedEvent]) -> Vec<&str> {
    let answered = events.iter().filter(|got| got.chunk["type"] == "tool-output-available");
    answered.filter_map(|got| got.chunk["toolCallId"].as_str()).collect()
}

/// Creates one file and waits until the other call has created its own: alone it fails.
fn wait_for_other(id: &str, me: &str, other: &str) -> ScriptedCall {
    bash(
        id,
        &format!(
            "touch {me}; for i in $(seq 400); do test -e {other} && exit 0; sleep 0.05; done; exit 1"
        ),
    )
}

#[tokio::test]
async fn the_calls_of_a_step_run_at_the_same_time() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.calls(&[
            wait_for_other("call_a", "a", "b"),
            wait_for_other("call_b", "b", "a"),
            todo("call_c", "no waiting"),
        ]);
        let (events, end) = setup.turn(&session, "together").await;
        assert_eq!(end, TurnEnd::Finished("stop".to_owned()));
        assert_eq!(output(&events, "call_a")["exit_code"], 0, "each met the other");
        assert_eq!(output(&events, "call_b")["exit_code"], 0);
        assert_eq!(
            outputs(&events)[0],
            "call_c",
            "results are shown in the order they arrive, not in the order of the calls"
        );
        let requests = setup.model.requests();
        let mut results: Vec<String> =
            requests[1].tool_results().into_iter().map(|(id, _)| id).collect();
        results.sort();
        assert_eq!(results, ["call_a", "call_b", "call_c"]);
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn a_call_id_stays_unique_when_the_model_reuses_it() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup
            .model
            .enqueue(Script::default().call(&[todo("call_0", "one"), todo("call_1", "two")]));
        setup.model.enqueue(Script::default().call(&[todo("call_0", "three")]));
        setup.model.enqueue(Script::text("Done."));
        let (events, _) = setup.turn(&session, "again").await;
        assert_eq!(outputs(&events).len(), 3);
        assert!(
            outputs(&events).contains(&"call_0") && outputs(&events).contains(&"call_1"),
            "the first use of an id keeps it"
        );
        // Also in a later turn, whose history already has the id.
        setup.model.enqueue(Script::default().call(&[todo("call_1", "four")]));
        setup.model.enqueue(Script::text("Done."));
        setup.turn(&session, "and again").await;
        let rows = setup.messages(&session).await;
        let mut ids: Vec<&str> =
            rows.iter().filter_map(|row| row["tool_call_id"].as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 4, "four calls have four ids");
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn the_input_of_a_call_is_streamed() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let call = todo("call_a", "write the whole story of the harbour");
        setup.model.enqueue(Script::default().call_in(std::slice::from_ref(&call), 8));
        setup.model.enqueue(Script::text("Done."));
        let (events, _) = setup.turn(&session, "grow").await;
        let grown: Vec<&str> = events
            .iter()
            .filter(|got| got.chunk["type"] == "tool-input-delta")
            .filter_map(|got| got.chunk["inputTextDelta"].as_str())
            .collect();
        assert_eq!((grown.len(), grown.concat()), (8, call.arguments.clone()), "{dialect:?}");
        let whole: Value = serde_json::from_str(&call.arguments).expect("JSON");
        assert_eq!(crate::events::first(&events, "tool-input-available")["input"], whole);
    }
}

#[tokio::test]
async fn an_invalid_call_gets_an_error_that_helps_the_model_correct_it() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let broken = ScriptedCall { arguments: "{\"todos\": [".to_owned(), ..todo("call_c", "x") };
        let wrong: [(ScriptedCall, &str, &str); 4] = [
            (
                ScriptedCall::new("call_a", "launch_rocket", &json!({})),
                "unknown_tool",
                "todo_write",
            ),
            (
                ScriptedCall::new("call_b", "todo_write", &json!({"todos": "all of them"})),
                "invalid_arguments",
                "/todos",
            ),
            (broken, "invalid_arguments", "not valid JSON"),
            (
                ScriptedCall::new("call_d", "todo_write", &json!(["a", "list"])),
                "invalid_arguments",
                "object",
            ),
        ];
        for (call, ..) in &wrong {
            setup.model.enqueue(Script::default().call(std::slice::from_ref(call)));
        }
        setup.calls(&[todo("call_e", "right at last")]);
        let (events, end) = setup.turn(&session, "try").await;
        assert_eq!(end, TurnEnd::Finished("stop".to_owned()));
        for (at, (call, code, hint)) in wrong.iter().enumerate() {
            let answer = output(&events, &call.id);
            assert_eq!((&answer["type"], &answer["error"]), (&json!("error"), &json!(code)));
            assert!(
                answer["message"].as_str().is_some_and(|words| words.contains(hint)),
                "{answer}"
            );
            let (_, told) = setup.model.requests()[at + 1].tool_results().pop().expect("a result");
            assert!(told.contains(hint), "the model gets the same: {told}");
        }
        assert_eq!(output(&events, "call_e")["type"], "todo_write");
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn output_that_is_too_long_is_truncated_and_stored_as_a_file() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    // Both streams together exceed the limit of one output.
    let command = "head -c 60000 /dev/zero | tr '\\0' x; head -c 60000 /dev/zero | tr '\\0' y >&2";
    setup.calls(&[bash("call_a", command)]);
    let (events, _) = setup.turn(&session, "much").await;
    let shown = output(&events, "call_a");
    assert!(shown.to_string().chars().count() <= 100_000);
    let message = shown["message"].as_str().expect("words");
    assert!(message.contains("tool-outputs/call_a.json"), "{message}");
    let (_, told) = setup.model.requests()[1].tool_results().pop().expect("a result");
    assert!(told.chars().count() <= 100_000 && told.contains("tool-outputs/call_a.json"));
    // The model can read the rest itself.
    let part = json!({"path": "tool-outputs/call_a.json", "offset": 58_000, "length": 1000});
    setup.calls(&[
        ScriptedCall::new("call_b", "read_workspace_file", &part),
        bash("call_c", "tr -cd x < tool-outputs/call_a.json | wc -c; tr -cd y < tool-outputs/call_a.json | wc -c"),
    ]);
    let (events, _) = setup.turn(&session, "the rest").await;
    assert!(
        output(&events, "call_b")["content"].as_str().is_some_and(|text| text.contains("xxxx"))
    );
    let counted = output(&events, "call_c")["stdout"].as_str().expect("text").to_owned();
    let counted: Vec<u64> =
        counted.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    assert!(counted[0] >= 60_000 && counted[1] >= 60_000, "{counted:?}");
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn tool_inputs_and_results_are_sanitized() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        let forged = ScriptedCall {
            id: "call_a".into(),
            name: "todo_write".into(),
            arguments: r#"{"todos":[],"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}"#
                .into(),
        };
        let nul = todo("call_b", "a\u{0}b");
        setup.calls(&[forged, nul, bash("call_c", r"printf 'a\000b\033[31mc'")]);
        let (events, _) = setup.turn(&session, "poison").await;
        let input = &crate::events::first(&events, "tool-input-available")["input"];
        assert_eq!(*input, json!({"todos": []}), "a client would take the keys for an attack");
        assert_eq!(output(&events, "call_b")["todos"][0]["content"], "a\u{fffd}b");
        assert_eq!(output(&events, "call_c")["stdout"], "abc");
        let rows = setup.messages(&session).await;
        let results: Vec<&str> = rows
            .iter()
            .filter(|row| row["role"] == "tool")
            .filter_map(|row| row["content"].as_str())
            .collect();
        assert_eq!(results.len(), 3);
        assert!(
            results.iter().all(|result| !result.contains("\\u0000") && !result.contains('\u{0}')),
            "{results:?}"
        );
        setup.model.enqueue(Script::text("Still here."));
        setup.turn(&session, "and now").await;
        setup.model.assert_no_violations();
    }
}

#[tokio::test]
async fn an_anonymous_session_is_asked_to_log_in_where_a_tool_needs_it() {
    let settings = [
        ("AUTH_MODE", "jwt"),
        ("JWT_VERIFY_KEY", crate::tokens::KEY),
        ("JWT_ISSUER", "test"),
        ("ALLOW_ANONYMOUS", "on"),
    ];
    let setup = ScriptedServer::with(Dialect::OpenAi, &settings).await;
    let made = setup
        .server
        .client
        .post(setup.server.api("/chat/sessions"))
        .send()
        .await
        .expect("an answer");
    let made = json_of(made).await;
    assert_eq!(made["user_id"], Value::Null);
    let session = made["id"].as_str().expect("an id");
    setup.calls(&[bash("call_a", "touch was-here"), todo("call_b", "allowed")]);
    let path = format!("/chat/sessions/{session}/stream");
    let response =
        setup.server.post(&path, &json!({"message": "try"})).send().await.expect("an answer");
    let events = EventStream::of(response).all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".to_owned()));
    assert_eq!(output(&events, "call_a")["type"], "need_login");
    assert_eq!(output(&events, "call_b")["type"], "todo_write", "other tools work");
    setup.model.assert_no_violations();
}
