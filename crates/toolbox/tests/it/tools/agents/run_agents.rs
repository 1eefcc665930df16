//! `run_agent`.

use std::time::Duration;

use ports::call_services::AgentExecutionStarted;
use ports::tool::ToolContext;
use protocol::execution::{ExecutionError, ExecutionStatus};
use protocol::graph::{GraphProblem, InputProblems};
use serde_json::{Value, json};

use super::fake_executions::{RecordedCall, failure};
use super::{AgentTools, message_of};

fn mine(more: Value) -> Value {
    let mut arguments = json!({"library_agent_id": "mine", "inputs": {"text": "hello"}});
    let more = more.as_object().expect("an object").clone();
    arguments.as_object_mut().expect("an object").extend(more);
    arguments
}

#[tokio::test]
async fn a_started_agent_is_reported_with_its_execution() {
    let fixture = AgentTools::with_agents();
    let started = fixture.call("run_agent", mine(json!({}))).await;
    assert_eq!(
        started,
        json!({
            "type": "execution_started",
            "message": message_of(&started),
            "execution_id": "run-new",
            "graph_id": "graph-mine",
            "graph_name": "Word counter",
            "library_agent_id": "mine",
            "library_agent_link": "/library/agents/mine",
            "status": "QUEUED",
        })
    );
    assert!(message_of(&started).contains("do not run it again"));
    let new = fixture.runs().started().expect("it was started");
    assert_eq!((new.graph_version, new.dry_run), (2, false));
    assert_eq!(new.inputs["text"], "hello");
    assert!(!fixture.runs().asked().iter().any(|asked| matches!(asked, RecordedCall::Wait(_))));
}

#[tokio::test]
async fn missing_and_unknown_inputs_are_reported_before_the_start() {
    let fixture = AgentTools::with_agents();
    for (arguments, kind, word) in [
        (json!({"library_agent_id": "mine"}), "agent_details", "has inputs"),
        (json!({"library_agent_id": "mine", "inputs": {}}), "agent_details", "has inputs"),
        (json!({"library_agent_id": "mine", "use_defaults": true}), "agent_details", "text"),
        (
            json!({"library_agent_id": "mine", "inputs": {"limit": 3}}),
            "agent_details",
            "missing required inputs: text",
        ),
        (
            json!({"library_agent_id": "mine", "inputs": {"txet": "x"}, "dry_run": true}),
            "input_validation_error",
            "txet",
        ),
    ] {
        let response = fixture.call("run_agent", arguments.clone()).await;
        assert_eq!(response["type"], kind, "{arguments}: {response}");
        assert!(message_of(&response).contains(word), "{}", message_of(&response));
    }
    assert_eq!(fixture.runs().started(), None);
    let response = fixture.call("run_agent", json!({"library_agent_id": "mine"})).await;
    assert_eq!(
        (&response["agent"]["id"], &response["agent"]["in_library"], &response["graph_version"]),
        (&json!("mine"), &json!(true), &json!(2))
    );
    assert_eq!(
        response["agent"]["execution_options"],
        json!({"manual": true, "scheduled": false, "webhook": false})
    );
}

#[tokio::test]
async fn an_agent_with_an_external_trigger_is_not_started() {
    let fixture = AgentTools::with_agents();
    fixture.runs().agents.lock().expect("not poisoned")[0].flags.has_external_trigger = true;
    let response = fixture.call("run_agent", mine(json!({}))).await;
    assert_eq!((&response["type"], fixture.runs().started()), (&json!("agent_details"), None));
    assert_eq!(response["agent"]["execution_options"]["webhook"], true);
}

#[tokio::test]
async fn an_agent_that_is_not_named_or_not_found_is_an_error() {
    let fixture = AgentTools::with_agents();
    for (arguments, code) in [
        (json!({"library_agent_id": "other"}), "agent_not_found"),
        (json!({"username_agent_slug": "helm"}), "agent_not_found"),
        (json!({"library_agent_id": " "}), "invalid_arguments"),
    ] {
        let response = fixture.call("run_agent", arguments.clone()).await;
        assert_eq!(response["error"], code, "{arguments}");
    }
    assert_eq!(fixture.runs().started(), None);
}

