//! Stopping an execution: while it runs, with the executions it has started, in the queue, and while it waits for a
//! review.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ENGINE;
use super::execution_fixtures::{
    COUNT_DOWN, GraphBuilder, HUMAN, RUN_AGENT, SavedAgent, StartedExecution, decide,
    node_execution_of, pending, text,
};
use crate::server::{Api, TestServer, eventually, json_of, refusal};

const ENDED_WITHIN: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_stopped_execution_ends_within_a_second_with_all_its_child_executions() {
    let server = TestServer::start(ENGINE);
    let inner = waiting("Inner").save(&server, "Inner").await;
    let middle = starting(&inner).save(&server, "Middle").await;
    let outer = starting(&middle).save(&server, "Outer").await;
    let top = outer.start(&server).await;
    let below = child_of(&server, &top).await;
    let bottom = child_of(&server, &below).await;
    bottom.follow(&server).await.until_node("wait").await;
    assert_eq!(refusal(top.delete(&server).await).await, (409, "EXECUTION_OPEN".to_owned()));

    let asked = Instant::now();
    let stopped = top.stop(&server).await;
    assert_eq!(
        (&stopped["status"], &stopped["stop_requested"]),
        (&json!("TERMINATED"), &json!(true))
    );
    for (run, node) in [(&top, "start"), (&below, "start"), (&bottom, "wait")] {
        let ended = run.settled(&server).await;
        assert_eq!((&ended["status"], &ended["outputs"]), (&json!("TERMINATED"), &json!({})));
        assert_eq!(node_execution_of(&ended, node)["status"], "TERMINATED");
    }
    assert!(asked.elapsed() < ENDED_WITHIN, "it took {:?}", asked.elapsed());
    // A second stop has no effect, and an ended execution can be deleted.
    assert_eq!(top.stop(&server).await["status"], "TERMINATED");
    assert_eq!(top.delete(&server).await.status(), 204);
}

#[tokio::test]
async fn an_execution_without_a_worker_is_stopped() {
    let server = TestServer::with(ENGINE, &[("EXECUTION_SLOTS", "1")]);
    let asking = GraphBuilder::default()
        .node("ask", HUMAN, json!({"name": "May I?", "data": {"amount": 30}}))
        .output("allowed", "ask.approved_data");
    let resting = asking.save(&server, "Asking").await.start(&server).await;
    assert_eq!(resting.settled(&server).await["status"], "REVIEW");
    let busy = waiting("Busy").save(&server, "Busy").await.start(&server).await;
    busy.follow(&server).await.until_node("wait").await;
    let queued = waiting("Queued").save(&server, "Queued").await.start(&server).await;
    let review = pending(&server).await.remove(0)["node_exec_id"].clone();

    for (run, before) in [(&resting, "REVIEW"), (&queued, "QUEUED"), (&busy, "RUNNING")] {
        assert_eq!(run.status(&server).await, before);
        let asked = Instant::now();
        assert_eq!(run.stop(&server).await["status"], "TERMINATED", "{before}");
        assert!(asked.elapsed() < ENDED_WITHIN, "{before}: it took {:?}", asked.elapsed());
    }
    assert!(pending(&server).await.is_empty(), "an ended execution has no open review");
    let late = decide(&server, json!([{"node_exec_id": review, "approved": true}])).await;
    assert_eq!(refusal(late).await.0, 404);
    assert_eq!(resting.status(&server).await, "TERMINATED");
}

/// An agent that takes ten minutes.
fn waiting(message: &str) -> GraphBuilder {
    GraphBuilder::default()
        .node("wait", COUNT_DOWN, json!({"seconds": 600, "input_message": message}))
        .output("over", "wait.output_message")
}

fn starting(agent: &SavedAgent) -> GraphBuilder {
    let start = agent.as_node(json!({}));
    GraphBuilder::default().node("start", RUN_AGENT, start).output("over", "start.over")
}

/// The execution that this one has started.
async fn child_of(api: &Api, parent: &StartedExecution) -> StartedExecution {
    let child: Value = eventually("a child", async || {
        let all = json_of(api.get("/executions").send().await.expect("an answer")).await;
        let mut all = all.as_array().expect("a list").iter();
        all.find(|run| run["parent_execution_id"] == *parent.id).cloned()
    })
    .await;
    StartedExecution { graph: text(&child["graph_id"]), id: text(&child["id"]) }
}
