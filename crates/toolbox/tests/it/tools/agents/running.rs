//! Agents run by the model.

use std::time::Duration;

use ports::call_services::AgentExecutionStarted;
use ports::tool::ToolContext;
use protocol::execution::{ExecutionError, ExecutionStatus};
use protocol::graph::{GraphProblem, InputProblems};
use serde_json::{Value, json};

use super::runs::{Asked, failure};
use super::{Desk, said};

fn mine(more: Value) -> Value {
    let mut arguments = json!({"library_agent_id": "mine", "inputs": {"text": "hello"}});
    let more = more.as_object().expect("an object").clone();
    arguments.as_object_mut().expect("an object").extend(more);
    arguments
}

#[tokio::test]
async fn an_agent_that_was_started_is_not_run_again() {
    let desk = Desk::with_agents();
    let started = desk.call("run_agent", mine(json!({}))).await;
    assert_eq!(
        started,
        json!({
            "type": "execution_started",
            "message": said(&started),
            "execution_id": "run-new",
            "graph_id": "graph-mine",
            "graph_name": "Word counter",
            "library_agent_id": "mine",
            "library_agent_link": "/library/agents/mine",
            "status": "QUEUED",
        })
    );
    assert!(said(&started).contains("do not run it again"));
    let new = desk.runs().started().expect("it was started");
    assert_eq!((new.graph_version, new.dry_run), (2, false));
    assert_eq!(new.inputs["text"], "hello");
    assert!(!desk.runs().asked().iter().any(|asked| matches!(asked, Asked::Wait(_))));
}

#[tokio::test]
async fn what_the_agent_needs_is_told_before_it_runs() {
    let desk = Desk::with_agents();
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
        let told = desk.call("run_agent", arguments.clone()).await;
        assert_eq!(told["type"], kind, "{arguments}: {told}");
        assert!(said(&told).contains(word), "{}", said(&told));
    }
    assert_eq!(desk.runs().started(), None);
    let told = desk.call("run_agent", json!({"library_agent_id": "mine"})).await;
    assert_eq!(
        (&told["agent"]["id"], &told["agent"]["in_library"], &told["graph_version"]),
        (&json!("mine"), &json!(true), &json!(2))
    );
    assert_eq!(
        told["agent"]["execution_options"],
        json!({"manual": true, "scheduled": false, "webhook": false})
    );
}

#[tokio::test]
async fn an_agent_that_waits_for_events_is_not_run_by_hand() {
    let desk = Desk::with_agents();
    desk.runs().agents.lock().expect("free")[0].flags.has_external_trigger = true;
    let told = desk.call("run_agent", mine(json!({}))).await;
    assert_eq!((&told["type"], desk.runs().started()), (&json!("agent_details"), None));
    assert_eq!(told["agent"]["execution_options"]["webhook"], true);
}

#[tokio::test]
async fn an_agent_that_is_not_named_or_not_found_is_an_error() {
    let desk = Desk::with_agents();
    for (arguments, code) in [
        (json!({"library_agent_id": "other"}), "agent_not_found"),
        (json!({"username_agent_slug": "helm"}), "agent_not_found"),
        (json!({"library_agent_id": " "}), "invalid_arguments"),
    ] {
        let told = desk.call("run_agent", arguments.clone()).await;
        assert_eq!(told["error"], code, "{arguments}");
    }
    assert_eq!(desk.runs().started(), None);
}

#[tokio::test]
async fn an_agent_of_the_marketplace_comes_into_the_library_when_it_runs() {
    let desk = Desk::with_agents();
    let arguments = json!({"username_agent_slug": "helm/letters"});
    let dry = ToolContext { dry_run: true, ..desk.context() };
    let tried = desk.call_in(dry, "run_agent", arguments.clone()).await;
    assert_eq!(
        (&tried["type"], tried.get("library_agent_id")),
        (&json!("execution_started"), None)
    );
    assert_eq!(desk.shelf.entries.lock().expect("free").len(), 1, "a dry run keeps nothing");
    let started = desk.call("run_agent", arguments.clone()).await;
    let entries = desk.shelf.entries.lock().expect("free").clone();
    assert_eq!((entries.len(), entries[1].creator.as_deref()), (2, Some("helm")));
    assert_eq!(started["library_agent_id"], json!(entries[1].id));
    let again = desk.call("run_agent", arguments).await;
    assert_eq!(again["library_agent_id"], started["library_agent_id"]);
}

