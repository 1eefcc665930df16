//! Agent executions with several executors: one is killed and another continues its executions, or no executor runs for
//! a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::model_server::{RecordedRequest, Script};

use super::{cluster, empty_cluster};
use crate::distributed::agents::execution_fixtures::{
    ASK_MODEL, CALCULATE, GraphBuilder, STEP_THROUGH,
};
use crate::distributed::agents::execution_stream::{ExecutionEvent, numbered};
use crate::server::Role;

const RUNS: usize = 6;
/// The lease, plus the time a loaded machine needs to notice its end and to start the work again.
const RECOVERED_WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn executions_of_a_killed_executor_continue_elsewhere_without_breaking_streams() {
    let (model, mut cluster) = cluster(1, 1, &[]).await;
    let first_life = Arc::new(AtomicBool::new(true));
    let hangs = first_life.clone();
    model.respond_with(move |_: &RecordedRequest| match hangs.load(Ordering::Relaxed) {
        true => Script::default().say("I begin").hang(),
        false => Script::text("To the end."),
    });
    let api = cluster.api(0).http();
    let agent = asking().save(api, "Asking").await;
    let mut watched = Vec::new();
    for _ in 0..RUNS {
        let run = agent.start(api).await;
        let mut stream = run.follow(api).await;
        stream.until_node("think").await;
        watched.push((run, stream));
    }
    cluster.spawn(Role::Executor, &[]);
    first_life.store(false, Ordering::Relaxed);
    cluster.executor_mut(0).kill9();
    let killed = Instant::now();
    let api = cluster.api(0).http();
    for (run, stream) in watched {
        // On the connection that stayed open.
        stream.all().await;
        let ended = run.completed(api).await;
        assert_eq!(ended["outputs"]["answer"], json!(["To the end."]));
        assert_eq!(ended["outputs"]["sums"], json!([1, 2, 3]));
        let numbers: Vec<u64> = numbered(&run.follow(api).await.all().await)
            .iter()
            .map(|(number, _)| *number)
            .collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    }
    assert!(killed.elapsed() < RECOVERED_WITHIN, "it took {:?}", killed.elapsed());
    assert_eq!(model.requests().len(), 2 * RUNS, "asked once before and once after");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_started_without_an_executor_waits_for_one() {
    let (model, mut cluster) = empty_cluster(&[]).await;
    model.respond_with(|_: &RecordedRequest| Script::text("Here I am."));
    cluster.spawn(Role::Api, &[]);
    let api = cluster.api(0).http();
    let agent = asking().save(api, "Asking").await;
    let run = agent.start(api).await;
    let stopped = agent.start(api).await;
    let mut stream = run.follow(api).await;
    let first = stream.next().await;
    assert!(matches!(first, Ok(ExecutionEvent::Execution(row)) if row["status"] == "QUEUED"));
    assert_eq!(stopped.stop(api).await["status"], "TERMINATED", "no executor is needed for that");
    cluster.spawn(Role::Executor, &[]);
    stream.all().await;
    let api = cluster.api(0).http();
    assert_eq!(run.completed(api).await["outputs"]["answer"], json!(["Here I am."]));
    assert_eq!(stopped.read(api).await["node_total"], 0, "the stopped execution never started");
    assert_eq!(model.requests().len(), 1);
}

fn asking() -> GraphBuilder {
    GraphBuilder::default()
        .node("think", ASK_MODEL, json!({"prompt": "well?"}))
        .output("answer", "think.response")
        .node("numbers", STEP_THROUGH, json!({"items": [0, 1, 2]}))
        .node("sum", CALCULATE, json!({"operation": "Add", "b": 1, "round_result": true}))
        .link("numbers.item", "sum.a")
        .output("sums", "sum.result")
}
