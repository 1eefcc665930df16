//! The offline pilot, command by command.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use pilothouse_toolbox::providers::{CONTEXT_TOKENS, ProviderOptions, connect};
use ports::ModelProvider;
use ports::model::{ModelErrorKind, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolUse};
use serde_json::{Value, json};

use super::{Answer, ask, drain, request, result, user};

fn pilot() -> Arc<dyn ModelProvider> {
    connect(&ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS }).expect("connects")
}

async fn reply_to(message: &str) -> Answer {
    ask(&*pilot(), request(vec![user(message)])).await
}

#[tokio::test]
async fn an_unknown_message_gets_the_introduction() {
    let answer = reply_to("What is the weather?").await;
    assert_eq!(answer.reason, Some(StopReason::Stop));
    for word in ["offline pilot", "no model is connected", "/tool todo_write", "CHAT_API_KEY"] {
        assert!(answer.text.contains(word), "{word} is not in: {}", answer.text);
    }
    assert_eq!(
        answer.text,
        reply_to("What is the weather?").await.text,
        "it replies the same again"
    );
}

#[tokio::test]
async fn a_stream_has_the_requested_number_and_size_of_deltas() {
    for (command, count, size) in [
        ("/stream", 200, 20),
        ("/stream count=1000 size=1", 1000, 1),
        ("/stream count=3 size=10000", 3, 10_000),
    ] {
        let events =
            drain(pilot().stream(request(vec![user(command)])).await.expect("a stream")).await;
        assert_eq!(events.len(), count + 1, "{command}");
        let (end, deltas) = events.split_last().expect("events");
        for delta in deltas {
            let Ok(ModelEvent::Text(text)) = delta else { panic!("{delta:?}") };
            assert_eq!(text.chars().count(), size, "{command}");
        }
        let Ok(ModelEvent::Finished { usage, .. }) = end else { panic!("{end:?}") };
        assert_eq!(usage.completion_tokens, (count * size / 4) as u64, "{command}");
    }
}

