//! Agents that ask the copilot, and copilots that run agents that ask the copilot.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, RecordedRequest, ResponseEnd, Script};

use super::execution_fixtures::{AUTOPILOT, GraphBuilder, node_execution_of, text};
use super::long_running::{script_model, steps_of, tool_result, unscripted};
use super::server_for;
use crate::scripts::todo;
use crate::server::{TestServer, json_of};

#[tokio::test]
async fn a_block_gives_the_copilot_a_task_and_outputs_its_response() {
    let model = ModelServer::start().await;
    script_model(&model, |words, step, _| match (words, step) {
        ("Plan the voyage.", 0) => Script::default().call(&[todo("call_1", "look at the tides")]),
        ("Plan the voyage.", 1) => Script::text("Leave at dawn."),
        _ => unscripted(words, step),
    });
    let server = server_for(&model, &[("EXECUTION_SLOTS", "1")]);
    let run = asking("Plan the voyage.", 3).save(&server, "Planner").await.start(&server).await;
    let ended = run.completed(&server).await;
    assert_eq!(ended["outputs"]["answer"], json!(["Leave at dawn."]));
    let given = &node_execution_of(&ended, "copilot")["output_data"];
    assert_eq!(given["tool_calls"][0][0]["tool_name"], "todo_write", "{given}");
    assert!(given["token_usage"][0]["total_tokens"].as_u64().is_some(), "{given}");
    // The block creates an ordinary session.
    let session = server.read_session(&text(&given["session_id"][0])).await;
    let rows = session["messages"].as_array().expect("rows");
    assert_eq!(rows[0]["content"], "Plan the voyage.");
    assert_eq!(rows.last().expect("rows")["content"], "Leave at dawn.");
    model.assert_no_violations();
}

#[tokio::test]
async fn a_copilot_turn_of_an_execution_survives_a_crash_and_is_stopped_with_it() {
    let hanging_flag = Arc::new(AtomicBool::new(true));
    let model = ModelServer::start().await;
    let hanging = hanging_flag.clone();
    script_model(&model, move |_, _, _| match hanging.load(Ordering::Relaxed) {
        true => Script::default().say("Let me think").hang(),
        false => Script::text("Forty-two."),
    });
    let mut server = server_for(&model, &[]);
    let agent = asking("What is it?", 1).save(&server, "Asking").await;
    let survivor = agent.start(&server).await;
    model.wait_for_requests(1).await;
    server.kill9();
    hanging_flag.store(false, Ordering::Relaxed);
    server.restart();
    let ended = survivor.completed(&server).await;
    assert_eq!(ended["outputs"], json!({"answer": ["Forty-two."]}));
    assert_eq!(node_execution_of(&ended, "copilot")["status"], "COMPLETED");
    assert_eq!(sessions(&server).await.len(), 1, "the same session was found again");
    assert_eq!(steps_of(&model.requests(), "What is it?"), 2, "asked again once");

    hanging_flag.store(true, Ordering::Relaxed);
    let stopped = agent.start(&server).await;
    model.wait_for_requests(3).await;
    assert_eq!(stopped.stop(&server).await["status"], "TERMINATED");
    let requests = model.wait_until_idle().await;
    assert_eq!(requests[2].ending, ResponseEnd::ClientLeft, "the model request was aborted");
    let newest = sessions(&server).await.remove(0);
    let session = server.read_session(&text(&newest["id"])).await;
    assert_eq!(session["active_stream"], Value::Null, "{session}");
}

#[tokio::test]
async fn recursive_copilots_have_a_depth_limit() {
    let model = ModelServer::start().await;
    let server = server_for(&model, &[]);
    let agent = asking("Go deeper.", 2).save(&server, "Deeper").await;
    let entry = json_of(
        server
            .get(&format!("/library/agents/by-graph/{}", agent.id))
            .send()
            .await
            .expect("an answer"),
    )
    .await;
    let id = text(&entry["id"]);
    script_model(&model, move |words, step, request: &RecordedRequest| match (words, step) {
        ("Go deeper.", 0) => Script::tool(
            "call_1",
            "run_agent",
            &json!({"library_agent_id": id, "use_defaults": true, "wait_for_result": 60}),
        ),
        ("Go deeper.", 1) => {
            let run = &tool_result(request, "call_1")["execution"];
            let below = run["outputs"]["answer"][0].as_str();
            let failed = run["nodes_failed"][0]["error"].as_str();
            Script::text(&format!("> {}", below.or(failed).unwrap_or("nothing")))
        }
        _ => unscripted(words, step),
    });
    let ended = agent.start(&server).await.completed(&server).await;
    let answer = text(&ended["outputs"]["answer"][0]);
    assert!(answer.starts_with("> > The copilot was asked by an agent"), "{answer}");
    assert_eq!(steps_of(&model.requests(), "Go deeper."), 4, "two copilots, two steps each");
    model.assert_no_violations();
}

fn asking(prompt: &str, depth: u32) -> GraphBuilder {
    GraphBuilder::default()
        .node("copilot", AUTOPILOT, json!({"prompt": prompt, "max_recursion_depth": depth}))
        .output("answer", "copilot.response")
}

/// The sessions, the newest first.
async fn sessions(server: &TestServer) -> Vec<Value> {
    let list = json_of(server.get("/chat/sessions").send().await.expect("an answer")).await;
    list["sessions"].as_array().expect("a list").clone()
}