#[tokio::test]
async fn a_marketplace_agent_is_added_to_the_library_when_it_runs() {
    let fixture = AgentTools::with_agents();
    let arguments = json!({"username_agent_slug": "helm/letters"});
    let dry = ToolContext { dry_run: true, ..fixture.context() };
    let tried = fixture.call_in(dry, "run_agent", arguments.clone()).await;
    assert_eq!(
        (&tried["type"], tried.get("library_agent_id")),
        (&json!("execution_started"), None)
    );
    assert_eq!(
        fixture.store.entries.lock().expect("not poisoned").len(),
        1,
        "a dry run adds nothing"
    );
    let started = fixture.call("run_agent", arguments.clone()).await;
    let entries = fixture.store.entries.lock().expect("not poisoned").clone();
    assert_eq!((entries.len(), entries[1].creator.as_deref()), (2, Some("helm")));
    assert_eq!(started["library_agent_id"], json!(entries[1].id));
    let again = fixture.call("run_agent", arguments).await;
    assert_eq!(again["library_agent_id"], started["library_agent_id"]);
}

#[tokio::test]
async fn a_dry_run_is_requested_by_the_session_or_by_the_argument() {
    for (session, argument, expected) in
        [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
    {
        let fixture = AgentTools::with_agents();
        let context = ToolContext { dry_run: session, ..fixture.context() };
        fixture.call_in(context, "run_agent", mine(json!({"dry_run": argument}))).await;
        assert_eq!(fixture.runs().started().expect("started").dry_run, expected);
    }
}

#[tokio::test]
async fn a_run_is_waited_for_at_most_five_minutes() {
    for (asked, waited) in [(1, 1), (300, 300), (1_000_000, 300)] {
        let fixture = AgentTools::with_agents();
        let arguments = mine(json!({"wait_for_result": asked}));
        let response = fixture.call("run_agent", arguments).await;
        assert_eq!(
            (&response["type"], &response["status"]),
            (&json!("execution_started"), &json!("QUEUED"))
        );
        let last = fixture.runs().asked().pop();
        assert_eq!(last, Some(RecordedCall::Wait(Duration::from_secs(waited))));
        assert_eq!(
            fixture.fake.shown.lock().expect("not poisoned").len(),
            1,
            "it is shown from the start"
        );
    }
}

#[tokio::test]
async fn a_completed_run_returns_its_outputs_and_a_dry_run_its_nodes() {
    let fixture = AgentTools::with_agents();
    *fixture.runs().becomes.lock().expect("not poisoned") = Some(ExecutionStatus::Completed);
    let response = fixture.call("run_agent", mine(json!({"wait_for_result": 60}))).await;
    assert_eq!(
        (&response["type"], &response["agent_name"]),
        (&json!("agent_output"), &json!("Word counter"))
    );
    assert_eq!(response["execution"]["outputs"], json!({"result": [1]}));
    assert!(response["execution"].get("node_executions").is_none());
    assert!(!message_of(&response).contains("WARNING"), "{}", message_of(&response));
    let response =
        fixture.call("run_agent", mine(json!({"wait_for_result": 60, "dry_run": true}))).await;
    assert_eq!(response["execution"]["node_executions"][0]["block_name"], "CalculatorBlock");
    assert!(message_of(&response).starts_with("Dry run"), "{}", message_of(&response));
}

#[tokio::test]
async fn a_failed_or_stopped_run_names_the_failed_nodes() {
    for (status, code) in [
        (ExecutionStatus::Failed, "execution_failed"),
        (ExecutionStatus::Terminated, "execution_stopped"),
    ] {
        let fixture = AgentTools::with_agents();
        // The run exists before the call: a repeated start returns the same one.
        let mut view = super::fake_executions::run("run-new", "graph-mine", status, super::NOW);
        view.failed = vec![failure("division by zero")];
        view.execution.error =
            Some(ExecutionError { code: "x".into(), message: "It broke.".into() });
        let started = AgentExecutionStarted::Started(Box::new(view.execution.clone()));
        *fixture.runs().next_start.lock().expect("not poisoned") = Some(started);
        fixture.runs().runs.lock().expect("not poisoned").push(view);
        let response = fixture.call("run_agent", mine(json!({"wait_for_result": 1}))).await;
        assert_eq!(
            (&response["error"], &response["execution_id"]),
            (&json!(code), &json!("run-new"))
        );
        assert_eq!(response["details"]["nodes_failed"][0]["block_name"], "CalculatorBlock");
        assert!(
            message_of(&response).contains("CalculatorBlock: division by zero"),
            "{}",
            message_of(&response)
        );
    }
}

#[tokio::test]
async fn a_run_that_needs_approval_is_reported() {
    let fixture = AgentTools::with_agents();
    *fixture.runs().becomes.lock().expect("not poisoned") = Some(ExecutionStatus::Review);
    let response = fixture.call("run_agent", mine(json!({"wait_for_result": 1}))).await;
    assert_eq!(
        (&response["type"], &response["status"]),
        (&json!("execution_started"), &json!("REVIEW"))
    );
    assert!(message_of(&response).contains("/api/review/action"), "{}", message_of(&response));
}

#[tokio::test]
async fn a_start_that_is_refused_is_explained() {
    let problem = GraphProblem {
        code: "unknown_block".into(),
        message: "The block TeleportBlock is not known.".into(),
        ..GraphProblem::default()
    };
    let unknown = InputProblems { unknown: vec!["x".into()], ..InputProblems::default() };
    let missing = InputProblems { missing: vec!["text".into()], ..InputProblems::default() };
    let wrong = InputProblems {
        wrong: vec![("limit".into(), "it is not a number".into())],
        ..InputProblems::default()
    };
    for (refusal, kind, code, word) in [
        (AgentExecutionStarted::NoGraph, "error", "agent_not_found", "no longer exists"),
        (AgentExecutionStarted::Invalid(vec![problem]), "error", "invalid_graph", "TeleportBlock"),
        (AgentExecutionStarted::Inputs(unknown), "input_validation_error", "", "x"),
        (AgentExecutionStarted::Inputs(missing), "agent_details", "", "text"),
        (
            AgentExecutionStarted::Inputs(wrong),
            "input_validation_error",
            "",
            "limit: it is not a number",
        ),
        (AgentExecutionStarted::NotAllowed(vec!["A".into()]), "error", "permission_denied", "A"),
        (AgentExecutionStarted::NoFunds, "error", "insufficient_credits", "credits"),
        (AgentExecutionStarted::TooMany, "error", "run_limit", "30"),
    ] {
        let fixture = AgentTools::with_agents();
        *fixture.runs().next_start.lock().expect("not poisoned") = Some(refusal);
        let response = fixture.call("run_agent", mine(json!({"wait_for_result": 9}))).await;
        assert_eq!(
            (&response["type"], response["error"].as_str().unwrap_or("")),
            (&json!(kind), code)
        );
        assert!(message_of(&response).contains(word), "{}", message_of(&response));
    }
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting_for_its_run() {
    for (tool, arguments) in [
        ("run_agent", mine(json!({"wait_for_result": 300}))),
        ("view_agent_output", json!({"execution_id": "run-new", "wait_if_running": 300})),
    ] {
        let fixture = AgentTools::with_agents();
        *fixture.runs().hangs.lock().expect("not poisoned") = true;
        let context = fixture.context();
        context.cancel.cancel();
        let call = fixture.call_in(context, tool, arguments);
        let response = tokio::time::timeout(Duration::from_secs(20), call).await.expect("it ends");
        assert_eq!(response["error"], "cancelled");
    }
}
