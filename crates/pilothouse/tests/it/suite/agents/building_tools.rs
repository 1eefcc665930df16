//! The copilot builds agents: it reads the guide, writes a spec, repairs it, saves, edits and runs the agent.

use serde_json::{Value, json};

use super::building::TIDES;
use super::execution_fixtures::text;
use super::tools_copilot::Copilot;

#[tokio::test]
async fn the_tools_that_build_agents_refuse_until_the_guide_was_read() {
    let copilot = Copilot::start().await;
    for (tool, arguments) in [
        ("create_agent", json!({"spec": TIDES})),
        ("edit_agent", json!({"agent_id": "x", "spec": TIDES})),
        ("validate_agent_graph", json!({"spec": TIDES})),
        ("fix_agent_graph", json!({"spec": TIDES})),
    ] {
        let refused = copilot.call(tool, arguments).await;
        assert_eq!(refused["error"], "guide_not_read", "{refused}");
        let message = text(&refused["message"]);
        assert!(message.contains("get_agent_building_guide") && message.contains(tool));
    }
    let guide = copilot.call("get_agent_building_guide", json!({})).await;
    let content = text(&guide["content"]);
    assert!(content.contains("- **Calculator**: "), "every block is listed: {content}");
    let checked = copilot.call("validate_agent_graph", json!({"spec": TIDES})).await;
    assert_eq!(
        (&checked["valid"], &checked["state"]),
        (&json!(true), &json!("valid")),
        "{checked}"
    );
}

#[tokio::test]
async fn the_copilot_builds_an_agent_repairs_it_edits_it_and_runs_it() {
    let copilot = Copilot::start().await;
    copilot.call("get_agent_building_guide", json!({})).await;

    let wrong = TIDES.replace("Fill Text Template", "Fill Text Tamplate");
    let refused = copilot.call("create_agent", json!({"spec": wrong})).await;
    assert_eq!(refused["error"], "validation_failed", "{refused}");
    let first = &refused["details"]["errors"][0];
    assert_eq!(
        (&first["code"], &first["path"]),
        (&json!("unknown_block"), &json!("steps.greet.block"))
    );

    let preview = copilot.call("create_agent", json!({"spec": TIDES, "save": false})).await;
    assert_eq!(preview["type"], "agent_preview", "{preview}");
    assert_eq!(preview["agent_name"], "Morning tides");
    assert!(text(&preview["spec"]).contains("greet:"), "{preview}");

    let saved = copilot.call("create_agent", json!({"spec": TIDES})).await;
    assert_eq!(
        (&saved["type"], &saved["graph_version"]),
        (&json!("agent_saved"), &json!(1)),
        "{saved}"
    );
    let id = text(&saved["agent_id"]);
    assert_eq!(saved["agent_page_link"], format!("/build?flowID={id}"));

    let edits = json!([{"op": "set", "step": "high", "pin": "b", "value": 2}]);
    let edited = json!({"agent_id": id, "base_version": 1, "edits": edits});
    let changed = copilot.call("edit_agent", edited.clone()).await;
    assert_eq!(changed["graph_version"], 2, "{changed}");
    assert!(text(&changed["diff"]).contains("high.b"), "{changed}");
    let again = copilot.call("edit_agent", edited).await;
    assert_eq!(again["graph_version"], 2, "the same edits again save nothing: {again}");
    let edits = json!([{"op": "set", "step": "high", "pin": "b", "value": 3}]);
    let late = json!({"agent_id": id, "base_version": 1, "edits": edits});
    let late = copilot.call("edit_agent", late).await;
    assert_eq!(late["error"], "stale_version", "{late}");
    assert_eq!(late["details"]["newest_version"], 2);
    let unknown =
        json!({"agent_id": id, "base_version": 2, "edits": [{"op": "remove", "step": "nobody"}]});
    let refused = copilot.call("edit_agent", unknown).await;
    assert_eq!(refused["error"], "validation_failed", "{refused}");
    assert_eq!(refused["details"]["errors"][0]["path"], "edits[0]");

    let asked = json!({
        "library_agent_id": saved["library_agent_id"], "inputs": {"height": 4}, "use_defaults": true,
        "wait_for_result": 60,
    });
    let ran = copilot.call("run_agent", asked).await;
    assert_eq!(ran["execution"]["outputs"]["report"], json!(["Vlissingen: 6 m"]), "{ran}");
    copilot.setup.model.assert_no_violations();
}

#[tokio::test]
async fn bad_agents_are_refused_with_codes_and_nothing_is_saved() {
    let copilot = Copilot::start().await;
    copilot.call("get_agent_building_guide", json!({})).await;
    for (arguments, code) in [
        (json!({}), "empty_agent"),
        (json!({"spec": ""}), "empty_agent"),
        (json!({"spec": "a", "agent_json": {"nodes": []}}), "invalid_arguments"),
        (json!({"agent_json": "{"}), "invalid_arguments"),
        (json!({"agent_json": {"nodes": []}}), "validation_failed"),
    ] {
        let refused = copilot.call("create_agent", arguments).await;
        assert_eq!(refused["error"], code, "{refused}");
    }
    let goal = copilot.call("decompose_goal", json!({"goal": "x", "steps": []})).await;
    assert_eq!(goal["error"], "missing_steps");
    let mine = copilot.call("find_library_agent", json!({})).await;
    assert_ne!(mine["type"], Value::from("agents_found"), "{mine}");
    let large = json!({"spec": "x".repeat(1_000_100)});
    assert_eq!(copilot.call("create_agent", large).await["error"], "agent_json_too_large");
}
