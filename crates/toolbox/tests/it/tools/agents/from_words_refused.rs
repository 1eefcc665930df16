//! Calls that make agents from words and cannot work, are only a dry run, or only a preview.

use ports::call_services::AgentBuilt;
use ports::tool::{OperationWords, ToolContext, ToolError};
use serde_json::{Value, json};

use super::AgentTools;
use super::from_words::{calls, in_operation, tools};

impl AgentTools {
    fn begin(&self, name: &str, arguments: &Value) -> Result<OperationWords, ToolError> {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name).expect(name);
        assert!(tool.spec().is_long_running(arguments), "{name} {arguments}");
        tool.begin_operation(arguments, &self.context())
    }
}

#[tokio::test]
async fn words_are_checked_before_an_operation_is_started() {
    let tools = tools();
    let spec = json!({"name": "x"});
    for (name, arguments, code) in [
        ("create_agent", json!({"description": " "}), "missing_description"),
        ("create_agent", json!({"description": "a", "spec": spec}), "invalid_arguments"),
        (
            "create_agent",
            json!({"description": "a", "agent_json_ref": "a.json"}),
            "invalid_arguments",
        ),
        ("edit_agent", json!({"agent_id": "own", "changes": ""}), "missing_changes"),
        (
            "edit_agent",
            json!({"agent_id": "own", "changes": "a", "edits": []}),
            "invalid_arguments",
        ),
        (
            "customize_agent",
            json!({"agent_id": "a/b", "modifications": ""}),
            "missing_modifications",
        ),
        ("customize_agent", json!({"modifications": "a"}), "missing_agent_id"),
        (
            "customize_agent",
            json!({"agent_id": "a", "modifications": "a"}),
            "invalid_agent_id_format",
        ),
        (
            "customize_agent",
            json!({"agent_id": "a/b/c", "modifications": "a"}),
            "invalid_agent_id_format",
        ),
    ] {
        let Err(ToolError::TellModel { code: refused, .. }) = tools.begin(name, &arguments) else {
            panic!("{name} {arguments}")
        };
        assert_eq!(refused, code, "{name} {arguments}");
        assert_eq!(tools.call(name, arguments.clone()).await["error"], code, "{name} {arguments}");
    }
    for (name, arguments) in calls() {
        let words = tools.begin(name, &arguments).expect("an operation");
        assert!(words.pending.contains(": "), "{words:?}");
    }
    let long = json!({"description": "x".repeat(300)});
    let words = tools.begin("create_agent", &long).expect("an operation");
    assert_eq!(words.pending, format!("Creating your agent: {}…", "x".repeat(100)));
    assert!(tools.generator.asked().is_empty() && tools.builds().is_empty());
}

#[tokio::test]
async fn the_guide_is_required_when_the_operation_is_started_and_not_for_templates() {
    let tools = AgentTools::with_agents();
    let [create, edit, customize] = calls();
    for (name, arguments) in [create, edit] {
        let Err(ToolError::TellModel { code, message }) = tools.begin(name, &arguments) else {
            panic!("{name}")
        };
        assert_eq!(code, "guide_not_read");
        assert!(message.contains(name), "{message}");
        let response = tools.call_in(in_operation(&tools), name, arguments).await;
        assert_ne!(response["error"], "guide_not_read", "it was checked at the start");
    }
    assert!(tools.begin(customize.0, &customize.1).is_ok());
}

#[tokio::test]
async fn agents_that_do_not_exist_are_named_by_their_codes() {
    let tools = tools();
    for (name, arguments, code) in [
        ("edit_agent", json!({"agent_id": "nobody", "changes": "a"}), "agent_not_found"),
        (
            "customize_agent",
            json!({"agent_id": "helm/nothing", "modifications": "a"}),
            "agent_not_found",
        ),
    ] {
        assert_eq!(tools.call(name, arguments).await["error"], code);
    }
    tools.runs().agents.lock().expect("not poisoned").clear();
    let gone = json!({"agent_id": "helm/letters", "modifications": "a"});
    assert_eq!(tools.call("customize_agent", gone).await["error"], "no_version_available");
    assert!(tools.generator.asked().is_empty());
    tools.will_build([AgentBuilt::NoFolder]);
    let response = tools.call("create_agent", json!({"description": "a", "folder_id": "x"})).await;
    assert_eq!(response["error"], "folder_not_found");
}

#[tokio::test]
async fn nothing_is_saved_in_a_dry_run_or_for_a_preview() {
    let tools = tools();
    for (name, mut arguments) in calls() {
        let dry = ToolContext { dry_run: true, ..tools.context() };
        tools.call_in(dry, name, arguments.clone()).await;
        arguments["save"] = json!(false);
        tools.call(name, arguments).await;
    }
    let builds = tools.builds();
    assert!(builds.len() == 6 && builds.iter().all(|build| !build.save), "{builds:?}");
}
