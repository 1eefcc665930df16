//! Messages whose tool calls another program has stored, in another shape or damaged.

use serde_json::{Value, json};
use testkit::model_server::{Dialect, ScriptedCall};

use super::completions::open;
use crate::embedded::long_running::{finished, output_of};
use crate::embedded::scripted::ScriptedServer;

async fn call(
    setup: &ScriptedServer,
    session: &str,
    id: &str,
    tool: &str,
    arguments: Value,
) -> Value {
    setup.calls(&[ScriptedCall::new(id, tool, &arguments)]);
    let events = finished(setup.server.say(session, &format!("Make {id}.")).await).await;
    output_of(&events, id)
}

/// Replaces the stored calls of the message that made this call.
fn rewrite(setup: &ScriptedServer, call: &str, stored: &str) {
    let changed = open(&setup.server).execute(
        "UPDATE message SET tool_calls = ?1 WHERE tool_calls LIKE '%' || ?2 || '%'",
        [stored, call],
    );
    assert_eq!(changed.expect("the row is changed"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_another_shape_count_and_damaged_ones_do_no_harm() {
    let mut setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let plan = json!({"todos": [{"content": "Plan", "status": "pending"}]});
    call(&setup, &session, "first_plan", "todo_write", plan.clone()).await;
    call(&setup, &session, "guide", "get_agent_building_guide", json!({})).await;
    call(&setup, &session, "second_plan", "todo_write", plan).await;
    setup.server.kill9();
    rewrite(&setup, "first_plan", "[{\"id\": ");
    let function = json!({"name": "get_agent_building_guide", "arguments": "{}"});
    let foreign = json!([{"id": "guide", "type": "function", "function": function}]);
    rewrite(&setup, "\"guide\"", &foreign.to_string());
    rewrite(&setup, "second_plan", "[{\"id\": \"second_plan\"}, 5]");
    setup.server.restart();
    let spec =
        json!({"spec": {"name": "Echo", "inputs": {"a": "string"}, "outputs": {"b": "inputs.a"}}});
    let checked = call(&setup, &session, "check", "validate_agent_graph", spec).await;
    assert_eq!(checked["valid"], true, "{checked}");
    setup.model.assert_no_violations();
}
