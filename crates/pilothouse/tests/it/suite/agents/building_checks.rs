//! Agents as documents: validated, fixed and compared, without being saved.

use reqwest::Method;
use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use super::building::TIDES;
use crate::agent_fixtures::{ApiUser, CALCULATOR, adder, graph, names, read, text};
use crate::server::TestServer;

#[tokio::test]
async fn a_valid_agent_has_no_errors_however_it_is_given() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let compiled = user.post("/agents/compile", &json!({"spec": TIDES})).await;
    for body in [
        json!({"spec": TIDES}),
        json!({"agent_json": compiled["agent_json"]}),
        json!({"graph_id": id, "graph_version": 1}),
        json!({"agent_json": read("calculator.json")}),
    ] {
        let report = user.post("/agents/validate", &body).await;
        assert_eq!((&report["valid"], &report["state"]), (&json!(true), &json!("valid")));
        assert_eq!((&report["errors"], &report["warnings"]), (&json!([]), &json!([])));
        assert_eq!(report["needs"], json!({"credentials": [], "blocks": [], "agents": []}));
    }
}

#[tokio::test]
async fn every_fault_of_an_agent_is_reported_with_its_code_and_place() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let faulty = read("../agents-faulty/ten-faults.json");
    let report = user.post("/agents/validate", &json!({"agent_json": faulty})).await;
    let errors = report["errors"].as_array().expect("errors");
    let found: Vec<_> =
        errors.iter().map(|error| (text(&error["code"]), text(&error["path"]))).collect();
    let planted = [
        ("duplicate_input", "inputs.harbor"),
        ("missing_input", "steps.sum.b"),
        ("wrong_input", "steps.scale.operation"),
        ("unknown_block", "steps.mystery.block"),
        ("unknown_output", "steps.rounds.a"),
        ("unknown_input", "steps.level.weather"),
        ("type_mismatch", "steps.height.a"),
        ("missing_node", "steps.note.values.x"),
        ("endless_cycle", "steps.again"),
        ("unknown_agent", "steps.helper.agent"),
    ];
    assert_eq!(found, planted, "{report}");
    assert!(errors.iter().all(|error| error["node_id"].is_string()), "{report}");
    assert_eq!((&report["valid"], &report["state"]), (&json!(false), &json!("blocked")));
    assert_eq!(report["needs"]["blocks"][0]["id"], "00000000-0000-4000-8000-000000000000");

    let fixed = user.post("/agents/fix", &json!({"agent_json": faulty})).await;
    let mut repaired = names(&fixed["fixes"], "code");
    repaired.sort_unstable();
    assert_eq!(repaired, ["missing_node", "type_mismatch", "unknown_output"]);
    assert_eq!(fixed["valid_after_fix"], false);
    assert_eq!(fixed["remaining"].as_array().expect("a list").len(), 7, "{fixed}");
}

