//! Agents exported by other installations, in the newest and oldest versions of the file format.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::{ApiUser, read, text};
use crate::server::TestServer;

#[tokio::test]
async fn agents_exported_elsewhere_load_and_give_the_same_outputs() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let table = [
        ("calculator.json", json!({"Price": 10}), json!({"Price with surcharge": [44.5]})),
        (
            "crew-greeting.json",
            json!({"Crew": ["Ida", "Noor"]}),
            json!({"Greetings": ["Good day, Ida!", "Good day, Noor!"]}),
        ),
        (
            "manifest-totals.json",
            json!({}),
            json!({
                "lines": [["A1: 12500 kg"], ["A1: 12500 kg", "B2: 7000 kg"]],
                "first_id": ["A1"],
            }),
        ),
        ("old-format.json", json!({"Name": "Mara"}), json!({"Greeting": ["Hello Mara"]})),
    ];
    for (file, inputs, outputs) in table {
        let exported = read(file);
        let made = user.post("/graphs", &exported).await;
        assert_eq!(made["id"], exported["id"], "{file} keeps its id where it is free");
        assert_eq!(made["version"], 1, "{file} starts at version 1");
        let id = text(&made["id"]);
        assert_eq!(user.outputs(id, &inputs).await, outputs, "{file}");
    }
}

#[tokio::test]
async fn an_agent_with_unknown_blocks_is_refused_with_their_names() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let exported = read("berth-price-watch.json");
    let (status, body) = user.call(Method::POST, "/graphs", &exported).await;
    assert_eq!((status, &body["code"]), (400, &json!("INVALID_GRAPH")));
    let errors = body["errors"].as_array().expect("a list");
    let codes: Vec<&Value> = errors.iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["unknown_block", "unknown_block"], "nothing else is wrong with it");
    let said = ["1b4525af-5508-4186-9cae-8fc27b68a181", "704f3f29-128b-41a1-a9be-4ba7f7a178ec"]
        .map(|node| text(&body["node_errors"][node]["unknown_block"]));
    assert!(said[0].contains("ExtractWebsiteContentBlock") && said[0].contains("“Read the page”"));
    assert!(said[1].contains("SendEmailBlock") && said[1].contains("“Mail it”"));
    assert_eq!(user.get("/library/agents").await["agents"], json!([]));
}
