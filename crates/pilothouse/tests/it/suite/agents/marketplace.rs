//! The marketplace: the examples of a fresh installation, and agents that users publish.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use crate::agent_fixtures::{ApiUser, UNKNOWN_ID, adder, names, read, text};
use crate::server::TestServer;

const EXAMPLES: [&str; 6] = [
    "approval-letter",
    "csv-report",
    "feed-digest",
    "invoice-calculator",
    "notes-to-tasks",
    "text-in-numbers",
];

async fn slugs(user: &ApiUser<'_>, query: &str) -> Vec<String> {
    let list = user.get(&format!("/store/agents{query}")).await;
    let mut slugs: Vec<String> =
        names(&list["agents"], "slug").into_iter().map(str::to_owned).collect();
    slugs.sort();
    slugs
}

#[tokio::test]
async fn a_fresh_installation_lists_its_examples_and_each_is_added_once() {
    let mut server = TestServer::start(ENGINE);
    assert_eq!(slugs(&ApiUser::local(&server), "").await, EXAMPLES);
    // Every start publishes the examples; the second one finds them already listed.
    server.restart();
    let user = ApiUser::local(&server);
    assert_eq!(slugs(&user, "?creator=Pilothouse").await, EXAMPLES);
    assert_eq!(slugs(&user, "?category=WRITING").await, ["approval-letter", "text-in-numbers"]);
    assert_eq!(slugs(&user, "?featured=true").await.len(), 3);
    assert_eq!(slugs(&user, "?creator=nobody").await, [""; 0]);
    let found = user.get("/store/search?query=invoce%20calculator").await;
    assert_eq!(found["results"][0]["agent"]["slug"], "invoice-calculator", "{found}");
    assert_eq!(found["results"][0]["content_type"], "STORE_AGENT");

    for slug in EXAMPLES {
        let listing = user.get(&format!("/store/agents/pilothouse/{slug}")).await;
        assert!(!listing["input_schema"]["properties"].as_object().expect("pins").is_empty());
        assert_eq!(listing["has_human_in_the_loop"], slug == "approval-letter", "{slug}");
    }
    let shouted = user.get("/store/agents/Pilothouse/CSV-Report").await;
    assert_eq!(shouted["agent_name"], "CSV report");
    let refused = user.refused(Method::GET, "/store/agents/pilothouse/none", &Value::Null).await;
    assert_eq!(refused, (404, "STORE_AGENT_NOT_FOUND".to_owned()));

    let version = shouted["store_listing_version_id"].clone();
    let of_listing = format!("/library/agents/marketplace/{}", text(&version));
    let missing = (404, "LIBRARY_AGENT_NOT_FOUND".to_owned());
    assert_eq!(user.refused(Method::GET, &of_listing, &Value::Null).await, missing);
    let add = json!({"store_listing_version_id": version});
    let first = user.post("/library/agents", &add).await;
    assert_eq!(user.post("/library/agents", &add).await, first, "the existing entry");
    let library = user.get("/library/agents").await;
    assert_eq!(names(&library["agents"], "name"), ["CSV report"]);
    assert_eq!(user.get(&of_listing).await["id"], first["id"]);
    let nothing = json!({"store_listing_version_id": UNKNOWN_ID});
    let refused = user.refused(Method::POST, "/library/agents", &nothing).await;
    assert_eq!(refused, (404, "STORE_AGENT_NOT_FOUND".to_owned()));
}

fn submission(graph: &str, version: u32, slug: &str) -> Value {
    json!({"graph_id": graph, "graph_version": version, "slug": slug, "name": "Adder"})
}

