//! `view_agent_output`: runs found by id, agent and time.

use std::time::Duration;

use protocol::execution::{ExecutionError, ExecutionStatus};
use serde_json::{Value, json};

use super::fake_executions::{RecordedCall, failure, run};
use super::{AgentTools, message_of};

/// Runs of `mine`, the newest first.
fn fixture(runs: &[(&str, ExecutionStatus, &str)]) -> AgentTools {
    let fixture = AgentTools::with_agents();
    *fixture.runs().runs.lock().expect("not poisoned") =
        runs.iter().map(|(id, status, created)| run(id, "graph-mine", *status, created)).collect();
    fixture
}

async fn view(fixture: &AgentTools, arguments: Value) -> Value {
    fixture.call("view_agent_output", arguments).await
}

const NOW: &str = super::NOW;

#[tokio::test]
async fn an_agent_is_found_by_every_argument() {
    let fixture = fixture(&[("r1", ExecutionStatus::Completed, NOW)]);
    let letters = super::memory_store::listing("mine", "Counter", "");
    fixture.store.listings.lock().expect("not poisoned").push(letters);
    for arguments in [
        json!({"library_agent_id": " mine "}),
        json!({"library_agent_id": "graph-mine"}),
        json!({"store_slug": "helm/mine"}),
        json!({"agent_name": "counter"}),
        json!({"library_agent_id": "mine", "agent_name": "nothing like it"}),
        json!({"execution_id": "r1"}),
        json!({"execution_id": "r1", "agent_name": "word"}),
    ] {
        let seen = view(&fixture, arguments.clone()).await;
        assert_eq!(seen["type"], "agent_output", "{arguments}: {seen}");
        assert_eq!(
            (&seen["agent_name"], &seen["library_agent_link"], &seen["execution"]["outputs"]),
            (
                &json!("Word counter"),
                &json!("/library/agents/mine"),
                &json!({"result": ["forty", 42]})
            )
        );
        assert_eq!(
            (seen.get("available_executions"), &seen["total_executions"]),
            (None, &json!(1))
        );
    }
    for arguments in [
        json!({"library_agent_id": "other"}),
        json!({"store_slug": "helm/letters"}),
        json!({"store_slug": "helm"}),
        json!({"execution_id": "r2"}),
    ] {
        assert_eq!(view(&fixture, arguments.clone()).await["type"], "no_results", "{arguments}");
    }
    assert_eq!(view(&fixture, json!({"agent_name": "  "})).await["error"], "invalid_arguments");
}

#[tokio::test]
async fn a_run_of_another_agent_is_not_found() {
    let fixture = fixture(&[]);
    let other = run("r9", "graph-letters", ExecutionStatus::Completed, NOW);
    fixture.runs().runs.lock().expect("not poisoned").push(other);
    let seen = view(&fixture, json!({"execution_id": "r9", "library_agent_id": "mine"})).await;
    assert_eq!(seen["type"], "no_results");
    let seen = view(&fixture, json!({"execution_id": "r9"})).await;
    assert_eq!(seen["agent_name"], "Graph of graph-letters", "it is found without a library entry");
    assert!(seen.get("library_agent_link").is_none());
}

#[tokio::test]
async fn the_newest_run_is_shown_and_the_others_are_listed() {
    let runs: Vec<(String, String)> = (1..=12)
        .map(|day| (format!("r{day}"), format!("2026-02-{:02}T10:00:00Z", 20 - day)))
        .collect();
    let runs: Vec<_> = runs
        .iter()
        .map(|(id, at)| (id.as_str(), ExecutionStatus::Completed, at.as_str()))
        .collect();
    let fixture = fixture(&runs);
    let seen = view(&fixture, json!({"agent_name": "word counter"})).await;
    assert_eq!(
        (&seen["execution"]["execution_id"], &seen["total_executions"]),
        (&json!("r1"), &json!(12))
    );
    let listed = seen["available_executions"].as_array().expect("a list");
    assert_eq!(
        (listed.len(), &listed[0]),
        (5, &json!({"id": "r1", "status": "COMPLETED", "started_at": "2026-02-19T10:00:00Z"}))
    );
    assert!(message_of(&seen).ends_with("Showing the latest of 12 runs."), "{}", message_of(&seen));
}

#[tokio::test]
async fn a_time_narrows_the_runs() {
    let fixture = fixture(&[
        ("now", ExecutionStatus::Completed, "2026-03-01T11:00:00Z"),
        ("yesterday", ExecutionStatus::Completed, "2026-02-28T00:00:00Z"),
        ("week", ExecutionStatus::Completed, "2026-02-23T09:00:00Z"),
        ("month", ExecutionStatus::Completed, "2026-02-03T09:00:00Z"),
        ("old", ExecutionStatus::Completed, "2025-12-24T18:00:00Z"),
    ]);
    for (words, id, total) in [
        ("latest", "now", 5),
        ("gibberish", "now", 5),
        ("today", "now", 1),
        ("yesterday", "yesterday", 1),
        ("last week", "now", 3),
        ("last 30 days", "now", 4),
        ("2026-02-23", "week", 1),
        ("2025-12-24T18:30:00Z", "old", 1),
    ] {
        let seen = view(&fixture, json!({"library_agent_id": "mine", "run_time": words})).await;
        assert_eq!(
            (&seen["execution"]["execution_id"], &seen["total_executions"]),
            (&json!(id), &json!(total)),
            "{words}"
        );
    }
    let none = view(&fixture, json!({"library_agent_id": "mine", "run_time": "2026-01-15"})).await;
    assert_eq!(none["type"], "no_results");
}

