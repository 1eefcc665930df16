//! Charges when the server is killed while blocks that cost credits run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::model_server::{ModelServer, RecordedRequest, Script, ScriptedCall};

use super::execution_fixtures::{ASK_MODEL, GraphBuilder};
use super::long_running::output_of;
use super::server_for;
use crate::events::{Ending, turn_of};
use crate::server::{TestServer, eventually, json_of};
use crate::turn_requests::{follow_after, send_and_follow};

const KEY: &str = "the key of those who run the server";
const GRANTED: i64 = 1_000;

#[tokio::test]
async fn completed_and_interrupted_blocks_are_each_charged_once() {
    let hanging = Arc::new(AtomicBool::new(true));
    let model = model_hanging_on_slow(&hanging).await;
    let mut server = paying(&model).await;
    let session = server.session().await;
    let mut stream = send_and_follow(&server, &session, "m1", "Ask both for me.").await;
    let turn = turn_of(&stream);
    // One block of the step is done and paid for, the other one still runs.
    eventually("the first charge", async || (charges(&server).await.len() == 1).then_some(()))
        .await;
    model.wait_until("the slow question", |all| times(all, "slow?") == 1).await;
    server.kill9();
    let (seen, ending) = stream.rest().await;
    assert_eq!(ending, Ending::Broken);
    hanging.store(false, Ordering::Relaxed);
    server.restart();
    let last = seen.last().expect("events").id;
    let rest = follow_after(&server, &turn, last).await.all().await;
    let all = [seen, rest].concat();
    for (call, question) in [("call_quick", "quick?"), ("call_slow", "slow?")] {
        let outputs = &output_of(&all, call)["outputs"];
        assert_eq!(outputs["response"], json!([format!("Answer to {question}")]), "{all:?}");
    }
    let requests = model.requests();
    let asked = (times(&requests, "quick?"), times(&requests, "slow?"));
    assert_eq!(asked, (1, 2), "the completed block does not run again");
    assert_eq!(charges(&server).await.len(), 2);
    assert_balance_agrees(&server).await;
}

#[tokio::test]
async fn a_node_interrupted_by_a_crash_is_charged_once() {
    let hanging = Arc::new(AtomicBool::new(true));
    let model = model_hanging_on_slow(&hanging).await;
    let mut server = paying(&model).await;
    let agent = GraphBuilder::default()
        .node("first", ASK_MODEL, json!({"prompt": "quick?"}))
        .node("second", ASK_MODEL, json!({"prompt": "slow?"}))
        .output("answers", "first.response")
        .output("more", "second.response");
    let run = agent.save(&server, "Asking").await.start(&server).await;
    eventually("the first charge", async || (charges(&server).await.len() == 1).then_some(()))
        .await;
    run.follow(&server).await.until_node("second").await;
    server.kill9();
    hanging.store(false, Ordering::Relaxed);
    server.restart();
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"]["more"], json!(["Answer to slow?"]));
    let paid = charges(&server).await;
    assert_eq!(paid.len(), 2, "{paid:?}");
    assert_eq!(ended["stats"]["cost"], -paid.iter().sum::<i64>());
    assert_balance_agrees(&server).await;
}

/// A model that answers a message with two block calls and hangs on one of their questions while the flag is set.
async fn model_hanging_on_slow(hanging: &Arc<AtomicBool>) -> ModelServer {
    let model = ModelServer::start().await;
    let hanging = hanging.clone();
    model.respond_with(move |request: &RecordedRequest| {
        let ask = |id: &str, question: &str| {
            let arguments = json!({"block_id": ASK_MODEL, "input_data": {"prompt": question}});
            ScriptedCall::new(id, "run_block", &arguments)
        };
        match (request.last_user_text().as_str(), request.tool_results().len()) {
            ("slow?", _) if hanging.load(Ordering::Relaxed) => Script::default().say("Well").hang(),
            (question @ ("slow?" | "quick?"), _) => Script::text(&format!("Answer to {question}")),
            (_, 0) => {
                Script::default().call(&[ask("call_quick", "quick?"), ask("call_slow", "slow?")])
            }
            _ => Script::text("Both are answered."),
        }
    });
    model
}

fn times(requests: &[RecordedRequest], question: &str) -> usize {
    requests.iter().filter(|request| request.last_user_text() == question).count()
}

/// A server with credits enabled, and a user with a balance.
async fn paying(model: &ModelServer) -> TestServer {
    let server = server_for(model, &[("CREDITS_ENABLED", "on"), ("CHAT_INTERNAL_API_KEY", KEY)]);
    let grant = json!({"user_id": "local", "amount": GRANTED, "key": "first"});
    let granted = server.post("/credits/grant", &grant).header("x-api-key", KEY);
    json_of(granted.send().await.expect("an answer")).await;
    server
}

/// The charged amounts of the ledger.
async fn charges(server: &TestServer) -> Vec<i64> {
    let ledger = server.get("/credits/transactions").send().await.expect("an answer");
    let ledger = json_of(ledger).await;
    let entries = ledger["transactions"].as_array().expect("a list").iter();
    entries.filter_map(|entry| entry["amount"].as_i64()).filter(|amount| *amount < 0).collect()
}

async fn assert_balance_agrees(server: &TestServer) {
    let balance = json_of(server.get("/credits").send().await.expect("an answer")).await;
    assert_eq!(balance["credits"], GRANTED + charges(server).await.iter().sum::<i64>());
}
