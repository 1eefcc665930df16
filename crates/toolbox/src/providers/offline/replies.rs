//! What the offline pilot says.

use std::fmt::Write;

use ports::model::{ModelMessage, ModelRequest};
use protocol::text::cut_end;
use serde_json::Value;

/// Characters of a result that is no tool response, or that a response carries.
const RESULT_CHARS: usize = 200;
/// Characters of what another session has said, which may report on one below it in turn.
const ANSWER_CHARS: usize = 1000;
/// How many finds in the documentation are told.
const PAGES: usize = 3;

pub(super) const THOUGHT: &str = "I've thought about it. A real model would answer now.";
pub(super) const GOAL: &str = "I've read the goal. A real model would start working on it now.";
pub(super) const REJECTED: &str = "OK, I won't run it.";
pub(super) const ANSWERED: &str =
    "Thanks for your answer. A real model would continue with it now.";

const COMMANDS: &str = "- `/help` lists the tools and commands\n\
    - `/tool NAME {json}` calls a tool; several lines call several at once\n\
    - `/tool run_sub_session {\"prompt\": \"/tool NAME\"}` runs it in a sub-session\n\
    - `/stream count=200 size=20 delay_ms=0` streams `count` chunks of `size` characters\n\
    - `/think TEXT` shows reasoning before an answer\n\
    - `/fail overloaded` shows what a failing provider looks like\n";

const CONFIGURE: &str = "To use a real model, set `CHAT_API_KEY` (with `CHAT_BASE_URL` and \
    `CHAT_MODEL` for any OpenAI-compatible server, including local ones) or `ANTHROPIC_API_KEY`, \
    and restart the server.";

pub(super) fn introduction(request: &ModelRequest) -> String {
    let example = example_call(request);
    format!(
        "I'm the offline pilot: no model is connected, so I only understand a few requests, such as \
        \"Show me what your tools can do\" and \"Run the invoice calculator\". Streaming and tools work \
        for real. You can also use these commands:\n\n{COMMANDS}{example}\n{CONFIGURE}"
    )
}

/// A line to copy that works with the tools at hand.
fn example_call(request: &ModelRequest) -> String {
    let known = [
        ("todo_write", r#"{"todos": [{"content": "Say hello", "status": "in_progress"}]}"#),
        ("list_workspace_files", "{}"),
    ];
    let found = known.iter().find(|(name, _)| request.tools.iter().any(|tool| tool.name == *name));
    found.map_or_else(String::new, |(name, arguments)| {
        format!("\nFor example:\n\n```\n/tool {name} {arguments}\n```\n")
    })
}

pub(super) fn help(request: &ModelRequest) -> String {
    let mut text = format!("Commands, one per line:\n\n{COMMANDS}\n");
    if request.tools.is_empty() {
        text.push_str("No tools are available in this step.\n");
    } else {
        text.push_str("Tools:\n\n");
    }
    for tool in request.tools.iter() {
        let line = tool.description.split_once(". ").map_or(tool.description.as_str(), |(s, _)| s);
        let line = line.lines().next().unwrap_or_default().trim_end_matches('.');
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- `{}`: {line}", tool.name);
    }
    text
}

pub(super) fn no_tools(name: &str) -> String {
    format!("I can't call `{name}` in the last step of a response.\n")
}

pub(super) fn mistake(what: &str) -> String {
    format!("{what} Try one of these:\n\n{COMMANDS}")
}

/// A paragraph for each result; empty when nothing came back.
pub(super) fn report(messages: &[ModelMessage]) -> String {
    let paragraphs = messages.iter().filter_map(|message| match message {
        ModelMessage::ToolResult { name, content, is_error, .. } => {
            Some(paragraph(name, content, *is_error))
        }
        _ => None,
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn paragraph(name: &str, content: &str, is_error: bool) -> String {
    let outcome = if is_error { "failed" } else { "succeeded" };
    let response: Value = serde_json::from_str(content).unwrap_or_default();
    let carried = carried(&response);
    match (response["type"].as_str(), response["message"].as_str()) {
        (Some(kind), Some(message)) => format!("`{name}` {outcome} (`{kind}`): {message}{carried}"),
        (None, Some(message)) => format!("`{name}` {outcome}: {message}"),
        _ => format!("`{name}` {outcome}: {}", cut_end(content.trim(), RESULT_CHARS)),
    }
}

/// What a response hands on from somewhere else: the answer of a sub-session, the output of a call that took long.
fn carried(response: &Value) -> String {
    if let Some(answer) = response["response"].as_str() {
        let quoted: Vec<String> =
            cut_end(answer.trim(), ANSWER_CHARS).lines().map(|line| format!("> {line}")).collect();
        return format!("\n\n{}", quoted.join("\n"));
    }
    if let Some(pages) = response["results"].as_array() {
        return pages.iter().take(PAGES).map(page).collect();
    }
    match &response["output"] {
        Value::Null => String::new(),
        output => format!(" `{}`", cut_end(&output.to_string(), RESULT_CHARS)),
    }
}

/// One find in the documentation.
fn page(found: &Value) -> String {
    let word = |name: &str| found[name].as_str().unwrap_or_default().replace(['\n', '#', '`'], " ");
    format!("\n- **{}** (`{}`): {}", word("title"), word("path"), word("snippet").trim())
}

/// `news` is what the engine says of a long-running call, after the mark.
pub(super) fn operation(news: &str) -> String {
    // The last paragraph says what a model should do now.
    let news = news.rsplit_once("\n\n").map_or(news, |(news, _)| news);
    format!("The operation {}", cut_end(news.trim(), ANSWER_CHARS).replacen(']', ".", 1))
}

pub(super) fn also_read(message: &str) -> String {
    let quoted = cut_end(message.trim(), RESULT_CHARS).replace('\n', " ");
    format!("I've also read \"{quoted}\", but I can't understand it without a model.")
}
