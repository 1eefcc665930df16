//! Agents found in the library and in the marketplace.

use ports::tool::ToolContext;
use protocol::session::Owner;
use serde_json::{Value, json};

use super::{Desk, said, shelf};

fn names(found: &Value) -> Vec<&str> {
    let agents = found["agents"].as_array().expect("agents");
    agents.iter().map(|agent| agent["name"].as_str().expect("a name")).collect()
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

#[tokio::test]
async fn an_agent_of_the_marketplace_is_found_by_words_and_by_its_name() {
    let desk = Desk::with_agents();
    for query in ["letter", "helm/letters", "customers letters"] {
        let found = desk.call("find_agent", json!({"query": query})).await;
        assert_eq!(names(&found), ["Letter writer"], "{query}");
        let agent = &found["agents"][0];
        assert_eq!(
            (&agent["id"], &agent["source"], &agent["in_library"], &agent["runs"]),
            (&json!("helm/letters"), &json!("marketplace"), &json!(false), &json!(3))
        );
        assert!(!has_null(&found), "{found}");
    }
    let none = desk.call("find_agent", json!({"query": "helm/nothing-like-it"})).await;
    assert_eq!(none["type"], "no_results");
}

#[tokio::test]
async fn a_search_of_the_marketplace_shows_five_and_says_what_the_user_has() {
    let desk = Desk::with_agents();
    for number in 0..7 {
        let listing = shelf::listing(&format!("letter-{number}"), "Letter", "One more.");
        desk.shelf.listings.lock().expect("free").push(listing);
    }
    let kept = shelf::entry("letters", "Mine", "");
    desk.shelf.entries.lock().expect("free").push(kept);
    let found = desk.call("find_agent", json!({"query": "letter"})).await;
    assert_eq!((&found["count"], names(&found).len()), (&json!(5), 5));
    let found = desk.call("find_agent", json!({"query": "helm/letters"})).await;
    assert_eq!(found["agents"][0]["in_library"], true);
    let anonymous = ToolContext { owner: Owner::Anonymous, ..desk.context() };
    let found = desk.call_in(anonymous, "find_agent", json!({"query": "helm/letters"})).await;
    assert_eq!(found["agents"][0]["in_library"], false, "nobody has a library");
}

#[tokio::test]
async fn the_library_is_searched_or_listed_without_what_is_hidden() {
    let desk = Desk::with_agents();
    let mut hidden = shelf::entry("old", "Word splitter", "");
    hidden.is_hidden = true;
    desk.shelf.entries.lock().expect("free").push(hidden);
    desk.shelf.entries.lock().expect("free").push(shelf::entry("bill", "Invoice maker", ""));
    let found = desk.call("find_library_agent", json!({"query": "wrd counter"})).await;
    assert_eq!(names(&found), ["Word counter"]);
    assert!(found["agents"][0]["match_score"].as_f64().expect("a score") > 0.0);
    for query in ["all", "*", "Everything", "any", "", "  "] {
        let found = desk.call("find_library_agent", json!({"query": query})).await;
        assert_eq!(names(&found), ["Word counter", "Invoice maker"], "{query:?}");
        assert!(found["agents"][0].get("match_score").is_none());
    }
    assert_eq!(names(&desk.call("find_library_agent", json!({})).await).len(), 2);
}

#[tokio::test]
async fn a_long_library_shows_its_first_fifty_and_ten_graphs() {
    let desk = Desk::with_agents();
    for number in 0..60 {
        let id = format!("more-{number}");
        desk.shelf.entries.lock().expect("free").push(shelf::entry(&id, "More words", ""));
        let agent = super::runs::agent(&format!("graph-{id}"), json!({}));
        desk.runs().agents.lock().expect("free").push(agent);
    }
    let arguments = json!({"query": "all", "include_graph": true});
    let found = desk.call("find_library_agent", arguments).await;
    assert_eq!(found["count"], 50);
    assert!(said(&found).starts_with("Showing 50 of 61"), "{}", said(&found));
    let agents = found["agents"].as_array().expect("agents");
    let with_graph = agents.iter().filter(|agent| agent.get("graph").is_some()).count();
    assert_eq!(with_graph, 10);
    let found = desk.call("find_library_agent", json!({"query": "words"})).await;
    assert_eq!(found["count"], 10);
}

#[tokio::test]
async fn an_agent_is_found_exactly_by_either_id_with_its_graph() {
    let desk = Desk::with_agents();
    for id in ["mine", " graph-mine "] {
        let arguments = json!({"agent_id": id, "include_graph": true});
        let found = desk.call("find_library_agent", arguments).await;
        let agent = &found["agents"][0];
        assert_eq!(
            (&agent["id"], &agent["graph"]["id"], &agent["has_external_trigger"]),
            (&json!("mine"), &json!("graph-mine"), &json!(false))
        );
        assert_eq!(agent["input_schema"]["required"], json!(["text"]));
        assert!(!has_null(&found), "{found}");
    }
    let none = desk.call("find_library_agent", json!({"agent_id": "min"})).await;
    assert_eq!(none["type"], "no_results", "an id is not guessed");
}

#[tokio::test]
async fn a_graph_is_written_to_the_workspace_but_not_in_a_dry_run() {
    let desk = Desk::with_agents();
    let arguments = json!({"agent_id": "mine", "write_graph_to": "/workspace/agents/mine.json"});
    let dry = ToolContext { dry_run: true, ..desk.context() };
    let pretended = desk.call_in(dry, "find_library_agent", arguments.clone()).await;
    assert!(said(&pretended).starts_with("Dry run"), "{}", said(&pretended));
    let path = desk.files.path().join("agents/mine.json");
    assert!(!path.exists());
    let written = desk.call("find_library_agent", arguments).await;
    assert!(written["agents"][0].get("graph").is_none(), "the file has it");
    let graph: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the file")).expect("JSON");
    assert_eq!(graph["id"], "graph-mine");
}

#[tokio::test]
async fn whoever_wants_to_make_an_agent_sees_those_that_serve_the_goal() {
    let desk = Desk::with_agents();
    desk.shelf.entries.lock().expect("free").push(shelf::entry("bill", "Invoice maker", ""));
    let arguments = json!({"for_creation": true, "goal_summary": "Make an invoice"});
    let found = desk.call("find_library_agent", arguments).await;
    assert_eq!(names(&found), ["Invoice maker"]);
    assert!(said(&found).contains("instead of creating a new one"), "{}", said(&found));
}
