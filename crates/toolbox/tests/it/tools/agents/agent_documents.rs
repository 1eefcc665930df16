//! Agents as documents of the tools that build them: in arguments and in workspace files.

use ports::call_services::{AgentFixed, BuildTarget, GivenAgent};
use protocol::graph::Graph;
use protocol::response::AgentFix;
use serde_json::{Value, json};

use super::{AgentTools, FakeServices, message_of};

fn tools() -> AgentTools {
    AgentTools::with_agents_in(FakeServices { guide_was_read: true, ..Default::default() })
}

async fn write(tools: &AgentTools, name: &str, content: &str) {
    let arguments = json!({"filename": name, "content": content, "overwrite": true});
    let written = tools.call("write_workspace_file", arguments).await;
    assert_eq!(written["type"], "workspace_file_written", "{written}");
}

fn last_build(tools: &AgentTools) -> GivenAgent {
    tools.fake.builds.lock().expect("not poisoned").pop().expect("a build").agent
}

#[tokio::test]
async fn an_agent_is_read_from_a_workspace_file() {
    let tools = tools();
    write(&tools, "graph.json", r#"{"nodes": [], "name": "x"}"#).await;
    write(&tools, "spec.yaml", "name: x").await;
    let graph = GivenAgent::Graph(json!({"nodes": [], "name": "x"}));
    for (arguments, expected) in [
        (json!({"agent_json": "@@agptfile:graph.json"}), graph.clone()),
        (json!({"agent_json_ref": "graph.json"}), graph.clone()),
        (json!({"agent_json_ref": "/workspace/graph.json"}), graph.clone()),
        (json!({"agent_json_ref": "@@agptfile:graph.json"}), graph),
        (json!({"spec": "@@agptfile:spec.yaml"}), GivenAgent::Spec(json!("name: x"))),
        (json!({"agent_json": {"nodes": [1]}}), GivenAgent::Graph(json!({"nodes": [1]}))),
    ] {
        for tool in ["create_agent", "edit_agent", "customize_agent"] {
            let mut arguments = arguments.clone();
            if tool == "edit_agent" {
                arguments["agent_id"] = json!("own");
            }
            tools.call(tool, arguments.clone()).await;
            assert_eq!(last_build(&tools), expected, "{tool} {arguments}");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_agent_is_refused() {
    let tools = tools();
    write(&tools, "broken.json", "{").await;
    write(&tools, "empty.json", " ").await;
    write(&tools, "large.yaml", &"x".repeat(1_000_001)).await;
    for (file, code) in [
        ("none.json", "file_not_found"),
        ("broken.json", "invalid_arguments"),
        ("empty.json", "empty_agent"),
        ("large.yaml", "agent_json_too_large"),
    ] {
        for tool in ["create_agent", "validate_agent_graph", "fix_agent_graph"] {
            let refused = tools.call(tool, json!({"agent_json_ref": file})).await;
            assert_eq!(refused["error"], code, "{tool} {file}: {refused}");
        }
    }
    let both = json!({"agent_json_ref": "a.json", "spec": "name: x"});
    assert_eq!(tools.call("create_agent", both).await["error"], "invalid_arguments");
}

#[tokio::test]
async fn a_repaired_agent_is_written_to_a_file() {
    let tools = tools();
    let fixed = || {
        let graph = Graph { name: "Repaired".into(), ..Graph::default() };
        let fix = AgentFix {
            fixed_agent_json: Some(graph),
            fixed_agent_ref: None,
            fix_diff: None,
            fixes_applied: Vec::new(),
            fix_count: 0,
            valid_after_fix: true,
            remaining_errors: Vec::new(),
        };
        *tools.fake.next_fixed.lock().expect("not poisoned") =
            Some(AgentFixed::Fixed(Box::new(fix)));
    };
    fixed();
    let answer =
        tools.call("fix_agent_graph", json!({"spec": "name: x", "write_to": "fixed.json"})).await;
    assert_eq!(answer["fixed_agent_ref"], "fixed.json", "{answer}");
    assert_eq!(answer.get("fixed_agent_json"), None);
    let read = tools.call("read_workspace_file", json!({"path": "fixed.json"})).await;
    let content: Value =
        serde_json::from_str(read["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(content["name"], "Repaired");
    fixed();
    let answer = tools.call("fix_agent_graph", json!({"spec": "name: x"})).await;
    assert_eq!(answer["fixed_agent_json"]["name"], "Repaired");
    for name in ["a/b.json", "../a.json", ""] {
        let refused =
            tools.call("fix_agent_graph", json!({"spec": "name: x", "write_to": name})).await;
        assert_eq!(refused["error"], "invalid_arguments", "{name}");
    }
}

#[tokio::test]
async fn a_customized_document_remembers_its_template() {
    let tools = tools();
    let arguments = json!({"agent_id": "helm/letters", "spec": "name: x", "folder_id": "f"});
    tools.call("customize_agent", arguments).await;
    let target = tools.fake.builds.lock().expect("not poisoned").pop().expect("a build").target;
    let template = Some(("graph-letters".into(), 2));
    assert_eq!(target, BuildTarget::NewAgent { folder: Some("f".into()), template });
}

#[tokio::test]
async fn search_terms_above_100_characters_are_refused() {
    let tools = tools();
    for tool in ["find_agent", "find_library_agent"] {
        let long = tools.call(tool, json!({"query": "ä".repeat(101)})).await;
        assert_eq!(long["error"], "search_term_too_long", "{long}");
        assert!(message_of(&long).contains("100"), "{long}");
        let padded = format!("  {}  ", "ä".repeat(100));
        assert_eq!(tools.call(tool, json!({"query": padded})).await["type"], "no_results");
    }
}
