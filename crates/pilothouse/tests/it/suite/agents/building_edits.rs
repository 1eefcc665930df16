//! Edits of stored agents: transactions on a known version, undone and restored.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use super::building::TIDES;
use super::building_checks::is_empty;
use crate::agent_fixtures::{ApiUser, adder, text};
use crate::server::TestServer;

/// How many people edit the same version at once.
const AT_ONCE: usize = 10;

fn edits(base: u32, edits: &Value) -> Value {
    json!({"base_version": base, "edits": edits, "note": "for the record"})
}

async fn content(user: &ApiUser<'_>, id: &str, version: u32) -> (Value, Value) {
    let graph = user.get(&format!("/graphs/{id}/versions/{version}")).await;
    (graph["nodes"].clone(), graph["links"].clone())
}

#[tokio::test]
async fn edits_are_one_transaction_whose_result_runs() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let path = format!("/graphs/{id}/edits");
    let script = json!([
        {"op": "add_step", "step": "double", "with": {"block": "Calculator", "operation": "Multiply", "b": 2, "round_result": true}},
        {"op": "connect", "from": "high.result", "to": "double.a"},
        {"op": "set_outputs", "outputs": {"report": "greet.output", "twice": "double.result"}},
    ]);
    let edited = user.post(&path, &edits(1, &script)).await;
    assert_eq!(
        (&edited["graph"]["version"], &edited["graph"]["is_active"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(edited["diff"]["steps"]["added"][0]["step"], "double", "{}", edited["diff"]);
    let outputs = user.outputs(&id, &json!({"height": 4})).await;
    assert_eq!(outputs, json!({"report": ["Vlissingen: 5 m"], "twice": [10]}));

    // The second edit is wrong, so the first one is not applied, either.
    let refused = json!([
        {"op": "set", "step": "high", "pin": "b", "value": 7},
        {"op": "connect", "from": "nobody.result", "to": "double.a"},
    ]);
    let (status, answer) = user.call(Method::POST, &path, &edits(2, &refused)).await;
    assert_eq!((status, &answer["code"]), (400, &json!("INVALID_GRAPH")));
    assert_eq!(answer["errors"][0]["path"], "edits[1]", "{answer}");
    // A script whose result cannot run is refused, unless a draft is wanted.
    let incomplete = json!([{"op": "set", "step": "high", "pin": "a"}]);
    assert_eq!(user.refused(Method::POST, &path, &edits(2, &incomplete)).await.1, "INVALID_GRAPH");
    assert_eq!(user.get(&format!("/graphs/{id}/versions")).await.as_array().map(Vec::len), Some(2));
    let mut draft = edits(2, &incomplete);
    draft["draft"] = json!(true);
    let saved = user.post(&path, &draft).await;
    assert_eq!(
        (&saved["graph"]["version"], &saved["graph"]["is_active"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(user.get(&format!("/graphs/{id}")).await["version"], 2, "what runs stays");

    for body in [
        json!({"base_version": 3, "edits": [{"op": "dance"}]}),
        json!({"edits": []}),
        json!({"base_version": 3, "edits": {}}),
    ] {
        let refused = user.refused(Method::POST, &path, &body).await;
        assert_eq!(refused, (422, "VALIDATION_ERROR".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn an_edit_of_an_old_version_is_refused_with_what_changed_since() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let path = format!("/graphs/{id}/edits");
    let set = |value: i64| json!([{"op": "set", "step": "high", "pin": "b", "value": value}]);
    user.post(&path, &edits(1, &set(2))).await;
    let (status, answer) = user.call(Method::POST, &path, &edits(1, &set(3))).await;
    assert_eq!((status, &answer["code"]), (409, &json!("STALE_VERSION")));
    assert_eq!(answer["newest_version"], 2);
    let pins = &answer["diff"]["steps"]["changed"][0]["pins"];
    assert_eq!(*pins, json!([{"pin": "b", "from": 1, "to": 2}]), "{answer}");
    let unknown = user.refused(Method::POST, &path, &edits(9, &set(3))).await;
    assert_eq!(unknown, (404, "GRAPH_NOT_FOUND".to_owned()));
    assert_eq!(user.get(&format!("/graphs/{id}")).await["version"], 2);
}

#[tokio::test]
async fn of_edits_made_at_once_exactly_one_is_saved() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let path = format!("/graphs/{id}/edits");
    let all = (0..AT_ONCE).map(|number| {
        let script = json!([{"op": "set", "step": "high", "pin": "b", "value": 100 + number}]);
        let (user, path) = (&user, &path);
        async move { user.call(Method::POST, path, &edits(1, &script)).await }
    });
    let answers = join_all(all).await;
    let (saved, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|(status, _)| *status == 200);
    assert_eq!(saved.len(), 1, "{answers:?}");
    for (status, answer) in refused {
        assert_eq!((*status, &answer["code"]), (409, &json!("STALE_VERSION")));
        assert_eq!(answer["newest_version"], 2);
    }
    let versions = user.get(&format!("/graphs/{id}/versions")).await;
    assert_eq!(versions.as_array().map(Vec::len), Some(2));
    let stored = user.post("/agents/decompile", &json!({"graph_id": id})).await;
    let wanted = &saved[0].1["diff"]["steps"]["changed"][0]["pins"][0]["to"];
    assert!(text(&stored["spec"]).contains(&format!("b: {wanted}")), "{stored}");
}

#[tokio::test]
async fn edits_are_undone_and_versions_are_restored() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let path = format!("/graphs/{id}/edits");
    let script = json!([
        {"op": "rename", "step": "high", "to": "highest"},
        {"op": "remove", "step": "outputs.alarm"},
        {"op": "remove", "step": "check"},
        {"op": "set", "step": "inputs.harbor", "pin": "default", "value": "Brest"},
    ]);
    let edited = user.post(&path, &edits(1, &script)).await;
    assert_eq!(user.outputs(&id, &json!({"height": 1})).await, json!({"report": ["Brest: 2 m"]}));

    let undone = user.post(&path, &edits(2, &edited["undo"])).await;
    assert_eq!(undone["graph"]["version"], 3);
    let versions = |from: u32, to: u32| {
        let version = |version: u32| json!({"graph_id": id, "graph_version": version});
        json!({"from": version(from), "to": version(to)})
    };
    let diff = user.post("/agents/diff", &versions(1, 3)).await;
    assert!(is_empty(&diff), "{diff}");

    let restored = user.post(&format!("/graphs/{id}/versions/2/restore"), &Value::Null).await;
    assert_eq!((&restored["version"], &restored["is_active"]), (&json!(4), &json!(true)));
    assert_eq!(content(&user, &id, 4).await, content(&user, &id, 2).await);
    let first = user.post(&format!("/graphs/{id}/versions/1/restore"), &Value::Null).await;
    assert_eq!(first["version"], 5, "restoring never removes a version");
    assert_eq!(content(&user, &id, 5).await, content(&user, &id, 1).await);
    for version in ["9", "0", "first"] {
        let path = format!("/graphs/{id}/versions/{version}/restore");
        let refused = user.refused(Method::POST, &path, &Value::Null).await;
        assert_eq!(refused, (404, "GRAPH_NOT_FOUND".to_owned()), "{version}");
    }
}

#[tokio::test]
async fn edits_whose_undo_is_too_long_name_the_version_to_restore() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let steps: String = (0..501)
        .map(|number| format!("  s{number}: {{block: Store Value, input: inputs.note}}\n"))
        .collect();
    let spec = format!(
        "name: Many\ninputs: {{note: string}}\nsteps:\n{steps}outputs: {{last: s500.output}}\n"
    );
    let id = user.make(&json!({"spec": spec})).await;
    let path = format!("/graphs/{id}/edits");
    let mut script = edits(1, &json!([{"op": "remove", "step": "inputs.note"}]));
    script["draft"] = json!(true);
    let edited = user.post(&path, &script).await;
    assert_eq!((&edited["undo"], &edited["restore_version"]), (&json!([]), &json!(1)));
    let restored = user.post(&format!("/graphs/{id}/versions/1/restore"), &Value::Null).await;
    assert_eq!(restored["version"], 3);
    assert_eq!(content(&user, &id, 3).await, content(&user, &id, 1).await);

    let set = json!({"op": "set", "step": "s1", "pin": "input", "value": 1});
    let (status, refused) = user.call(Method::POST, &path, &edits(3, &json!(vec![set; 501]))).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (400, &json!("too_large")));
    assert!(text(&refused["errors"][0]["message"]).contains("restore an earlier version"));
    let short = json!([{"op": "set", "step": "s1", "pin": "input", "value": 1}]);
    let edited = user.post(&path, &edits(3, &short)).await;
    assert_eq!(
        (edited["undo"].as_array().map(Vec::len), &edited["restore_version"]),
        (Some(1), &Value::Null)
    );
}

#[tokio::test]
async fn an_agent_of_another_user_is_neither_edited_nor_restored() {
    let server = jwt_server(&[]);
    let (anna, ben) = (ApiUser::named(&server, "anna"), ApiUser::named(&server, "ben"));
    let id = anna.make(&adder("Adder", 10)).await;
    let script = json!([{"op": "remove", "step": "outputs.sum"}]);
    for (path, body) in [
        (format!("/graphs/{id}/edits"), edits(1, &script)),
        (format!("/graphs/{id}/edits"), edits(1, &json!([]))),
        (format!("/graphs/{id}/versions/1/restore"), Value::Null),
        ("/agents/validate".to_owned(), json!({"graph_id": id})),
        ("/agents/fix".to_owned(), json!({"graph_id": id})),
        ("/agents/rehearse".to_owned(), json!({"graph_id": id})),
        ("/agents/diff".to_owned(), json!({"from": {"graph_id": id}, "to": {"spec": TIDES}})),
    ] {
        let refused = ben.refused(Method::POST, &path, &body).await;
        assert_eq!(refused, (404, "GRAPH_NOT_FOUND".to_owned()), "{path}");
    }
    assert_eq!(anna.get(&format!("/graphs/{id}/versions")).await.as_array().map(Vec::len), Some(1));
}
