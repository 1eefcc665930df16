//! Recorded streams of turns with text, reasoning, and tools that finish at once.

use serde_json::json;
use testkit::model_server::{Dialect, Script, ScriptedCall, ScriptedUsage};

use super::assert_says;
use super::scripted::ScriptedServer;
use crate::scripts::todo;

const USAGE: ScriptedUsage =
    ScriptedUsage { prompt_tokens: 1200, completion_tokens: 60, cache_read_tokens: 800 };

/// A list, a table and code: what a page has to lay out while it still streams.
const MARKDOWN: &str = "The tide turns at **14:10**, so there are two ways out:\n\n\
    1. Leave at noon and sail against the last of the flood.\n\
    2. Wait for the ebb.\n\n\
    | Way | Hours | Fuel |\n| --- | ---: | ---: |\n| Noon | 6.5 | 40 l |\n| Ebb | 5 | 12 l |\n\n\
    ```python\nhours = distance / (speed + current)\n```\n\n\
    I would wait.";

#[tokio::test]
async fn a_text_response() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().usage(USAGE).say_in(MARKDOWN, 40));
    let (events, _) = setup.turn(&session, "When shall we leave?").await;
    assert_says("plain-text", &events);
}

#[tokio::test]
async fn a_response_with_reasoning() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let thought = "They ask for the depth. The chart says 4.2 m at low water.";
    setup.model.enqueue(
        Script::default().usage(USAGE).think(thought).say("At low water it is 4.2 m deep."),
    );
    let (events, _) = setup.turn(&session, "How deep is it?").await;
    assert_says("reasoning", &events);
}

#[tokio::test]
async fn one_tool() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let call = todo("call_plan", "Check the weather");
    setup.model.enqueue(Script::default().say("I write that down.").call_in(&[call], 6));
    setup.model.enqueue(Script::default().usage(USAGE).say("It is on the list."));
    let (events, _) = setup.turn(&session, "Remember the weather.").await;
    assert_says("one-tool", &events);
}

#[tokio::test]
async fn parallel_tools_with_one_failure() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let missing = json!({"path": "chart.txt"});
    setup.model.enqueue(Script::default().call(&[
        todo("call_plan", "Read the chart"),
        ScriptedCall::new("call_chart", "read_workspace_file", &missing),
        ScriptedCall::new("call_files", "list_workspace_files", &json!({})),
    ]));
    setup.model.enqueue(Script::default().usage(USAGE).say("There is no chart yet."));
    let (events, _) = setup.turn(&session, "Read the chart.").await;
    assert_says("parallel-tools", &events);
}

#[tokio::test]
async fn a_call_with_invalid_json_arguments() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let mut call = todo("call_plan", "Sail");
    call.arguments = r#"{"todos": [{"content": "Sa"#.to_owned();
    setup.model.enqueue(Script::default().call(&[call]));
    setup.model.enqueue(Script::default().usage(USAGE).say("I could not write that down."));
    let (events, _) = setup.turn(&session, "Remember to sail.").await;
    assert_says("broken-arguments", &events);
}

#[tokio::test]
async fn a_question_to_the_user() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let questions = json!({"questions": [
        {"question": "Which harbour?", "keyword": "harbour", "options": ["Vlissingen", "Breskens"]},
        {"question": "How many are you?", "keyword": "crew"},
    ]});
    setup.model.enqueue(Script::tool("call_ask", "ask_question", &questions));
    setup.model.enqueue(Script::default().usage(USAGE).say("Tell me, and I book a berth."));
    let (events, _) = setup.turn(&session, "Book a berth.").await;
    assert_says("question", &events);
}
