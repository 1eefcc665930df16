//! The tools for delegated work: sub-sessions, background calls and operations.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_toolbox::egress::{EgressClient, EgressOptions};
use pilothouse_toolbox::tools::{self, ToolServices};
use ports::call_services::NewSubSession;
use ports::tool::ToolContext;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::operation::{Operation, OperationResult, OperationState};
use protocol::permissions::CapabilityFilter;
use protocol::response::SubSessionState;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::fake_services::{BACKGROUND, FakeServices, RecordedCall, SUB_SESSION};
use super::folder::Folder;
use super::{Toolbox, built_with, context, dry_run};

fn with(fake: &Arc<FakeServices>) -> ToolContext {
    ToolContext { services: fake.services(), ..context() }
}

async fn call(fake: &Arc<FakeServices>, name: &str, arguments: Value) -> Value {
    Toolbox::open().await.call_in(with(fake), name, arguments).await
}

#[tokio::test]
async fn a_sub_session_is_shown_at_once_and_answers() {
    let fake = Arc::new(FakeServices::default());
    *fake.state.lock().expect("not poisoned") = Some(SubSessionState::Completed);
    let response = call(
        &fake,
        "run_sub_session",
        json!({
            "prompt": "Compute it.",
            "system_context": "Be exact.",
            "permissions": {"tools": ["bash_exec"], "tools_exclude": false},
        }),
    )
    .await;
    assert_eq!(
        response,
        json!({
            "type": "sub_session_status",
            "message": "The sub-session has finished.",
            "status": "completed",
            "sub_session_id": SUB_SESSION,
            "sub_autopilot_session_id": SUB_SESSION,
            "sub_autopilot_session_link": "/copilot?sessionId=sub-1",
            "response": "It is 42.",
            "tool_calls": [],
            "elapsed_seconds": 2,
        })
    );
    let filter = CapabilityFilter {
        tools: vec!["bash_exec".into()],
        tools_exclude: false,
        ..CapabilityFilter::default()
    };
    let new = NewSubSession {
        prompt: "Compute it.".into(),
        system_context: Some("Be exact.".into()),
        resume: None,
        filter,
    };
    assert_eq!(
        fake.asked(),
        [RecordedCall::Start(new), RecordedCall::Wait(Duration::from_secs(60))]
    );
    let shown = fake.shown.lock().expect("not poisoned").clone();
    assert_eq!(shown.len(), 1);
    assert_eq!(
        (&shown[0]["status"], &shown[0]["sub_autopilot_session_link"]),
        (&json!("running"), &json!("/copilot?sessionId=sub-1"))
    );
}

#[tokio::test]
async fn a_wait_for_a_sub_session_is_clamped_to_the_limit_of_the_server() {
    for (asked, waited) in [(-5, 0), (0, 0), (7, 7), (301, 300), (1_000_000, 300)] {
        let fake = Arc::new(FakeServices::default());
        let arguments = json!({"prompt": "x", "wait_for_result": asked});
        let response = call(&fake, "run_sub_session", arguments).await;
        assert_eq!(response["status"], "running");
        assert!(response["message"].as_str().expect("text").contains("get_sub_session_result"));
        let arguments = json!({"sub_session_id": SUB_SESSION, "wait_if_running": asked});
        call(&fake, "get_sub_session_result", arguments).await;
        let waits: Vec<RecordedCall> = fake
            .asked()
            .into_iter()
            .filter(|asked| matches!(asked, RecordedCall::Wait(_)))
            .collect();
        assert_eq!(waits, vec![RecordedCall::Wait(Duration::from_secs(waited)); 2], "{asked}");
    }
}

#[tokio::test]
async fn a_server_may_allow_less_than_five_minutes() {
    let egress = EgressClient::new(EgressOptions::default()).expect("a client");
    let max_wait = Duration::from_secs(7);
    let services = ToolServices { max_wait, ..built_with(Arc::new(Folder::new()), egress) };
    let fake = Arc::new(FakeServices::default());
    let tools = tools::all(&services).expect("good tools");
    let tool =
        tools.iter().find(|tool| tool.spec().name == "run_sub_session").expect("it is there");
    let response = tool.call(json!({"prompt": "x"}), with(&fake)).await.expect("it answers");
    assert!(!response.is_error());
    assert_eq!(fake.asked().last(), Some(&RecordedCall::Wait(max_wait)));
}