#[tokio::test]
async fn the_session_can_make_every_run_dry() {
    for (session, argument, expected) in
        [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
    {
        let desk = Desk::with_agents();
        let context = ToolContext { dry_run: session, ..desk.context() };
        desk.call_in(context, "run_agent", mine(json!({"dry_run": argument}))).await;
        assert_eq!(desk.runs().started().expect("started").dry_run, expected);
    }
}

#[tokio::test]
async fn a_run_is_waited_for_at_most_five_minutes() {
    for (asked, waited) in [(1, 1), (300, 300), (1_000_000, 300)] {
        let desk = Desk::with_agents();
        let arguments = mine(json!({"wait_for_result": asked}));
        let told = desk.call("run_agent", arguments).await;
        assert_eq!(
            (&told["type"], &told["status"]),
            (&json!("execution_started"), &json!("QUEUED"))
        );
        let last = desk.runs().asked().pop();
        assert_eq!(last, Some(Asked::Wait(Duration::from_secs(waited))));
        assert_eq!(desk.played.shown.lock().expect("free").len(), 1, "it is seen from the start");
    }
}

#[tokio::test]
async fn a_completed_run_gives_its_outputs_and_a_dry_one_its_nodes() {
    let desk = Desk::with_agents();
    *desk.runs().becomes.lock().expect("free") = Some(ExecutionStatus::Completed);
    let told = desk.call("run_agent", mine(json!({"wait_for_result": 60}))).await;
    assert_eq!(
        (&told["type"], &told["agent_name"]),
        (&json!("agent_output"), &json!("Word counter"))
    );
    assert_eq!(told["execution"]["outputs"], json!({"result": [1]}));
    assert!(told["execution"].get("node_executions").is_none());
    assert!(!said(&told).contains("WARNING"), "{}", said(&told));
    let told = desk.call("run_agent", mine(json!({"wait_for_result": 60, "dry_run": true}))).await;
    assert_eq!(told["execution"]["node_executions"][0]["block_name"], "CalculatorBlock");
    assert!(said(&told).starts_with("Dry run"), "{}", said(&told));
}

#[tokio::test]
async fn a_run_that_does_not_end_well_says_which_nodes_failed() {
    for (status, code) in [
        (ExecutionStatus::Failed, "execution_failed"),
        (ExecutionStatus::Terminated, "execution_stopped"),
    ] {
        let desk = Desk::with_agents();
        // The run is there before it is asked about: a repeated start gives the same one.
        let mut view = super::runs::run("run-new", "graph-mine", status, super::NOW);
        view.failed = vec![failure("division by zero")];
        view.execution.error =
            Some(ExecutionError { code: "x".into(), message: "It broke.".into() });
        let started = AgentExecutionStarted::Started(Box::new(view.execution.clone()));
        *desk.runs().next_start.lock().expect("free") = Some(started);
        desk.runs().runs.lock().expect("free").push(view);
        let told = desk.call("run_agent", mine(json!({"wait_for_result": 1}))).await;
        assert_eq!((&told["error"], &told["execution_id"]), (&json!(code), &json!("run-new")));
        assert_eq!(told["details"]["nodes_failed"][0]["block_name"], "CalculatorBlock");
        assert!(said(&told).contains("CalculatorBlock: division by zero"), "{}", said(&told));
    }
}

#[tokio::test]
async fn a_run_that_needs_a_person_says_so() {
    let desk = Desk::with_agents();
    *desk.runs().becomes.lock().expect("free") = Some(ExecutionStatus::Review);
    let told = desk.call("run_agent", mine(json!({"wait_for_result": 1}))).await;
    assert_eq!((&told["type"], &told["status"]), (&json!("execution_started"), &json!("REVIEW")));
    assert!(said(&told).contains("/api/review/action"), "{}", said(&told));
}

#[tokio::test]
async fn a_start_that_is_refused_is_explained() {
    let problem = GraphProblem {
        node_id: None,
        link_id: None,
        code: "unknown_block".into(),
        message: "The block TeleportBlock is not known.".into(),
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
        let desk = Desk::with_agents();
        *desk.runs().next_start.lock().expect("free") = Some(refusal);
        let told = desk.call("run_agent", mine(json!({"wait_for_result": 9}))).await;
        assert_eq!((&told["type"], told["error"].as_str().unwrap_or("")), (&json!(kind), code));
        assert!(said(&told).contains(word), "{}", said(&told));
    }
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting_for_its_run() {
    for (tool, arguments) in [
        ("run_agent", mine(json!({"wait_for_result": 300}))),
        ("view_agent_output", json!({"execution_id": "run-new", "wait_if_running": 300})),
    ] {
        let desk = Desk::with_agents();
        *desk.runs().hangs.lock().expect("free") = true;
        let context = desk.context();
        context.cancel.cancel();
        let call = desk.call_in(context, tool, arguments);
        let told = tokio::time::timeout(Duration::from_secs(20), call).await.expect("it ends");
        assert_eq!(told["error"], "cancelled");
    }
}
