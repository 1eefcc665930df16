//! The copilot finds agents, runs them, and reads their outputs.

use serde_json::{Value, json};

use super::execution_fixtures::{COUNT_DOWN, GraphBuilder, text};
use super::tools_copilot::Copilot;

#[tokio::test]
async fn the_copilot_finds_an_agent_runs_it_and_reads_its_outputs() {
    let copilot = Copilot::start().await;
    let found = copilot.call("find_agent", json!({"query": "add up an invoice with tax"})).await;
    let name = text(&found["agents"][0]["id"]);
    assert_eq!(name, "pilothouse/invoice-calculator", "{found}");

    // Without inputs the tool lists them and runs nothing.
    let needs = copilot.call("run_agent", json!({"username_agent_slug": name})).await;
    assert_eq!(needs["type"], "agent_details", "{needs}");
    assert!(needs["agent"]["inputs"]["properties"]["tax_percent"].is_object(), "{needs}");
    let wrong = json!({"username_agent_slug": name, "inputs": {"color": "red"}});
    let refused = copilot.call("run_agent", wrong).await;
    assert_eq!(refused["unrecognized_fields"], json!(["color"]), "{refused}");

    let asked = json!({
        "username_agent_slug": name, "inputs": {"customer": "Ada"}, "use_defaults": true, "wait_for_result": 60,
    });
    let ran = copilot.call("run_agent", asked).await;
    assert_eq!(
        (&ran["type"], &ran["execution"]["status"]),
        (&json!("agent_output"), &json!("COMPLETED")),
        "{ran}"
    );
    assert!(ran["execution"]["outputs"].to_string().contains("Ada"), "{ran}");
    let mine = copilot.call("find_library_agent", json!({"query": "invoice"})).await;
    assert_eq!(mine["agents"][0]["id"], ran["library_agent_id"], "it was added to the library");

    let seen = copilot.call("view_agent_output", json!({"agent_name": "invoice"})).await;
    assert_eq!(seen["execution"]["execution_id"], ran["execution"]["execution_id"]);
    assert_eq!(seen["execution"]["outputs"], ran["execution"]["outputs"]);
    let before = json!({"store_slug": name, "run_time": "yesterday"});
    assert_eq!(copilot.call("view_agent_output", before).await["type"], "no_results");
    copilot.setup.model.assert_no_violations();
}

#[tokio::test]
async fn an_execution_continues_when_the_copilot_does_not_wait_and_can_be_awaited_later() {
    let copilot = Copilot::start().await;
    let server = &copilot.setup.server;
    let slow = GraphBuilder::default()
        .input("message", json!("nothing"))
        .node("wait", COUNT_DOWN, json!({"seconds": 2}))
        .link("message.result", "wait.input_message")
        .output("said", "wait.output_message");
    slow.save(server, "Tide table").await;
    let found = copilot.call("find_library_agent", json!({"query": "tide"})).await;
    let id = &found["agents"][0]["id"];

    let asked = json!({"library_agent_id": id, "inputs": {"message": "High water"}});
    let first = copilot.call("run_agent", asked).await;
    assert_eq!(first["type"], "execution_started", "{first}");
    let early = copilot.call("view_agent_output", json!({"library_agent_id": id})).await;
    assert_eq!(early["type"], "no_results", "only completed runs are shown at once: {early}");
    let patiently = json!({"execution_id": first["execution_id"], "wait_if_running": 60});
    let ended = copilot.call("view_agent_output", patiently).await;
    assert_eq!(ended["execution"]["status"], "COMPLETED", "{ended}");
    assert_eq!(ended["execution"]["outputs"], json!({"said": ["High water"]}));

    let asked = json!({"library_agent_id": id, "inputs": {"message": "Low water"}});
    let second = copilot.call("run_agent", asked).await;
    let newest =
        json!({"agent_name": "tide", "wait_if_running": 60, "show_execution_details": true});
    let newest = copilot.call("view_agent_output", newest).await;
    assert_eq!(newest["execution"]["execution_id"], second["execution_id"]);
    assert_eq!(newest["execution"]["outputs"], json!({"said": ["Low water"]}));
    assert_eq!(newest["execution"]["inputs_summary"], json!({"message": "Low water"}));
    let nodes: Vec<&Value> = newest["execution"]["node_executions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| &run["node_id"])
        .collect();
    assert_eq!(nodes, ["message", "wait", "out_said"]);
    assert_eq!(newest["total_executions"], 2);
    copilot.setup.model.assert_no_violations();
}