#[tokio::test]
async fn unfinished_runs_are_found_only_with_a_wait() {
    let fixture = fixture(&[
        ("r2", ExecutionStatus::Running, NOW),
        ("r1", ExecutionStatus::Completed, "2026-02-28T12:00:00Z"),
    ]);
    let seen = view(&fixture, json!({"library_agent_id": "mine"})).await;
    assert_eq!(seen["execution"]["execution_id"], "r1");
    *fixture.runs().becomes.lock().expect("not poisoned") = Some(ExecutionStatus::Completed);
    let seen = view(&fixture, json!({"library_agent_id": "mine", "wait_if_running": 400})).await;
    assert_eq!(
        (&seen["execution"]["execution_id"], &seen["execution"]["status"]),
        (&json!("r2"), &json!("COMPLETED"))
    );
    assert_eq!(seen["available_executions"][0]["status"], "COMPLETED");
    assert!(fixture.runs().asked().contains(&RecordedCall::Wait(Duration::from_secs(300))));
}

#[tokio::test]
async fn a_run_that_is_named_is_waited_for() {
    let fixture = fixture(&[("r1", ExecutionStatus::Queued, NOW)]);
    let seen = view(&fixture, json!({"execution_id": "r1"})).await;
    assert_eq!(seen["execution"]["status"], "QUEUED");
    assert!(message_of(&seen).contains("wait_if_running"), "{}", message_of(&seen));
    *fixture.runs().becomes.lock().expect("not poisoned") = Some(ExecutionStatus::Completed);
    let seen = view(&fixture, json!({"execution_id": "r1", "wait_if_running": 5})).await;
    assert_eq!(seen["execution"]["status"], "COMPLETED");
    assert_eq!(fixture.runs().asked().pop(), Some(RecordedCall::Wait(Duration::from_secs(5))));
}

#[tokio::test]
async fn an_agent_without_a_completed_run_names_its_latest() {
    let fixture = fixture(&[("r1", ExecutionStatus::Failed, NOW)]);
    let seen = view(&fixture, json!({"agent_name": "word"})).await;
    assert_eq!(seen["type"], "no_results");
    assert!(message_of(&seen).contains("r1 (FAILED)"), "{}", message_of(&seen));
}

#[tokio::test]
async fn every_status_has_its_message() {
    for (status, word) in [
        (ExecutionStatus::Completed, "has completed"),
        (ExecutionStatus::Failed, "has failed: It broke."),
        (ExecutionStatus::Terminated, "was stopped"),
        (ExecutionStatus::Review, "/api/review/action"),
        (ExecutionStatus::Running, "not finished yet (RUNNING)"),
        (ExecutionStatus::Queued, "not finished yet (QUEUED)"),
        (ExecutionStatus::Incomplete, "not finished yet (INCOMPLETE)"),
    ] {
        let fixture = fixture(&[("r1", status, NOW)]);
        fixture.runs().newest(|view| {
            view.failed = vec![failure("division by zero")];
            view.execution.error =
                Some(ExecutionError { code: "x".into(), message: "It broke.".into() });
        });
        let seen = view(&fixture, json!({"execution_id": "r1"})).await;
        assert_eq!(seen["type"], "agent_output");
        assert!(message_of(&seen).contains(word), "{}", message_of(&seen));
        assert!(
            message_of(&seen).contains("CalculatorBlock: division by zero"),
            "{}",
            message_of(&seen)
        );
        assert_eq!(seen["execution"]["nodes_failed"][0]["error"], "division by zero");
    }
}

#[tokio::test]
async fn a_run_without_outputs_is_a_warning() {
    let fixture = fixture(&[("r1", ExecutionStatus::Completed, NOW)]);
    fixture.runs().newest(|view| view.outputs.clear());
    let seen = view(&fixture, json!({"execution_id": "r1"})).await;
    assert!(message_of(&seen).contains("WARNING: there are no outputs"), "{}", message_of(&seen));
}

#[tokio::test]
async fn details_are_shown_when_asked_for() {
    let fixture = fixture(&[("r1", ExecutionStatus::Completed, NOW)]);
    let seen = view(&fixture, json!({"execution_id": "r1"})).await;
    assert!(seen["execution"].get("node_executions").is_none());
    assert!(seen["execution"].get("inputs_summary").is_none());
    let arguments = json!({"execution_id": "r1", "show_execution_details": true});
    let seen = view(&fixture, arguments).await;
    assert_eq!(seen["execution"]["node_executions"][0]["block_name"], "CalculatorBlock");
    assert_eq!(seen["execution"]["inputs_summary"], json!({"text": "hello"}));
}
