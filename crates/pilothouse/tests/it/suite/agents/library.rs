//! The agents in a user's library: listed, searched, marked as favorite, hidden, copied.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use crate::agent_fixtures::{ApiUser, UNKNOWN_ID, adder, names, text};
use crate::server::TestServer;

/// The names of the agents in a list of the library.
async fn shown(user: &ApiUser<'_>, query: &str) -> Vec<String> {
    let list = user.get(&format!("/library/agents{query}")).await;
    names(&list["agents"], "name").into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn agents_are_listed_found_despite_typos_marked_and_hidden() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    for name in ["Tide table", "Invoice archive of the harbour", "Invoice", "Crew roster"] {
        user.make(&adder(name, 1)).await;
    }
    assert_eq!(shown(&user, "?sort_by=createdAt").await[0], "Crew roster", "the newest first");
    assert_eq!(
        shown(&user, "?sort_by=name").await,
        ["Crew roster", "Invoice", "Invoice archive of the harbour", "Tide table"]
    );
    for (words, first, count) in [
        ("invoice", "Invoice", 2),
        ("invocie", "Invoice", 2),
        ("harbour%20invoice", "Invoice archive of the harbour", 2),
        ("table%20tide", "Tide table", 1),
    ] {
        let found = shown(&user, &format!("?search_term={words}")).await;
        assert_eq!(found[0], first, "{words}: {found:?}");
        assert_eq!(found.iter().filter(|name| name.contains("nvoice")).count().max(1), count);
    }
    assert_eq!(shown(&user, "?search_term=zeppelin").await, [""; 0]);

    let page = user.get("/library/agents?sort_by=name&page=2&page_size=3").await;
    assert_eq!(names(&page["agents"], "name"), ["Tide table"]);
    let pagination = json!({"total_items": 4, "total_pages": 2, "current_page": 2, "page_size": 3});
    assert_eq!(page["pagination"], pagination);
    for bad in ["?page=0", "?page_size=101", "?sort_by=color"] {
        let path = format!("/library/agents{bad}");
        assert_eq!(user.refused(Method::GET, &path, &Value::Null).await.0, 422, "{bad}");
    }

    let all = user.get("/library/agents?sort_by=name").await;
    let path = |number: usize| format!("/library/agents/{}", text(&all["agents"][number]["id"]));
    let change =
        async |number: usize, body: Value| user.done(Method::PATCH, &path(number), &body).await;
    let favorite = change(3, json!({"is_favorite": true, "name": "Tides"})).await;
    assert_eq!(
        (&favorite["is_favorite"], &favorite["name"]),
        (&json!(true), &json!("Tides")),
        "{favorite}"
    );
    let favorites = user.get("/library/agents/favorites").await;
    assert_eq!(names(&favorites["agents"], "name"), ["Tides"]);
    change(0, json!({"is_hidden": true})).await;
    assert_eq!(shown(&user, "").await.len(), 3);
    assert_eq!(shown(&user, "?is_hidden=true").await, ["Crew roster"]);
    assert_eq!(user.get(&path(0)).await["name"], "Crew roster", "hidden, not deleted");
    for bad in [json!({"name": " "}), json!({"color": "red"})] {
        assert_eq!(user.refused(Method::PATCH, &path(1), &bad).await.0, 422, "{bad}");
    }
    let missing = format!("/library/agents/{UNKNOWN_ID}");
    let refused = user.refused(Method::PATCH, &missing, &json!({"is_favorite": true})).await;
    assert_eq!(refused, (404, "LIBRARY_AGENT_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_fork_of_an_agent_belongs_to_the_user_and_the_original_stays() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let listing = user.get("/store/agents/pilothouse/invoice-calculator").await;
    let add = json!({"store_listing_version_id": listing["store_listing_version_id"]});
    let added = user.post("/library/agents", &add).await;
    let original = text(&added["graph_id"]).to_owned();
    assert_eq!(
        (&added["is_created_by_user"], &added["creator"]),
        (&json!(false), &json!("pilothouse"))
    );
    let change = user.refused(Method::PUT, &format!("/graphs/{original}"), &adder("x", 1)).await;
    assert_eq!(change, (404, "GRAPH_NOT_FOUND".to_owned()), "it belongs to another user");

    let fork = format!("/library/agents/{}/fork", text(&added["id"]));
    let forked = user.post(&fork, &Value::Null).await;
    let copy = text(&forked["graph_id"]).to_owned();
    assert_ne!(copy, original);
    assert_eq!(forked["is_created_by_user"], true);
    let graph = user.get(&format!("/graphs/{copy}")).await;
    assert_eq!(graph["forked_from_id"], json!(original));
    assert_eq!(
        user.outputs(&copy, &json!({})).await,
        user.outputs(&original, &json!({})).await,
        "it does the same"
    );
    let changed = user.done(Method::PUT, &format!("/graphs/{copy}"), &adder("Mine", 1)).await;
    assert_eq!(changed["version"], 2);
    let kept = user.get(&format!("/graphs/{original}")).await;
    assert_eq!(
        (&kept["version"], &kept["name"]),
        (&added["graph_version"], &json!("Invoice calculator"))
    );
}