#[tokio::test]
async fn deltas_are_delayed_as_requested() {
    let began = Instant::now();
    reply_to("/stream count=5 size=3 delay_ms=20").await;
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_long_stream_lets_other_tasks_run() {
    let mut stream =
        pilot().stream(request(vec![user("/stream count=1000000")])).await.expect("a stream");
    let streaming = async {
        while let Some(event) = stream.next().await {
            event.expect("no error");
        }
    };
    tokio::select! {
        biased;
        () = streaming => panic!("a million deltas came before anything else could run"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn tool_lines_are_calls_of_one_step() {
    let message = "Please\n/tool look {\"at\": \"grün\"}\n/tool todo_write\n/tool nothing {oops";
    let answer = reply_to(message).await;
    assert_eq!(answer.reason, Some(StopReason::ToolCalls));
    let made: Vec<_> =
        answer.calls.iter().map(|(_, name, input)| (name.as_str(), input.as_str())).collect();
    assert_eq!(made, [("look", "{\"at\": \"grün\"}"), ("todo_write", "{}"), ("nothing", "{oops")]);
    assert_ne!(answer.calls[0].0, answer.calls[1].0);
}

#[tokio::test]
async fn tool_results_are_reported() {
    let ok = result("1", r#"{"type":"todo_write","message":"Saved 2 items.","todos":[]}"#);
    let failed = ModelMessage::ToolResult {
        call_id: "2".into(),
        name: "web_fetch".into(),
        content: r#"{"type":"error","message":"That address is not allowed."}"#.into(),
        is_error: true,
    };
    let odd = result("3", "plain words");
    let asked = super::assistant("", &[("1", "{}"), ("2", "{}"), ("3", "{}")]);
    let history = vec![user("/tool look"), asked, ok, failed, odd];
    let answer = ask(&*pilot(), request(history)).await;
    assert_eq!(answer.reason, Some(StopReason::Stop));
    assert_eq!(
        answer.text,
        "`look` succeeded (`todo_write`): Saved 2 items.\n\n\
         `web_fetch` failed (`error`): That address is not allowed.\n\n\
         `look` succeeded: plain words"
    );
    assert!(answer.calls.is_empty());
}

#[tokio::test]
async fn an_answer_to_a_question_is_recognized() {
    let asked = ModelMessage::ToolResult {
        call_id: "1".into(),
        name: "ask_question".into(),
        content: r#"{"type":"agent_builder_clarification_needed","message":"Asked."}"#.into(),
        is_error: false,
    };
    let spoken = super::assistant("I have asked.", &[]);
    let mut history = vec![user("Ask me a question"), asked, spoken, user("Brest")];
    let answer = ask(&*pilot(), request(history.clone())).await;
    assert!(answer.text.starts_with("Thanks for your answer"), "{}", answer.text);
    history.extend([super::assistant(&answer.text, &[]), user("Ahoy")]);
    let answer = ask(&*pilot(), request(history)).await;
    assert!(
        answer.text.contains("offline pilot"),
        "no question was asked this time: {}",
        answer.text
    );
}

#[tokio::test]
async fn a_sub_session_answer_is_quoted_and_an_output_is_shown() {
    let answered = r#"{"type":"sub_session_status","message":"The sub-session has finished.","response":"`look` succeeded: calm\nand blue"}"#;
    let ended = r#"{"type":"external_tool_output","message":"look has responded.","output":{"sky":"blue"}}"#;
    let asked = super::assistant("", &[("1", "{}"), ("2", "{}")]);
    let history = vec![user("/tool look"), asked, result("1", answered), result("2", ended)];
    assert_eq!(
        ask(&*pilot(), request(history)).await.text,
        "`look` succeeded (`sub_session_status`): The sub-session has finished.\n\n\
         > `look` succeeded: calm\n> and blue\n\n\
         `look` succeeded (`external_tool_output`): look has responded. `{\"sky\":\"blue\"}`"
    );
}

#[tokio::test]
async fn a_sub_session_can_call_a_tool_or_another_sub_session() {
    let innermost = r#"/tool look {"at": "the sea"}"#;
    let inner = json!({"prompt": innermost});
    let outer = json!({"prompt": format!("/tool run_sub_session {inner}\n/tool todo_write")});
    let first = reply_to(&format!("/tool run_sub_session {outer}")).await;
    let arguments: Value = serde_json::from_str(&first.calls[0].2).expect("JSON");
    let second = reply_to(arguments["prompt"].as_str().expect("text")).await;
    assert_eq!((second.calls.len(), second.calls[1].1.as_str()), (2, "todo_write"));
    let arguments: Value = serde_json::from_str(&second.calls[0].2).expect("JSON");
    let third = reply_to(arguments["prompt"].as_str().expect("text")).await;
    assert_eq!(third.calls[0].2, r#"{"at": "the sea"}"#);
}

#[tokio::test]
async fn the_end_of_an_operation_is_reported_and_its_text_is_not_executed() {
    let news = "[Operation build (op-1) has ended] It completed.\nIts output:\n{\"n\": 42}\n/tool look\n\n\
                Tell the user the result, and continue.";
    let answer = reply_to(news).await;
    assert_eq!((answer.calls.len(), answer.reason), (0, Some(StopReason::Stop)));
    assert_eq!(
        answer.text,
        "The operation build (op-1) has ended. It completed.\nIts output:\n{\"n\": 42}\n/tool look"
    );
}

#[tokio::test]
async fn a_follow_up_is_answered_together_with_the_tool_results() {
    let called = super::assistant("", &[("1", "{}")]);
    let brought = result("1", r#"{"type":"bash_exec","message":"Exit code 0."}"#);
    let history = [user("/tool look"), called, brought];
    let with = |more: &[&str]| {
        let follow_ups = more.iter().map(|text| user(text));
        request(history.iter().cloned().chain(follow_ups).collect())
    };
    let report = "`look` succeeded (`bash_exec`): Exit code 0.\n\n";
    let command = ask(&*pilot(), with(&["and then", "/tool todo_write"])).await;
    assert_eq!((command.text.as_str(), command.calls.len()), (report, 1));
    let words = ask(&*pilot(), with(&["Is it\ndone?"])).await.text;
    assert!(words.starts_with(report) && words.contains("\"Is it done?\""), "{words}");
    let last = ModelRequest { tool_use: ToolUse::Forbidden, ..with(&["[This is the last step.]"]) };
    assert_eq!(ask(&*pilot(), last).await.text, report.trim_end());
}

#[tokio::test]
async fn help_names_every_tool_and_every_command() {
    let text = reply_to("/help").await.text;
    for line in [
        "- `look`: Looks at a place\n",
        "- `todo_write`: Keeps the list\n",
        "/stream",
        "/tool",
        "/think",
        "/fail",
    ] {
        assert!(text.contains(line), "{line} is not in: {text}");
    }
}

#[tokio::test]
async fn reasoning_comes_before_the_answer() {
    let events =
        drain(pilot().stream(request(vec![user("/think about it")])).await.expect("a stream"))
            .await;
    assert_eq!(events[0], Ok(ModelEvent::Reasoning("about ".into())));
    let answer = super::answer(events);
    assert_eq!(answer.reasoning, "about it");
    assert!(!answer.text.is_empty());
}

#[tokio::test]
async fn a_requested_failure_has_its_kind() {
    let answer = reply_to("/stream count=2 size=2\n/fail overloaded").await;
    assert_eq!(answer.text.len(), 4);
    assert_eq!(answer.error.expect("an error").kind, ModelErrorKind::Overloaded { after: None });
}

#[tokio::test]
async fn the_last_step_of_a_turn_ends_with_text() {
    let last =
        ModelRequest { tool_use: ToolUse::Forbidden, ..request(vec![user("/tool look {}")]) };
    let answer = ask(&*pilot(), last).await;
    assert_eq!((answer.calls.len(), answer.reason), (0, Some(StopReason::Stop)));
    assert!(answer.text.contains("look"));
}
