//! The orchestrator with a scripted model server: offered tools, calls, conversation and completion.

use ports::block::{BlockContext, BlockError, ToolPin};
use serde_json::{Value, json};
use testkit::model_server::{Dialect, ModelServer, Script, ScriptedCall};

use super::{Bench, one, pins};
use crate::providers::{GENEROUS, rig};

const BLOCK: &str = "OrchestratorBlock";

async fn bench() -> (ModelServer, Bench) {
    let (server, model) = rig(Dialect::OpenAi, GENEROUS).await;
    (server, Bench::with_model(model))
}

/// A context with two tool nodes: `Add` and `Look up`.
fn context_with_tools(bench: &Bench) -> BlockContext {
    let pin = |node: &str, name: &str, field: &str, schema: Value| ToolPin {
        pin: format!("tools_^_{node}_~_{field}"),
        node_id: node.into(),
        name: name.to_owned(),
        description: "A tool of a test.".to_owned(),
        field: field.to_owned(),
        schema,
        required: true,
    };
    let number = || json!({ "type": "number" });
    let tools = [
        pin("n1", "Add", "a", number()),
        pin("n1", "Add", "b", number()),
        pin("n2", "Look up", "topic", json!({ "type": "string" })),
    ];
    BlockContext { tools: tools.into(), ..bench.context() }
}

async fn decide(bench: &Bench, input: Value) -> Result<Vec<(String, Value)>, BlockError> {
    bench.run_in(context_with_tools(bench), BLOCK, input).await
}

#[tokio::test]
async fn a_call_is_sent_to_its_node_and_its_output_completes_the_run() {
    let (server, bench) = bench().await;
    server.enqueue(Script::tool("call-1", "add", &json!({ "a": 2, "b": 3 })));
    let input = json!({ "prompt": "Add {{x}} and 3.", "prompt_values": { "x": "2" } });
    let outputs = decide(&bench, input.clone()).await.expect("a decision");
    assert_eq!(server.requests()[0].tool_names(), ["add", "look_up"]);
    assert_eq!(outputs[0], ("tools_^_n1_~_a".to_owned(), json!(2)));
    assert_eq!(outputs[1], ("tools_^_n1_~_b".to_owned(), json!(3)));
    assert_eq!((outputs.len(), outputs[2].0.as_str()), (3, "conversations"));
    server.enqueue(Script::text("It is 5."));
    let mut again = input;
    again["conversation_history"] = outputs[2].1.clone();
    again["last_tool_output"] = json!(5);
    assert_eq!(decide(&bench, again).await, one("finished", json!("It is 5.")));
    let asked = &server.requests()[1];
    assert_eq!(asked.tool_results(), [("call-1".to_owned(), "5".to_owned())]);
    let user_messages = asked.messages().iter().filter(|message| message["role"] == "user").count();
    assert_eq!(user_messages, 1, "the prompt is not repeated");
    server.assert_no_violations();
}

#[tokio::test]
async fn the_model_is_called_again_once_every_call_has_an_output() {
    let (server, bench) = bench().await;
    let calls = [
        ScriptedCall::new("call-1", "look_up", &json!({ "topic": "rain" })),
        ScriptedCall::new("call-2", "look_up", &json!({ "topic": "snow" })),
    ];
    server.enqueue(Script::empty().call(&calls));
    let input = json!({ "prompt": "Compare them.", "multiple_tool_calls": true });
    let outputs = decide(&bench, input.clone()).await.expect("a decision");
    assert_eq!(
        pins(&outputs[..2]),
        json!([["tools_^_n2_~_topic", "rain"], ["tools_^_n2_~_topic", "snow"]])
    );
    let next = |history: &Value, output: Value| {
        let mut next = input.clone();
        next["conversation_history"] = history.clone();
        next["last_tool_output"] = output;
        next
    };
    let waits = decide(&bench, next(&outputs[2].1, json!("wet"))).await.expect("words");
    assert_eq!((waits.len(), waits[0].0.as_str()), (1, "conversations"));
    assert_eq!(server.requests().len(), 1, "the model is not asked yet");
    server.enqueue(Script::text("Snow is colder."));
    // An output of null counts as an output.
    let ended = decide(&bench, next(&waits[0].1, Value::Null)).await;
    assert_eq!(ended, one("finished", json!("Snow is colder.")));
    let results = server.requests()[1].tool_results();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0], ("call-1".to_owned(), "wet".to_owned()));
    server.assert_no_violations();
}

#[tokio::test]
async fn only_one_call_is_made_unless_several_are_allowed() {
    let (server, bench) = bench().await;
    let calls = [
        ScriptedCall::new("call-1", "look_up", &json!({ "topic": "rain" })),
        ScriptedCall::new("call-2", "look_up", &json!({ "topic": "snow" })),
    ];
    server.enqueue(Script::empty().call(&calls));
    let outputs = decide(&bench, json!({ "prompt": "Compare them." })).await.expect("a decision");
    assert_eq!(outputs.len(), 2);
    let kept = outputs[1].1[1]["tool_calls"].as_array().map(Vec::len);
    assert_eq!(kept, Some(1), "a dropped call does not wait for an output");
}

#[tokio::test]
async fn an_invalid_call_is_retried_a_limited_number_of_times() {
    let (server, bench) = bench().await;
    server.enqueue(Script::tool("call-1", "add", &json!({ "a": 2 })));
    server.enqueue(Script::tool("call-2", "add", &json!({ "a": 2, "b": 3 })));
    let outputs = decide(&bench, json!({ "prompt": "Add." })).await.expect("a decision");
    let results = server.requests()[1].tool_results();
    assert!(results[0].1.contains("requires the parameter b"), "{results:?}");
    assert_eq!(outputs[2].1.as_array().map(Vec::len), Some(2), "the invalid call is not kept");
    for _ in 0..2 {
        server.enqueue(Script::tool("call-1", "subtract", &json!({})));
    }
    let refused = decide(&bench, json!({ "prompt": "Add.", "retry": 2 })).await;
    let Err(BlockError::Failed(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("Unknown tool subtract"), "{why}");
    assert_eq!(server.requests().len(), 4);
    server.assert_no_violations();
}

#[tokio::test]
async fn unsupported_inputs_are_rejected_with_a_reason() {
    let (server, bench) = bench().await;
    let message =
        bench.failure(BLOCK, json!({ "prompt": "Go.", "agent_mode_max_iterations": -1 })).await;
    assert!(message.contains("agent_mode_max_iterations to 0"), "{message}");
    let function = json!({ "name": "add", "arguments": "{}" });
    let open =
        json!([{ "role": "assistant", "tool_calls": [{ "id": "c", "function": function }] }]);
    let message =
        bench.failure(BLOCK, json!({ "prompt": "Go.", "conversation_history": open })).await;
    assert!(message.contains("has no output yet"), "{message}");
    assert_eq!(server.requests().len(), 0);
    let message = Bench::new().failure(BLOCK, json!({ "prompt": "Go." })).await;
    assert!(message.contains("none is configured"), "{message}");
}
