//! An execution whose server is killed or shut down while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use testkit::model_server::{ModelServer, RecordedRequest, Script};

use super::execution_fixtures::{
    ASK_MODEL, CALCULATE, COUNT_DOWN, GraphBuilder, STEP_THROUGH, WEB_REQUEST, node_execution_of,
    text,
};
use super::execution_stream::numbered;
use super::{ENGINE, server_for};
use crate::events::Ending;
use crate::namespace::MountNamespace;
use crate::server::TestServer;

/// Below the 10 s that a container runtime allows before SIGKILL.
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);

/// A model that hangs on the second question while the flag is set.
async fn model_hanging_on_second(hanging: &Arc<AtomicBool>) -> ModelServer {
    let model = ModelServer::start().await;
    let hanging = hanging.clone();
    model.respond_with(move |request: &RecordedRequest| {
        let question = request.last_user_text();
        match question.starts_with("second") && hanging.load(Ordering::Relaxed) {
            true => Script::default().say("I think").hang(),
            false => Script::text(&format!("Answer to the {question}")),
        }
    });
    model
}

/// Three questions, each using the previous answer, next to other nodes.
fn three_questions() -> GraphBuilder {
    GraphBuilder::default()
        .node("one", ASK_MODEL, json!({"prompt": "first."}))
        .node("two", ASK_MODEL, json!({"prompt": "second after {{ it }}"}))
        .node("three", ASK_MODEL, json!({"prompt": "third after {{ it }}"}))
        .link("one.response", "two.prompt_values_#_it")
        .link("two.response", "three.prompt_values_#_it")
        .output("answer", "three.response")
        .node("numbers", STEP_THROUGH, json!({"items": (0..200).collect::<Vec<u32>>()}))
        .node("next", CALCULATE, json!({"operation": "Add", "b": 1, "round_result": true}))
        .link("numbers.item", "next.a")
        .output("numbers_out", "next.result")
}

fn asked(model: &ModelServer, question: &str) -> usize {
    let requests = model.requests();
    requests.iter().filter(|request| request.last_user_text().starts_with(question)).count()
}

#[tokio::test]
async fn nodes_completed_before_a_crash_are_not_run_again() {
    let hanging = Arc::new(AtomicBool::new(true));
    let model = model_hanging_on_second(&hanging).await;
    let mut server = server_for(&model, &[]);
    let run = three_questions().save(&server, "Questions").await.start(&server).await;
    let mut stream = run.follow(&server).await;
    let seen = stream.until_node("two").await;
    server.kill9();
    assert_eq!(stream.rest().await.1, Ending::Broken, "a clean close would look like the end");
    hanging.store(false, Ordering::Relaxed);
    server.restart();

    let rest = run.follow_after(&server, seen).await.all().await;
    let ended = run.completed(&server).await;
    assert_eq!(
        ended["outputs"]["answer"],
        json!(["Answer to the third after Answer to the second after Answer to the first."])
    );
    assert_eq!(ended["outputs"]["numbers_out"], json!((1..=200).collect::<Vec<u32>>()));
    let times = ["first", "second", "third"].map(|question| asked(&model, question));
    assert_eq!(times, [1, 2, 1], "only the unfinished question is asked again");
    for node in ["one", "two", "three"] {
        assert_eq!(node_execution_of(&ended, node)["status"], "COMPLETED");
    }
    let all = numbered(&run.follow(&server).await.all().await);
    assert_eq!(numbered(&rest), all[seen as usize..], "the stream continues where it broke");
}

#[tokio::test]
async fn an_unrepeatable_request_fails_after_a_crash_and_the_execution_continues() {
    // Name lookups read this file, which is a pipe without a writer: the request never finishes.
    let folder = TempDir::new().expect("a temporary folder");
    let hosts = folder.path().join("hosts");
    let hosts = hosts.display();
    let namespace =
        MountNamespace::with(&format!("mkfifo {hosts} && mount --bind {hosts} /etc/hosts"));
    let mut server = TestServer::under(ENGINE, namespace.wrapper(), &[]);
    let agent = GraphBuilder::default()
        .node("order", WEB_REQUEST, json!({"url": "http://shop.example.com/", "method": "POST"}))
        .node("wait", COUNT_DOWN, json!({"seconds": 1, "input_message": "meanwhile"}))
        .output("ordered", "order.response")
        .output("failed", "order.error")
        .output("beside", "wait.output_message");
    let run = agent.save(&server, "Order").await.start(&server).await;
    run.follow(&server).await.until_node("order").await;
    server.kill9();
    server.restart();
    let ended = run.completed(&server).await;
    let why = text(&ended["outputs"]["failed"][0]);
    assert!(why.contains("not repeated"), "{why}");
    assert_eq!(ended["outputs"]["beside"], json!(["meanwhile"]));
    let order = node_execution_of(&ended, "order");
    assert_eq!((&order["status"], &order["error"]), (&json!("FAILED"), &json!(why)));
    assert_eq!(ended["failed_nodes"][0]["node_id"], "order");
    assert_eq!(ended["stats"]["node_error_count"], 1);
}

#[tokio::test]
async fn an_execution_that_crashes_its_server_repeatedly_fails() {
    let hanging = Arc::new(AtomicBool::new(true));
    let model = model_hanging_on_second(&hanging).await;
    let mut server = server_for(&model, &[]);
    let run = three_questions().save(&server, "Questions").await.start(&server).await;
    // The start of the second question is stored.
    run.follow(&server).await.until_node("two").await;
    for life in 1..=3 {
        model.wait_until("the second question", |_| asked(&model, "second") == life).await;
        server.kill9();
        server.restart();
    }
    let ended = run.settled(&server).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("FAILED"), &json!("crash_loop"))
    );
    assert_eq!(node_execution_of(&ended, "two")["status"], "TERMINATED", "no node stays open");
    assert_eq!(
        node_execution_of(&ended, "one")["status"],
        "COMPLETED",
        "completed nodes stay completed"
    );
    assert_eq!(asked(&model, "second"), 3);
}

#[tokio::test]
async fn a_server_that_shuts_down_hands_its_executions_over() {
    let hanging = Arc::new(AtomicBool::new(true));
    let model = model_hanging_on_second(&hanging).await;
    let mut server = server_for(&model, &[]);
    let run = three_questions().save(&server, "Questions").await.start(&server).await;
    run.follow(&server).await.until_node("two").await;
    server.sigterm();
    let left = server.wait_for_exit(EXIT_TIMEOUT);
    assert_eq!(left.code(), Some(0));
    assert!(server.log().contains("execution handed back"), "{}", server.log());
    hanging.store(false, Ordering::Relaxed);
    server.restart();
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"]["numbers_out"], json!((1..=200).collect::<Vec<u32>>()));
    let times = ["first", "second", "third"].map(|question| asked(&model, question));
    assert_eq!(times, [1, 2, 1]);
}