#[tokio::test]
async fn a_sub_session_is_resumed_by_either_argument_and_a_foreign_one_is_not_found() {
    let both = json!({"prompt": "x", "sub_session_id": SUB_SESSION, "sub_autopilot_session_id": SUB_SESSION});
    for arguments in [
        json!({"prompt": "x", "sub_session_id": SUB_SESSION}),
        json!({"prompt": "x", "sub_autopilot_session_id": SUB_SESSION, "sub_session_id": ""}),
        both,
    ] {
        let fake = Arc::new(FakeServices::default());
        assert_eq!(call(&fake, "run_sub_session", arguments).await["status"], "running");
        let RecordedCall::Start(new) = &fake.asked()[0] else { panic!("it was started") };
        assert_eq!(new.resume, Some(SUB_SESSION.into()));
    }
    let fake = Arc::new(FakeServices::default());
    let differ =
        json!({"prompt": "x", "sub_session_id": "a", "sub_autopilot_session_id": SUB_SESSION});
    let response = call(&fake, "run_sub_session", differ).await;
    assert_eq!(response["error"], "invalid_arguments");
    for (tool, arguments) in [
        ("run_sub_session", json!({"prompt": "x", "sub_session_id": "other"})),
        ("get_sub_session_result", json!({"sub_session_id": "other", "cancel": true})),
    ] {
        assert_eq!(call(&fake, tool, arguments).await["error"], "sub_session_not_found");
    }
    assert!(!fake.asked().contains(&RecordedCall::Cancel));
}

