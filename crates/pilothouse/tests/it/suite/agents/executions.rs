//! Executions over the API: values on links, failed nodes, and how an execution is listed, read and deleted.

use serde_json::{Value, json};

use super::ENGINE;
use super::execution_fixtures::{
    CALCULATE, DICTIONARY, GraphBuilder, LIST, STEP_THROUGH, StartedExecution, TEMPLATE,
    node_execution_of, node_executions_of,
};
use crate::server::{Api, TestServer, json_of, refusal};

#[tokio::test]
async fn values_flow_along_links_of_every_kind() {
    let server = TestServer::start(ENGINE);
    let agent = GraphBuilder::default()
        .input("factor", json!(1))
        .input("name", json!("nobody"))
        .node("numbers", STEP_THROUGH, json!({"items": [1, 2, 3, 4]}))
        .node("times", CALCULATE, json!({"operation": "Multiply", "round_result": true}))
        .node(
            "kept",
            CALCULATE,
            json!({"operation": "Add", "a": 0, "b": 100, "round_result": true}),
        )
        .node("plus", CALCULATE, json!({"operation": "Add", "round_result": true}))
        .node("card", DICTIONARY, json!({"values": {"fixed": true}}))
        .node("pair", LIST, json!({"values": []}))
        .node(
            "letter",
            TEMPLATE,
            json!({"format": "{{ who }}: {{ what|join(', ') }}", "values": {}}),
        )
        // An input's value is kept, so that every number is multiplied by the same factor.
        .link("numbers.item", "times.a")
        .link("factor.result", "times.b")
        .output("products", "times.result")
        // So is the value of a static link.
        .link("numbers.item", "plus.a")
        .static_link("kept.result", "plus.b")
        .output("sums", "plus.result")
        // A node with links into nested fields of its input waits for all of them.
        .link("name.result", "card.values_#_who")
        .link("kept.result", "card.values_#_limit")
        .output("card", "card.dictionary")
        .link("factor.result", "pair.values_$_0")
        .link("kept.result", "pair.values_$_1")
        .link("pair.list", "letter.values_#_what")
        .link("card.dictionary_#_who", "letter.values_#_who")
        .output("letter", "letter.output");
    let agent = agent.save(&server, "Links").await;
    let inputs = json!({"factor": 10, "name": "Ada"});
    let run = agent.start_with(&server, inputs.clone()).await.completed(&server).await;
    assert_eq!(
        run["outputs"],
        json!({
            "products": [10, 20, 30, 40],
            "sums": [101, 102, 103, 104],
            "card": [{"fixed": true, "who": "Ada", "limit": 100}],
            "letter": ["Ada: 10, 100"],
        })
    );
    assert_eq!(run["inputs"], inputs);
    assert_eq!((&run["failed_nodes"], &run["stats"]["node_error_count"]), (&json!([]), &json!(0)));
    let second = node_executions_of(&run, "times")[1];
    assert_eq!(second["input_data"]["a"], 2);
    assert_eq!((&second["input_data"]["b"], &second["status"]), (&json!(10), &json!("COMPLETED")));
    assert_eq!(second["output_data"], json!({"result": [20]}));
    let all = run["node_executions"].as_array().expect("a list").len();
    assert_eq!((&run["node_total"], &run["stats"]["node_count"]), (&json!(all), &json!(all)));
    // Without inputs it runs with its defaults.
    let run = agent.start(&server).await.completed(&server).await;
    assert_eq!(run["outputs"]["letter"], json!(["nobody: 1, 100"]));
}

#[tokio::test]
async fn a_failing_node_reports_on_its_error_output_and_other_nodes_continue() {
    let server = TestServer::start(ENGINE);
    let agent = GraphBuilder::default()
        .node("divisors", STEP_THROUGH, json!({"items": [2, 0, 5]}))
        .node("divide", CALCULATE, json!({"operation": "Divide", "a": 10, "round_result": true}))
        .node("after", CALCULATE, json!({"operation": "Add", "b": 1, "round_result": true}))
        .link("divisors.item", "divide.b")
        .link("divide.result", "after.a")
        .output("results", "after.result")
        .output("failures", "divide.error");
    let run = agent.save(&server, "Division").await.start(&server).await.completed(&server).await;
    let why = "Division by zero.";
    assert_eq!(run["outputs"], json!({"results": [6, 3], "failures": [why]}));
    let failure = json!({"node_id": "divide", "block_name": "CalculatorBlock", "error": why});
    assert_eq!(run["failed_nodes"], json!([failure]));
    assert_eq!(run["stats"]["node_error_count"], 1);
    let divisions: Vec<&Value> =
        node_executions_of(&run, "divide").iter().map(|run| &run["status"]).collect();
    assert_eq!(divisions, ["COMPLETED", "FAILED", "COMPLETED"]);
    assert_eq!(node_executions_of(&run, "divide")[1]["output_data"], json!({"error": [why]}));
}

#[tokio::test]
async fn executions_are_listed_read_in_pages_awaited_and_deleted() {
    let server = TestServer::start(ENGINE);
    let agent = GraphBuilder::default()
        .node("numbers", STEP_THROUGH, json!({"items": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}))
        .node("next", CALCULATE, json!({"operation": "Add", "b": 1, "round_result": true}))
        .link("numbers.item", "next.a")
        .output("results", "next.result");
    let agent = agent.save(&server, "Ten").await;
    let first = agent.start(&server).await;
    let whole = first.completed(&server).await;
    assert_eq!(
        node_execution_of(&whole, "numbers")["output_data"]["item"],
        json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    );
    let second = agent.start(&server).await;
    second.completed(&server).await;

    let listed = get(&server, &format!("/graphs/{}/executions", agent.id)).await;
    let ids: Vec<&Value> =
        listed["executions"].as_array().expect("a list").iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, [&second.id, &first.id], "the newest first");
    assert_eq!(get(&server, "/executions?page_size=1").await[0]["id"], second.id);

    let mut paged = Vec::new();
    for offset in [0, 8, 16] {
        let page =
            get(&server, &format!("/executions/{}?node_offset={offset}&node_limit=8", first.id))
                .await;
        assert_eq!(page["node_total"], 21);
        paged.extend(page["node_executions"].as_array().expect("a list").clone());
    }
    assert_eq!(json!(paged), whole["node_executions"]);

    // Waiting for an execution that has ended returns at once.
    let waited =
        get(&server, &format!("/graphs/{}/executions/{}/wait?timeout=0", agent.id, first.id)).await;
    assert_eq!((&waited["status"], &waited["outputs"]), (&json!("COMPLETED"), &whole["outputs"]));

    assert_eq!(first.delete(&server).await.status(), 204);
    assert_eq!(first.delete(&server).await.status(), 404);
    let elsewhere = StartedExecution { graph: "another".to_owned(), ..second.clone() };
    for gone in [&first, &elsewhere] {
        let path = format!("/graphs/{}/executions/{}", gone.graph, gone.id);
        let read = server.get(&path).send().await.expect("an answer");
        assert_eq!(refusal(read).await, (404, "EXECUTION_NOT_FOUND".to_owned()));
    }
    second.completed(&server).await;
}

async fn get(api: &Api, path: &str) -> Value {
    json_of(api.get(path).send().await.expect("an answer")).await
}