#[tokio::test]
async fn a_spec_that_cannot_be_read_is_an_answer_of_validate_and_a_refusal_elsewhere() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    for (spec, code) in [
        (json!("a: [1, 2"), "invalid_spec"),
        (
            json!({"name": "A", "steps": {"s": {"block": "Calculator"}}, "outputs": 3}),
            "invalid_spec",
        ),
        (json!({"name": "A", "inputs": {"n": "strng"}}), "unknown_type"),
        (json!({"name": "A", "steps": {"s": {"block": "Calculater"}}}), "unknown_block"),
    ] {
        let body = json!({"spec": spec});
        let report = user.post("/agents/validate", &body).await;
        assert_eq!(report["valid"], false, "{spec}");
        assert_eq!(report["errors"][0]["code"], code, "{report}");
        let refused = user.refused(Method::POST, "/agents/fix", &body).await;
        assert_eq!(refused, (400, "INVALID_GRAPH".to_owned()), "{spec}");
    }
    let unknown = json!({"graph_id": "nowhere"});
    for path in ["/agents/validate", "/agents/fix"] {
        let refused = user.refused(Method::POST, path, &unknown).await;
        assert_eq!(refused, (404, "GRAPH_NOT_FOUND".to_owned()), "{path}");
        let refused = user.refused(Method::POST, path, &json!({})).await;
        assert_eq!(refused, (422, "VALIDATION_ERROR".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_misspelled_pin_is_fixed_and_the_agent_runs() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let mut broken = adder("Adder", 10);
    broken["links"][1]["source_name"] = json!("reslt");
    assert_eq!(user.refused(Method::POST, "/graphs", &broken).await.1, "INVALID_GRAPH");
    let fixed = user.post("/agents/fix", &json!({"agent_json": broken})).await;
    assert_eq!(fixed["valid_after_fix"], true, "{fixed}");
    assert_eq!(
        (&fixed["fixes"][0]["code"], &fixed["remaining"]),
        (&json!("unknown_output"), &json!([]))
    );
    assert!(text(&fixed["spec"]).contains("block: "), "{fixed}");
    let id = user.make(&fixed["agent_json"]).await;
    assert_eq!(user.outputs(&id, &json!({"n": 1})).await, json!({"sum": [11]}));

    let again = user.post("/agents/fix", &json!({"agent_json": fixed["agent_json"]})).await;
    assert_eq!((&again["fixes"], &again["agent_json"]), (&json!([]), &fixed["agent_json"]));
}

#[tokio::test]
async fn two_versions_are_compared_by_their_meaning() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let id = user.make(&json!({"spec": TIDES})).await;
    let changed =
        TIDES.replace("b: 1,", "b: 2,").replace("height: number", "height: number\n  unit: string");
    user.done(Method::PUT, &format!("/graphs/{id}"), &json!({"spec": changed})).await;
    let version = |version: u32| json!({"graph_id": id, "graph_version": version});

    let diff = user.post("/agents/diff", &json!({"from": version(1), "to": version(2)})).await;
    let pins = &diff["steps"]["changed"][0];
    assert_eq!(
        (&pins["step"], &pins["pins"]),
        (&json!("high"), &json!([{"pin": "b", "from": 1, "to": 2}]))
    );
    assert_eq!(names(&diff["interface"]["inputs"]["added"], "name"), ["unit"]);
    assert_eq!(diff["interface"]["inputs"]["breaking"], true, "a required input is new");

    // A spec has no ids and positions, so these do not count.
    for (from, to) in [(version(1), version(1)), (version(1), json!({"spec": TIDES}))] {
        let same = user.post("/agents/diff", &json!({"from": from, "to": to})).await;
        assert!(is_empty(&same), "{same}");
    }
    let nowhere = json!({"from": version(1), "to": version(9)});
    let refused = user.refused(Method::POST, "/agents/diff", &nowhere).await;
    assert_eq!(refused, (404, "GRAPH_NOT_FOUND".to_owned()));
    let lonely = graph("Lonely", &[("add", CALCULATOR, json!({"operation": "Add"}))], &[]);
    let incomplete = json!({"from": {"agent_json": lonely}, "to": {"agent_json": lonely}});
    assert!(is_empty(&user.post("/agents/diff", &incomplete).await), "drafts are compared, too");
}

#[tokio::test]
async fn a_difference_lists_the_agents_that_use_the_agent() {
    let server = jwt_server(&[]);
    let (anna, ben) = (ApiUser::named(&server, "anna"), ApiUser::named(&server, "ben"));
    let id = anna.make(&json!({"spec": TIDES})).await;
    let changed = TIDES.replace("b: 1,", "b: 2,");
    anna.done(Method::PUT, &format!("/graphs/{id}"), &json!({"spec": changed})).await;
    let outer = |name: &str, version: u32| {
        let step = format!("{{agent: {id}@{version}, height: 1}}");
        json!({"spec": format!("name: {name}\nsteps: {{tide: {step}}}\noutputs: {{tide: tide.report}}\n")})
    };
    let old = anna.make(&outer("Old", 1)).await;
    let new = anna.make(&outer("New", 2)).await;
    // A text that contains the id is no use of the agent.
    let text = format!(
        "name: Note\nsteps: {{note: {{block: Store Value, input: \"{id}\"}}}}\noutputs: {{note: note.output}}"
    );
    anna.make(&json!({"spec": text})).await;
    let used_by = json!([
        {"kind": "agent", "id": new, "name": "New", "version": 2},
        {"kind": "agent", "id": old, "name": "Old", "version": 1},
    ]);
    let version = |version: u32| json!({"graph_id": id, "graph_version": version});
    let diff = anna.post("/agents/diff", &json!({"from": version(1), "to": version(2)})).await;
    assert_eq!(diff["used_by"], used_by, "{diff}");
    let script = json!([{"op": "set", "step": "high", "pin": "b", "value": 5}]);
    let path = format!("/graphs/{id}/edits");
    let edited = anna.post(&path, &json!({"base_version": 2, "edits": script})).await;
    assert_eq!(edited["diff"]["used_by"], used_by, "{edited}");
    let (status, stale) =
        anna.call(Method::POST, &path, &json!({"base_version": 2, "edits": script})).await;
    assert_eq!((status, &stale["diff"]["used_by"]), (409, &used_by), "{stale}");
    let nobody = json!({"from": {"spec": TIDES}, "to": {"spec": changed}});
    assert_eq!(ben.post("/agents/diff", &nobody).await["used_by"], json!([]));
}

#[tokio::test]
async fn a_refused_side_of_a_difference_is_named() {
    let server = TestServer::start(ENGINE);
    let user = ApiUser::local(&server);
    let good = json!({"spec": TIDES});
    let wrong = json!({"spec": TIDES.replace("block: Calculator", "block: Calculater")});
    let (missing, nothing) = (json!({"graph_id": "nowhere"}), json!({}));
    for (body, status) in [(&wrong, 400), (&missing, 404), (&nothing, 422)] {
        for (from, to, side) in [(body, &good, "from"), (&good, body, "to")] {
            let both = json!({"from": from, "to": to});
            let refused = user.call(Method::POST, "/agents/diff", &both).await;
            assert_eq!((refused.0, &refused.1["side"]), (status, &json!(side)), "{both}");
        }
    }
}

/// Whether nothing changed; costs and uses are always listed.
pub(crate) fn is_empty(diff: &Value) -> bool {
    fn no_entries(value: &Value) -> bool {
        match value {
            Value::Array(list) => list.is_empty(),
            Value::Object(members) => members.values().all(no_entries),
            other => *other == json!(false),
        }
    }
    let parts = ["about", "steps", "links", "interface", "effects", "credentials"];
    parts.iter().all(|part| no_entries(&diff[*part])) && diff["cost"]["from"] == diff["cost"]["to"]
}