#[tokio::test]
async fn a_sub_session_is_cancelled_instead_of_waited_for_and_its_progress_can_be_seen() {
    let fake = Arc::new(FakeServices::default());
    let arguments = json!({"sub_session_id": SUB_SESSION, "include_progress": true});
    let response = call(&fake, "get_sub_session_result", arguments).await;
    assert_eq!(
        response["progress"],
        json!({"message_count": 7, "last_messages": [{"role": "assistant", "content": "I am looking."}]})
    );
    let arguments = json!({"sub_session_id": SUB_SESSION, "cancel": true, "wait_if_running": 99});
    let response = call(&fake, "get_sub_session_result", arguments.clone()).await;
    assert_eq!((&response["status"], response.get("progress")), (&json!("cancelled"), None));
    assert_eq!(fake.asked().last(), Some(&RecordedCall::Wait(Duration::ZERO)));
    *fake.state.lock().expect("not poisoned") = Some(SubSessionState::Completed);
    let response = call(&fake, "get_sub_session_result", arguments).await;
    assert_eq!(response["response"], "It is 42.", "a finished sub-session keeps its answer");
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting() {
    let fake = Arc::new(FakeServices { hangs: true, ..FakeServices::default() });
    let cancel = CancellationToken::new();
    let context = ToolContext { cancel: cancel.clone(), ..with(&fake) };
    cancel.cancel();
    let toolbox = Toolbox::open().await;
    let call = toolbox.call_in(context, "run_sub_session", json!({"prompt": "x"}));
    let response = tokio::time::timeout(Duration::from_secs(20), call).await.expect("it ends");
    assert_eq!(response["error"], "cancelled");
}

#[tokio::test]
async fn a_background_call_is_waited_for_listed_and_cancelled() {
    let fake = Arc::new(FakeServices::default());
    let listed = call(&fake, "check_background_tool", json!({"list": true})).await;
    assert_eq!(
        (&listed["count"], &listed["tools"][0]),
        (
            &json!(1),
            &json!({"background_id": BACKGROUND, "tool": "bash_exec", "age_seconds": 700, "done": false})
        )
    );
    for (asked, waited) in [(-1, 0), (540, 540), (9000, 540)] {
        let arguments = json!({"background_id": BACKGROUND, "wait_seconds": asked});
        let response = call(&fake, "check_background_tool", arguments).await;
        assert_eq!(
            (&response["status"], &response["waited_seconds"]),
            (&json!("still_running"), &json!(0))
        );
        let waited = RecordedCall::WaitInBackground(Duration::from_secs(waited));
        assert_eq!(fake.asked().last(), Some(&waited));
    }
    let stop = json!({"background_id": BACKGROUND, "cancel": true, "wait_seconds": 99});
    let response = call(&fake, "check_background_tool", stop.clone()).await;
    assert_eq!((&response["status"], response.get("waited_seconds")), (&json!("cancelled"), None));
    assert_eq!(fake.asked().last(), Some(&RecordedCall::CancelInBackground));
    *fake.background.lock().expect("not poisoned") =
        Some(json!({"type": "bash_exec", "exit_code": 0}));
    let response = call(&fake, "check_background_tool", stop).await;
    assert_eq!(
        (&response["status"], &response["output"]["exit_code"]),
        (&json!("completed"), &json!(0)),
        "a finished call returns its result despite the cancel"
    );
}

#[tokio::test]
async fn a_result_that_is_a_failure_has_the_status_error() {
    let outputs = [
        json!({"type": "error", "message": "no"}),
        json!({"type": "need_login", "message": "Sign in."}),
        json!({"type": "external_tool_output", "success": false}),
    ];
    for output in outputs {
        let fake = Arc::new(FakeServices::default());
        *fake.background.lock().expect("not poisoned") = Some(output.clone());
        let arguments = json!({"background_id": BACKGROUND});
        let response = call(&fake, "check_background_tool", arguments).await;
        assert_eq!((&response["status"], &response["output"]), (&json!("error"), &output));
    }
}

#[tokio::test]
async fn a_dry_run_only_simulates_the_cancel_of_a_background_call() {
    let fake = Arc::new(FakeServices::default());
    let toolbox = Toolbox::open().await;
    let context = || ToolContext { services: fake.services(), ..dry_run() };
    let stop = json!({"background_id": BACKGROUND, "cancel": true});
    let response = toolbox.call_in(context(), "check_background_tool", stop.clone()).await;
    assert_eq!(response["status"], "cancelled");
    assert!(response["message"].as_str().expect("text").starts_with("Dry run"), "{response}");
    assert_eq!(fake.asked(), [RecordedCall::WaitInBackground(Duration::ZERO)]);
    *fake.background.lock().expect("not poisoned") = Some(json!({"type": "bash_exec"}));
    let response = toolbox.call_in(context(), "check_background_tool", stop).await;
    assert_eq!(
        (&response["status"], &response["output"]["type"]),
        (&json!("completed"), &json!("bash_exec"))
    );
}

#[tokio::test]
async fn an_unknown_background_call_is_explained() {
    let fake = Arc::new(FakeServices::default());
    for arguments in [
        json!({"background_id": "bg-ffffffffffff"}),
        json!({"background_id": "bg-ffffffffffff", "cancel": true}),
    ] {
        let response = call(&fake, "check_background_tool", arguments).await;
        assert_eq!(response["error"], "background_not_found");
        let message = response["message"].as_str().expect("text");
        assert!(
            message.contains("returned once") && message.contains("end with the turn"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn an_operation_is_found_by_either_id_with_its_result() {
    let operation = |result: Option<(&str, ToolOutcome)>| Operation {
        id: "op".into(),
        task_id: "task".into(),
        session_id: "session".into(),
        asked_by: "turn".into(),
        call: ToolCall { id: "call".into(), name: "build".into(), arguments: "{}".into() },
        state: OperationState::Accepted,
        result: result
            .map(|(output, outcome)| OperationResult { output: output.to_owned(), outcome }),
        created_at: jiff::Timestamp::UNIX_EPOCH,
    };
    for (result, status, output) in [
        (None, "running", None),
        (Some((r#"{"n": 1}"#, ToolOutcome::Ok)), "completed", Some(json!({"n": 1}))),
        (Some(("plain words", ToolOutcome::Ok)), "completed", Some(json!("plain words"))),
        (Some(("no", ToolOutcome::Error)), "failed", Some(json!("no"))),
        (Some(("no", ToolOutcome::Cancelled)), "failed", Some(json!("no"))),
    ] {
        let fake = Arc::new(FakeServices {
            operation: Some(operation(result)),
            ..FakeServices::default()
        });
        for arguments in
            [json!({"operation_id": "op"}), json!({"task_id": "task", "operation_id": ""})]
        {
            let response = call(&fake, "check_operation_status", arguments).await;
            assert_eq!(
                (&response["status"], response.get("output")),
                (&json!(status), output.as_ref())
            );
            assert_eq!(
                (&response["operation_id"], &response["task_id"], &response["tool_name"]),
                (&json!("op"), &json!("task"), &json!("build"))
            );
        }
        let response = call(&fake, "check_operation_status", json!({"task_id": "other"})).await;
        assert_eq!(
            (&response["status"], &response["task_id"]),
            (&json!("not_found"), &json!("other"))
        );
        assert!(response["message"].as_str().expect("text").contains("expired"));
    }
}