#[tokio::test]
async fn a_published_agent_runs_at_the_version_each_user_has_added() {
    let server = jwt_server(&[]);
    let (anna, bert) = (ApiUser::named(&server, "anna"), ApiUser::named(&server, "bert"));
    let graph = anna.make(&adder("Adder", 10)).await;
    let path = format!("/graphs/{graph}");
    let missing = (404, "GRAPH_NOT_FOUND".to_owned());
    assert_eq!(
        bert.refused(Method::GET, &path, &Value::Null).await,
        missing,
        "a draft is visible to its owner only"
    );
    let stolen = submission(&graph, 1, "stolen");
    let publish = "/store/submissions";
    assert_eq!(bert.refused(Method::POST, publish, &stolen).await, missing);

    let mut first = submission(&graph, 1, "adder");
    first["username"] = json!("anna-makes");
    let listed = anna.post(publish, &first).await;
    assert!(!listed.to_string().contains("\"anna\""), "the owner stays private: {listed}");
    let found = bert.get("/store/agents/anna-makes/adder").await;
    let add = json!({"store_listing_version_id": found["store_listing_version_id"]});
    let entry = bert.post("/library/agents", &add).await;
    assert_eq!(entry["creator"], "anna-makes");
    assert_eq!(bert.outputs(&graph, &json!({"n": 1})).await, json!({"sum": [11]}));

    // An edit is a draft until it is published, and even then bert keeps the version he added.
    anna.done(Method::PUT, &path, &adder("Adder", 20)).await;
    let second = format!("{path}/versions/2");
    assert_eq!(bert.refused(Method::GET, &second, &Value::Null).await, missing);
    assert_eq!(bert.outputs(&graph, &json!({"n": 1})).await, json!({"sum": [11]}));
    anna.post(publish, &submission(&graph, 2, "adder")).await;
    let found = bert.get("/store/agents/anna-makes/adder").await;
    assert_eq!((&found["graph_version"], &found["runs"]), (&json!(2), &json!(2)));
    assert_eq!(bert.get(&second).await["version"], 2, "now it can be seen");
    assert_eq!(bert.outputs(&graph, &json!({"n": 1})).await, json!({"sum": [11]}));
    let entry = format!("/library/agents/{}", text(&entry["id"]));
    assert_eq!(bert.get(&entry).await["graph_version"], 1);
    let follow = json!({"use_graph_is_active_version": true});
    assert_eq!(bert.done(Method::PATCH, &entry, &follow).await["graph_version"], 2);
    anna.done(Method::PUT, &path, &adder("Adder", 30)).await;
    let followed = bert.outputs(&graph, &json!({"n": 1})).await;
    assert_eq!(followed, json!({"sum": [21]}), "he follows what is published, not her edits");

    for method in [Method::PUT, Method::DELETE] {
        assert_eq!(bert.refused(method, &path, &adder("Bert's", 1)).await, missing);
    }
    let refused = anna.refused(Method::DELETE, &path, &Value::Null).await;
    assert_eq!(refused, (409, "GRAPH_LISTED".to_owned()), "other users have added it");
    let berts = bert.make(&adder("Bert's", 1)).await;
    for (name, refused) in
        [("anna-makes", (409, "STORE_NAME_TAKEN")), ("pilothouse", (409, "STORE_NAME_TAKEN"))]
    {
        let mut taken = submission(&berts, 1, "adder");
        taken["username"] = json!(name);
        let (status, code) = bert.refused(Method::POST, publish, &taken).await;
        assert_eq!((status, code.as_str()), refused, "{name}");
    }
    for bad in [submission(&berts, 1, "Not a slug"), json!({"graph_id": berts, "slug": "x"})] {
        assert_eq!(bert.refused(Method::POST, publish, &bad).await.0, 422, "{bad}");
    }
    assert_eq!(bert.refused(Method::POST, publish, &submission(&berts, 7, "x")).await, missing);
}

#[tokio::test]
async fn an_agent_is_published_after_the_agents_that_it_runs() {
    let server = jwt_server(&[]);
    let (anna, bert) = (ApiUser::named(&server, "anna"), ApiUser::named(&server, "bert"));
    let made = anna.make(&read("crew-greeting.json")).await;
    let exported = anna.get(&format!("/graphs/{made}?for_export=true")).await;
    let inner = text(&exported["sub_graphs"][0]["id"]);
    let publish = "/store/submissions";
    let alone = anna.call(Method::POST, publish, &submission(&made, 1, "crew")).await;
    assert_eq!((alone.0, &alone.1["code"]), (400, &json!("BAD_REQUEST")));
    assert!(
        text(&alone.1["detail"]).contains(inner),
        "the error names the inner agent: {}",
        alone.1
    );
    for (graph, slug) in [(inner, "greeting"), (&made, "crew")] {
        anna.post(publish, &submission(graph, 1, slug)).await;
    }
    let greeted = bert.outputs(&made, &json!({"Crew": ["Ida"]})).await;
    assert_eq!(greeted, json!({"Greetings": ["Good day, Ida!"]}));
}
