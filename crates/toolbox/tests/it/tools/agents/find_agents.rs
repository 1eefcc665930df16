//! `find_agent` and `find_library_agent`.

use ports::tool::ToolContext;
use protocol::session::Owner;
use serde_json::{Value, json};

use super::{AgentTools, memory_store, message_of};

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
async fn a_marketplace_agent_is_found_by_words_and_by_its_slug() {
    let fixture = AgentTools::with_agents();
    for query in ["letter", "helm/letters", "customers letters"] {
        let found = fixture.call("find_agent", json!({"query": query})).await;
        assert_eq!(names(&found), ["Letter writer"], "{query}");
        let agent = &found["agents"][0];
        assert_eq!(
            (&agent["id"], &agent["source"], &agent["in_library"], &agent["runs"]),
            (&json!("helm/letters"), &json!("marketplace"), &json!(false), &json!(3))
        );
        assert!(!has_null(&found), "{found}");
    }
    let none = fixture.call("find_agent", json!({"query": "helm/nothing-like-it"})).await;
    assert_eq!(none["type"], "no_results");
}

#[tokio::test]
async fn a_marketplace_search_returns_five_agents_and_marks_those_in_the_library() {
    let fixture = AgentTools::with_agents();
    for number in 0..7 {
        let listing = memory_store::listing(&format!("letter-{number}"), "Letter", "One more.");
        fixture.store.listings.lock().expect("not poisoned").push(listing);
    }
    let kept = memory_store::entry("letters", "Mine", "");
    fixture.store.entries.lock().expect("not poisoned").push(kept);
    let found = fixture.call("find_agent", json!({"query": "letter"})).await;
    assert_eq!((&found["count"], names(&found).len()), (&json!(5), 5));
    let found = fixture.call("find_agent", json!({"query": "helm/letters"})).await;
    assert_eq!(found["agents"][0]["in_library"], true);
    let anonymous = ToolContext { owner: Owner::Anonymous, ..fixture.context() };
    let found = fixture.call_in(anonymous, "find_agent", json!({"query": "helm/letters"})).await;
    assert_eq!(found["agents"][0]["in_library"], false, "an anonymous user has no library");
}

#[tokio::test]
async fn the_library_is_searched_or_listed_without_hidden_agents() {
    let fixture = AgentTools::with_agents();
    let mut hidden = memory_store::entry("old", "Word splitter", "");
    hidden.is_hidden = true;
    fixture.store.entries.lock().expect("not poisoned").push(hidden);
    fixture.store.entries.lock().expect("not poisoned").push(memory_store::entry(
        "bill",
        "Invoice maker",
        "",
    ));
    let found = fixture.call("find_library_agent", json!({"query": "wrd counter"})).await;
    assert_eq!(names(&found), ["Word counter"]);
    assert!(found["agents"][0]["match_score"].as_f64().expect("a score") > 0.0);
    for query in ["all", "*", "Everything", "any", "", "  "] {
        let found = fixture.call("find_library_agent", json!({"query": query})).await;
        assert_eq!(names(&found), ["Word counter", "Invoice maker"], "{query:?}");
        assert!(found["agents"][0].get("match_score").is_none());
    }
    assert_eq!(names(&fixture.call("find_library_agent", json!({})).await).len(), 2);
}

#[tokio::test]
async fn a_long_library_shows_its_first_fifty_and_ten_graphs() {
    let fixture = AgentTools::with_agents();
    for number in 0..60 {
        let id = format!("more-{number}");
        fixture.store.entries.lock().expect("not poisoned").push(memory_store::entry(
            &id,
            "More words",
            "",
        ));
        let agent = super::fake_executions::agent(&format!("graph-{id}"), json!({}));
        fixture.runs().agents.lock().expect("not poisoned").push(agent);
    }
    let arguments = json!({"query": "all", "include_graph": true});
    let found = fixture.call("find_library_agent", arguments).await;
    assert_eq!(found["count"], 50);
    assert!(message_of(&found).starts_with("Showing 50 of 61"), "{}", message_of(&found));
    let agents = found["agents"].as_array().expect("agents");
    let with_graph = agents.iter().filter(|agent| agent.get("graph").is_some()).count();
    assert_eq!(with_graph, 10);
    let found = fixture.call("find_library_agent", json!({"query": "words"})).await;
    assert_eq!(found["count"], 10);
}

#[tokio::test]
async fn an_agent_is_found_exactly_by_either_id_with_its_graph() {
    let fixture = AgentTools::with_agents();
    for id in ["mine", " graph-mine "] {
        let arguments = json!({"agent_id": id, "include_graph": true});
        let found = fixture.call("find_library_agent", arguments).await;
        let agent = &found["agents"][0];
        assert_eq!(
            (&agent["id"], &agent["graph"]["id"], &agent["has_external_trigger"]),
            (&json!("mine"), &json!("graph-mine"), &json!(false))
        );
        assert_eq!(agent["input_schema"]["required"], json!(["text"]));
        assert!(!has_null(&found), "{found}");
    }
    let none = fixture.call("find_library_agent", json!({"agent_id": "min"})).await;
    assert_eq!(none["type"], "no_results", "an id is not guessed");
}

#[tokio::test]
async fn a_graph_is_written_to_the_workspace_but_not_in_a_dry_run() {
    let fixture = AgentTools::with_agents();
    let arguments = json!({"agent_id": "mine", "write_graph_to": "/workspace/agents/mine.json"});
    let dry = ToolContext { dry_run: true, ..fixture.context() };
    let pretended = fixture.call_in(dry, "find_library_agent", arguments.clone()).await;
    assert!(message_of(&pretended).starts_with("Dry run"), "{}", message_of(&pretended));
    let path = fixture.files.path().join("agents/mine.json");
    assert!(!path.exists());
    let written = fixture.call("find_library_agent", arguments).await;
    assert!(written["agents"][0].get("graph").is_none(), "the graph is in the file");
    let graph: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the file")).expect("JSON");
    assert_eq!(graph["id"], "graph-mine");
}

#[tokio::test]
async fn a_search_for_creation_matches_the_goal() {
    let fixture = AgentTools::with_agents();
    fixture.store.entries.lock().expect("not poisoned").push(memory_store::entry(
        "bill",
        "Invoice maker",
        "",
    ));
    let arguments = json!({"for_creation": true, "goal_summary": "Make an invoice"});
    let found = fixture.call("find_library_agent", arguments).await;
    assert_eq!(names(&found), ["Invoice maker"]);
    assert!(message_of(&found).contains("instead of creating a new one"), "{}", message_of(&found));
}
