//! Agents as documents: created, changed in versions, exported and imported again.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::{
    AGENT, ApiUser, INPUT, OUTPUT, UNKNOWN_ID, adder, graph, names, read, text,
};
use crate::server::TestServer;

#[tokio::test]
async fn every_edit_creates_a_version_and_any_version_can_be_active() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let made = user.post("/graphs", &json!({"graph": adder("Adder", 10), "source": "test"})).await;
    let id = text(&made["id"]);
    let path = format!("/graphs/{id}");
    assert_eq!((&made["version"], &made["is_active"]), (&json!(1), &json!(true)));
    assert_eq!(made["input_schema"]["properties"]["n"]["default"], 1);
    assert_eq!(user.get(&path).await, made, "it is read as it was created");

    let changed = user.done(Method::PUT, &path, &adder("Adder of twenty", 20)).await;
    assert_eq!(changed["version"], 2);
    let versions = user.get(&format!("{path}/versions")).await;
    let shown = |meta: &Value| (meta["version"].clone(), meta["is_active"].clone());
    let shown: Vec<_> = versions.as_array().expect("a list").iter().map(shown).collect();
    assert_eq!(shown, [(json!(2), json!(true)), (json!(1), json!(false))]);
    let first = user.get(&format!("{path}/versions/1")).await;
    assert_eq!(first["nodes"], made["nodes"], "a version never changes");
    assert_eq!(user.outputs(id, &json!({"n": 1})).await, json!({"sum": [21]}));
    let one = user.post(&format!("{path}/execute/1"), &json!({"inputs": {"n": 1}})).await;
    assert_eq!(user.wait_for(&one).await["outputs"], json!({"sum": [11]}));

    let active = |version: u32| json!({"active_graph_version": version});
    let activate = format!("{path}/versions/active");
    user.done(Method::PUT, &activate, &active(1)).await;
    assert_eq!(user.get(&path).await["nodes"], made["nodes"]);
    assert_eq!(
        user.entry(id).await["graph_version"],
        1,
        "the library entry has the active version"
    );
    assert_eq!(user.outputs(id, &json!({"n": 1})).await, json!({"sum": [11]}));
    assert_eq!(names(&user.get("/graphs").await, "name"), ["Adder"], "one agent, not two");

    let missing = (404, "GRAPH_NOT_FOUND".to_owned());
    assert_eq!(user.refused(Method::PUT, &activate, &active(3)).await, missing);
    let unknown = format!("/graphs/{UNKNOWN_ID}");
    assert_eq!(user.refused(Method::PUT, &unknown, &adder("x", 1)).await, missing);
    let mut other = adder("x", 1);
    other["id"] = json!(UNKNOWN_ID);
    let refused = user.refused(Method::PUT, &path, &other).await;
    assert_eq!(refused, (400, "BAD_REQUEST".to_owned()), "the body names another agent");

    let deleted = user.done(Method::DELETE, &path, &Value::Null).await;
    assert_eq!(deleted, json!({"version_counts": 2}));
    assert_eq!(user.refused(Method::GET, &path, &Value::Null).await, missing);
    assert_eq!(
        user.get("/library/agents").await["agents"],
        json!([]),
        "its library entry is deleted, too"
    );
}

#[tokio::test]
async fn an_agent_that_left_the_library_can_still_be_changed() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&adder("Adder", 1)).await;
    let entry = user.entry(&id).await;
    let entry = format!("/library/agents/{}", text(&entry["id"]));
    user.done(Method::DELETE, &entry, &Value::Null).await;
    let changed = user.done(Method::PUT, &format!("/graphs/{id}"), &adder("Adder", 2)).await;
    assert_eq!(changed["version"], 2);
    assert_eq!(user.outputs(&id, &json!({"n": 1})).await, json!({"sum": [3]}));
}

#[tokio::test]
async fn an_exported_agent_is_imported_unchanged_with_its_sub_agents() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let export = async |id: &str| user.get(&format!("/graphs/{id}?for_export=true")).await;
    let id = user.make(&read("crew-greeting.json")).await;
    let exported = export(&id).await;
    assert_eq!(names(&exported["sub_graphs"], "name"), ["Greeting"]);
    assert!(exported.get("user_id").is_none(), "an exported file does not name its owner");

    // If its ids are free, the import restores it unchanged.
    for graph in [&exported, &exported["sub_graphs"][0]] {
        let path = format!("/graphs/{}", text(&graph["id"]));
        user.done(Method::DELETE, &path, &Value::Null).await;
    }
    assert_eq!(user.make(&exported).await, id);
    assert_eq!(export(&id).await, exported);

    // If it still exists, the import creates another agent that runs its own copy of the inner one.
    let copy = user.make(&exported).await;
    let copied = export(&copy).await;
    assert_ne!(copy, id);
    assert_eq!(copied["forked_from_id"], json!(id));
    assert_ne!(copied["sub_graphs"][0]["id"], exported["sub_graphs"][0]["id"]);
    assert_eq!(export(&id).await, exported, "the original is unchanged");
    let greeted = user.outputs(&copy, &json!({"Crew": ["Ida"]})).await;
    assert_eq!(greeted, user.outputs(&id, &json!({"Crew": ["Ida"]})).await);
}

/// An agent that passes its input on to another agent.
fn wrapper(name: &str, id: &str, inner: (&str, u32)) -> Value {
    let runs = json!({"graph_id": inner.0, "graph_version": inner.1, "inputs": {}});
    let mut graph = graph(
        name,
        &[
            ("n", INPUT, json!({"name": "n", "value": 1})),
            ("run", AGENT, runs),
            ("sum", OUTPUT, json!({"name": "sum"})),
        ],
        &["n.result -> run.n", "run.sum -> sum.value"],
    );
    graph["id"] = json!(id);
    graph
}

#[tokio::test]
async fn agents_in_one_file_find_each_other_in_any_order() {
    const INNER: &str = "1c7a0a52-5c1e-4f0a-9d5e-0d8f6f4d1a01";
    const MIDDLE: &str = "1c7a0a52-5c1e-4f0a-9d5e-0d8f6f4d1a02";
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let mut inner = adder("Inner", 5);
    (inner["id"], inner["version"]) = (json!(INNER), json!(4));
    let mut middle = wrapper("Middle", MIDDLE, (INNER, 4));
    middle["version"] = json!(7);
    for (number, within) in [[&inner, &middle], [&middle, &inner]].into_iter().enumerate() {
        let mut outer = wrapper("Outer", &format!("outer-{number}"), (MIDDLE, 7));
        outer["sub_graphs"] = json!(within);
        let id = user.make(&outer).await;
        assert_eq!(user.outputs(&id, &json!({"n": 2})).await, json!({"sum": [7]}), "{number}");
        let exported = user.get(&format!("/graphs/{id}?for_export=true")).await;
        let mut held = names(&exported["sub_graphs"], "name");
        held.sort_unstable();
        assert_eq!(held, ["Inner", "Middle"]);
    }
}
