//! Agents from words, from the sentence to the saved agent.

use serde_json::{Value, json};
use testkit::external_service::ServiceResponse;
use testkit::model_server::Gate;

use super::building::TIDES;
use super::words_server::{CUSTOMIZE, DECOMPOSE, GENERATE, UPDATE, WordsServer, made};
use crate::agent_fixtures::{adder, text};

#[tokio::test]
async fn a_sentence_becomes_a_saved_agent_that_runs() {
    let setup = WordsServer::start().await;
    let begun = setup.begin("create_agent", &json!({"description": "Add 10 to a number"})).await;
    let events = setup.stream(&begun).await;
    let stages: Vec<&str> = events
        .iter()
        .filter(|got| got.chunk["preliminary"] == true)
        .map(|got| text(&got.chunk["output"]["stage"]))
        .collect();
    assert_eq!(
        stages,
        ["understanding", "planning", "writing", "checking", "rehearsing", "saving"]
    );
    let saved = setup.result(&begun).await;
    assert_eq!(
        (&saved["type"], &saved["state"]),
        (&json!("agent_saved"), &json!("verified")),
        "{saved}"
    );
    assert_eq!(setup.library().await, ["Adder"]);
    let outputs = setup.user().outputs(text(&saved["agent_id"]), &json!({"n": 5})).await;
    assert_eq!(outputs, json!({"sum": [15]}));
    let asked = &setup.generator.calls(GENERATE)[0].body;
    assert_eq!(
        (&asked["operation_id"], &asked["task_id"]),
        (&json!(begun.operation), &json!(begun.task))
    );
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_change_in_words_is_a_new_version_with_its_difference() {
    let setup = WordsServer::start().await;
    let id = setup.user().make(&adder("Adder", 10)).await;
    setup.generator.answer(UPDATE, made(&adder("Adder", 20)));
    let preview = json!({"agent_id": id, "changes": "Add 20", "save": false});
    let preview = setup.make("edit_agent", &preview).await;
    assert_eq!(preview["type"], "agent_preview", "{preview}");
    let changed = setup.make("edit_agent", &json!({"agent_id": id, "changes": "Add 20"})).await;
    assert_eq!(
        (&changed["type"], &changed["graph_version"]),
        (&json!("agent_saved"), &json!(2)),
        "{changed}"
    );
    assert!(text(&changed["diff"]).contains("20"), "{changed}");
    let sent = &setup.generator.calls(UPDATE)[0].body;
    assert_eq!(
        (&sent["update_request"], &sent["current_agent_json"]["id"]),
        (&json!("Add 20"), &json!(id))
    );
    // The same agent again is no new version.
    let entry = setup.user().entry(&id).await;
    let again = json!({"agent_id": entry["id"], "changes": "Add 20"});
    let again = setup.make("edit_agent", &again).await;
    assert_eq!((&again["graph_version"], setup.versions(&id).await), (&json!(2), 2), "{again}");
}

#[tokio::test]
async fn a_template_of_the_marketplace_becomes_an_agent_of_ones_own() {
    let setup = WordsServer::start().await;
    let listed = setup.user().get("/store/agents").await;
    let template = &listed["agents"][0];
    let name = format!("{}/{}", text(&template["creator"]), text(&template["slug"]));
    setup.generator.answer(CUSTOMIZE, made(&adder("Mine", 1)));
    let arguments = json!({"agent_id": name, "modifications": "Only add 1"});
    let saved = setup.make("customize_agent", &arguments).await;
    assert_eq!(saved["type"], "agent_saved", "{saved}");
    let graph = setup.user().get(&format!("/graphs/{}", text(&saved["agent_id"]))).await;
    assert!(graph["forked_from_id"].is_string(), "{graph}");
    let sent = &setup.generator.calls(CUSTOMIZE)[0].body;
    assert_eq!(sent["template_agent_json"]["id"], graph["forked_from_id"]);
}

#[tokio::test]
async fn questions_and_suggestions_are_results_and_the_answers_continue_the_work() {
    let setup = WordsServer::start().await;
    let questions = json!([{"question": "Which number?", "keyword": "number", "example": "10"}]);
    let answer = json!({"success": true, "type": "clarifying_questions", "questions": questions});
    setup.generator.answer(DECOMPOSE, ServiceResponse::json(answer));
    let asked = setup.make("create_agent", &json!({"description": "Add a number"})).await;
    assert_eq!((&asked["type"], &asked["questions"]), (&json!("clarification_needed"), &questions));

    let answer = json!({"success": true, "type": "vague_goal", "suggested_goal": "Add 10", "reason": "Too little."});
    setup.generator.answer(DECOMPOSE, ServiceResponse::json(answer));
    let suggested = setup.make("create_agent", &json!({"description": "Do things"})).await;
    assert_eq!(
        (&suggested["type"], &suggested["goal_type"]),
        (&json!("suggested_goal"), &json!("vague"))
    );
    assert_eq!(suggested["original_goal"], "Do things");

    let failed =
        json!({"success": false, "error": "broken at /srv/main.py", "error_type": "llm_timeout"});
    setup.generator.answer(DECOMPOSE, ServiceResponse::json(failed));
    let failed = setup.make("create_agent", &json!({"description": "Add"})).await;
    assert_eq!(failed["error"], "decomposition_failed:llm_timeout", "{failed}");
    assert_eq!(failed["details"]["service_error"], "broken at [path]");
    assert!(setup.library().await.is_empty() && setup.generator.calls(GENERATE).is_empty());

    setup.generator.answer(DECOMPOSE, super::words_server::plan());
    let continued = json!({"description": "Add a number", "context": "Which number? 10"});
    assert_eq!(setup.make("create_agent", &continued).await["type"], "agent_saved");
    let sent = setup.generator.calls(DECOMPOSE).pop().expect("a request");
    let description = text(&sent.body["description"]);
    assert!(description.contains("Add a number") && description.contains("Which number? 10"));
}

#[tokio::test]
async fn a_call_that_cannot_work_is_refused_at_once() {
    let setup = WordsServer::start().await;
    let session = setup.server.session().await;
    for (tool, arguments, code) in [
        ("create_agent", json!({"description": " "}), "missing_description"),
        ("create_agent", json!({"description": "Add", "spec": TIDES}), "invalid_arguments"),
        (
            "customize_agent",
            json!({"agent_id": "adder", "modifications": "x"}),
            "invalid_agent_id_format",
        ),
    ] {
        let (_, refused) = setup.call(&session, tool, &arguments).await;
        assert_eq!(refused["error"], code, "{refused}");
    }
    let (_, saved) = setup.call(&session, "create_agent", &json!({"spec": TIDES})).await;
    assert_eq!(saved["type"], "agent_saved", "a document is built at once: {saved}");
    assert!(setup.generator.calls(DECOMPOSE).is_empty());
}

#[tokio::test]
async fn agents_are_saved_in_folders_and_used_as_steps() {
    let setup = WordsServer::start().await;
    let user = setup.user();
    let folder = user.post("/library/folders", &json!({"name": "Numbers"})).await["id"].clone();
    let session = setup.server.session().await;
    let unknown = json!({"description": "Add", "folder_id": "nowhere"});
    assert_eq!(setup.make("create_agent", &unknown).await["error"], "folder_not_found");
    assert!(setup.library().await.is_empty());
    let inner =
        setup.make("create_agent", &json!({"description": "Add", "folder_id": folder})).await;
    let entry = user.get(&format!("/library/agents/{}", text(&inner["library_agent_id"]))).await;
    assert_eq!(entry["folder_id"], folder);

    // A step can name the agent by its library id, and a generator is told of it.
    let library_id = text(&inner["library_agent_id"]);
    let spec = json!({
        "name": "Twice", "description": "Adds twice.", "inputs": {"n": "number"},
        "steps": {"add": {"agent": library_id, "n": "inputs.n"}}, "outputs": {"sum": "add.sum"},
    });
    let (_, outer) = setup.call(&session, "create_agent", &json!({"spec": spec})).await;
    assert_eq!(outer["type"], "agent_saved", "{outer}");
    assert_eq!(
        user.outputs(text(&outer["agent_id"]), &json!({"n": 1})).await,
        json!({"sum": [11]})
    );
    let arguments = json!({"description": "Add", "library_agent_ids": [library_id, "unknown"]});
    setup.make("create_agent", &arguments).await;
    let sent = setup.generator.calls(DECOMPOSE).pop().expect("a request");
    let names: Vec<&str> = sent.body["library_agents"]
        .as_array()
        .expect("agents")
        .iter()
        .map(|agent| text(&agent["name"]))
        .collect();
    assert_eq!(names, ["Adder"]);
}

#[tokio::test]
async fn of_two_people_who_change_an_agent_at_once_one_is_told_that_it_is_stale() {
    let setup = WordsServer::start().await;
    let id = setup.user().make(&adder("Adder", 10)).await;
    let gate = Gate::closed();
    setup.generator.answer(UPDATE, made(&adder("Adder", 30)).held_by(&gate));
    let slow = setup.begin("edit_agent", &json!({"agent_id": id, "changes": "Add 30"})).await;
    setup.generator.wait_for_calls(UPDATE, 1).await;
    let other = setup.server.session().await;
    let edit = |value: u32| {
        let edits = json!([{"op": "set", "step": "calculator", "pin": "b", "value": value}]);
        json!({"agent_id": id, "base_version": 1, "edits": edits})
    };
    let (_, saved) = setup.call(&other, "edit_agent", &edit(20)).await;
    assert_eq!(saved["graph_version"], 2, "{saved}");
    gate.open();
    let stale = setup.result(&slow).await;
    assert_eq!(
        (&stale["error"], &stale["details"]["newest_version"]),
        (&json!("stale_version"), &json!(2)),
        "{stale}"
    );
    assert!(text(&stale["details"]["diff"]).contains("20"), "{stale}");
    // The same edits again are the version that they made; others are stale.
    let (_, again) = setup.call(&other, "edit_agent", &edit(20)).await;
    assert_eq!(
        (&again["type"], &again["graph_version"]),
        (&json!("agent_saved"), &json!(2)),
        "{again}"
    );
    let (_, late) = setup.call(&other, "edit_agent", &edit(40)).await;
    assert_eq!(late["error"], "stale_version", "{late}");
    assert_eq!(setup.versions(&id).await, 2);
}

#[tokio::test]
async fn search_terms_above_100_characters_are_refused() {
    let setup = WordsServer::start().await;
    let (long, fits) = ("x".repeat(101), format!("%20{}%20", "x".repeat(100)));
    for path in
        ["/library/agents?search_term=", "/store/agents?search_query=", "/store/search?query="]
    {
        let refused = setup.server.get(&format!("{path}{long}")).send().await.expect("an answer");
        let status = refused.status().as_u16();
        let problem: Value = refused.json().await.expect("JSON");
        assert_eq!((status, &problem["code"]), (422, &json!("VALIDATION_ERROR")), "{path}");
        assert!(text(&problem["detail"]).contains("100"), "{problem}");
        setup.user().get(&format!("{path}{fits}")).await;
    }
}
