//! Folders of a library.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use crate::agent_fixtures::{ApiUser, UNKNOWN_ID, adder, names, text};
use crate::server::TestServer;

async fn folder(user: &ApiUser<'_>, name: &str, parent: Option<&str>) -> String {
    let made = user.post("/library/folders", &json!({"name": name, "parent_id": parent})).await;
    text(&made["id"]).to_owned()
}

#[tokio::test]
async fn folders_contain_agents_and_folders_but_never_themselves() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let work = folder(&user, "Work", None).await;
    let bills = folder(&user, "Bills", Some(&work)).await;
    let old = folder(&user, "Old", Some(&bills)).await;
    let mut agents = Vec::new();
    for name in ["In work", "In bills", "In old", "At the root"] {
        let graph = user.make(&adder(name, 1)).await;
        agents.push(user.entry(&graph).await["id"].clone());
    }
    let put = async |agents: &[Value], folder: Option<&str>| {
        let body = json!({"agent_ids": agents, "folder_id": folder});
        user.post("/library/folders/agents/bulk-move", &body).await
    };
    for (agent, folder) in agents.iter().zip([&work, &bills, &old]) {
        let moved = put(std::slice::from_ref(agent), Some(folder)).await;
        assert_eq!(moved[0]["folder_id"], json!(folder));
    }
    let tree = user.get("/library/folders/tree").await;
    assert_eq!(names(&tree["tree"], "name"), ["Work"]);
    assert_eq!(tree["tree"][0]["children"][0]["children"][0]["name"], "Old");
    let read = user.get(&format!("/library/folders/{work}")).await;
    assert_eq!((&read["agent_count"], &read["subfolder_count"]), (&json!(1), &json!(1)));
    let inside = async |query: String| {
        let list = user.get(&format!("/library/agents?sort_by=name{query}")).await;
        names(&list["agents"], "name").join(", ")
    };
    assert_eq!(inside(format!("&folder_id={bills}")).await, "In bills");
    assert_eq!(inside("&include_root_only=true".to_owned()).await, "At the root");

    let into = |folder: &str, parent: &str| {
        (format!("/library/folders/{folder}/move"), json!({"target_parent_id": parent}))
    };
    for target in [&work, &bills, &old] {
        let (path, body) = into(&work, target);
        let refused = user.refused(Method::POST, &path, &body).await;
        assert_eq!(refused, (409, "FOLDER_INSIDE_ITSELF".to_owned()), "Work into {target}");
    }
    let (path, body) = into(&old, &work);
    assert_eq!(user.post(&path, &body).await["parent_id"], json!(work));
    let twice = json!({"name": "Old", "parent_id": work});
    let taken = (409, "FOLDER_NAME_TAKEN".to_owned());
    assert_eq!(user.refused(Method::POST, "/library/folders", &twice).await, taken);
    let rename = format!("/library/folders/{old}");
    assert_eq!(user.refused(Method::PATCH, &rename, &json!({"name": "Bills"})).await, taken);
    let renamed = user.done(Method::PATCH, &rename, &json!({"color": "#1a2b3c"})).await;
    assert_eq!((&renamed["name"], &renamed["color"]), (&json!("Old"), &json!("#1a2b3c")));
    for bad in [json!({"name": ""}), json!({"name": "x", "color": "red"})] {
        let refused = user.refused(Method::POST, "/library/folders", &bad).await;
        assert_eq!(refused, (422, "VALIDATION_ERROR".to_owned()), "{bad}");
    }

    user.done(Method::DELETE, &format!("/library/folders/{work}"), &Value::Null).await;
    assert_eq!(user.get("/library/folders").await["folders"], json!([]), "with its subfolders");
    assert_eq!(
        inside("&include_root_only=true".to_owned()).await,
        "At the root, In bills, In old, In work",
        "no agent is lost"
    );
}

#[tokio::test]
async fn a_folder_accepts_nothing_of_another_user() {
    let server = jwt_server(&[]);
    let (anna, bert) = (ApiUser::named(&server, "anna"), ApiUser::named(&server, "bert"));
    let annas = folder(&anna, "Anna's", None).await;
    let graph = anna.make(&adder("Anna's", 1)).await;
    let agent = anna.entry(&graph).await["id"].clone();
    let berts = folder(&bert, "Bert's", None).await;

    let missing = (404, "FOLDER_NOT_FOUND".to_owned());
    let within = json!({"name": "x", "parent_id": annas});
    assert_eq!(bert.refused(Method::POST, "/library/folders", &within).await, missing);
    for target in [annas.as_str(), UNKNOWN_ID] {
        let path = format!("/library/folders/{berts}/move");
        let body = json!({"target_parent_id": target});
        assert_eq!(bert.refused(Method::POST, &path, &body).await, missing);
        let body = json!({"agent_ids": [agent], "folder_id": target});
        let path = "/library/folders/agents/bulk-move";
        assert_eq!(bert.refused(Method::POST, path, &body).await, missing);
    }
    let body = json!({"agent_ids": [agent], "folder_id": berts});
    let moved = bert.post("/library/folders/agents/bulk-move", &body).await;
    assert_eq!(moved, json!([]), "agents of other users are skipped");
    let list = anna.get("/library/agents?include_root_only=true").await;
    assert_eq!(names(&list["agents"], "name"), ["Anna's"]);
}
