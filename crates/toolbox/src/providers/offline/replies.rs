//! Texts of the offline pilot's replies.

use std::fmt::Write;

use ports::model::{ModelMessage, ModelRequest};
use protocol::text::cut_end;
use serde_json::Value;

use super::building_replies;

/// Characters shown of a plain result, or of an output inside a response.
const RESULT_CHARS: usize = 200;
/// Characters shown of a sub-session's answer, which may quote another sub-session's.
const ANSWER_CHARS: usize = 1000;
/// Documentation pages shown.
const PAGES: usize = 3;

pub(crate) const THOUGHT: &str = "I've thought about it. A real model would answer now.";
pub(crate) const GOAL: &str = "Tell me the goal again, beginning with “Build an agent that …”.";
pub(crate) const WHICH_AGENT: &str = "Which agent do you mean? I know only those that were built in this chat. For another \
    one, write “Change the agent “NAME” (ID): …”, or open it in your library.";
pub(crate) const WHICH_CHANGE: &str = "What should I change? For example: “Set the tax to 19 %”, “Rename it to …” or “Ask me before sending”.";
pub(crate) const REJECTED: &str = "OK, I won't run it.";
pub(crate) const ANSWERED: &str =
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

pub(crate) fn introduction(request: &ModelRequest) -> String {
    let example = example_call(request);
    format!(
        "I'm the offline pilot: no model is connected, so I only understand a few requests, such as \
        \"Show me what your tools can do\" and \"Build an agent that totals an invoice and asks me before \
        sending it\". Streaming and tools work for real. You can also use these commands:\n\n{COMMANDS}{example}\n{CONFIGURE}"
    )
}

/// An example command for one of the available tools.
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

pub(crate) fn help(request: &ModelRequest) -> String {
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

pub(crate) fn no_tools(name: &str) -> String {
    format!("I can't call `{name}` in the last step of a response.\n")
}

pub(crate) fn mistake(what: &str) -> String {
    format!("{what} Try one of these:\n\n{COMMANDS}")
}

/// One paragraph per tool result; empty without results.
pub(crate) fn report(messages: &[ModelMessage]) -> String {
    let is_result = |message: &&ModelMessage| matches!(message, ModelMessage::ToolResult { .. });
    let results = messages.iter().filter(is_result).count();
    let paragraphs = messages.iter().filter_map(|message| match message {
        ModelMessage::ToolResult { name, content, is_error, .. } => {
            let is_left_out = results > 1 && building_replies::is_silent(name, *is_error);
            (!is_left_out).then(|| paragraph(name, content, *is_error))
        }
        _ => None,
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn paragraph(name: &str, result: &str, is_error: bool) -> String {
    let outcome = if is_error { "failed" } else { "succeeded" };
    let response: Value = serde_json::from_str(result).unwrap_or_default();
    if let Some(built) = building_replies::paragraph(name, &response) {
        return built;
    }
    let content = content_of(&response);
    match (response["type"].as_str(), response["message"].as_str()) {
        (Some(kind), Some(message)) => format!("`{name}` {outcome} (`{kind}`): {message}{content}"),
        (None, Some(message)) => format!("`{name}` {outcome}: {message}"),
        _ => format!("`{name}` {outcome}: {}", cut_end(result.trim(), RESULT_CHARS)),
    }
}

/// Content of a response besides its message: a sub-session's answer, search results, the output of a long call.
fn content_of(response: &Value) -> String {
    if let Some(answer) = response["response"].as_str() {
        let quoted: Vec<String> =
            cut_end(answer.trim(), ANSWER_CHARS).lines().map(|line| format!("> {line}")).collect();
        return format!("\n\n{}", quoted.join("\n"));
    }
    if let Some(pages) = response["results"].as_array() {
        return pages.iter().take(PAGES).map(page).collect();
    }
    if let Some(outputs) = response["execution"]["outputs"].as_object() {
        return outputs.iter().map(|(name, values)| agent_output(name, values)).collect();
    }
    match &response["output"] {
        Value::Null => String::new(),
        output => format!(" `{}`", cut_end(&output.to_string(), RESULT_CHARS)),
    }
}

/// One output of an agent, on a line of its own. A text of several lines is quoted.
fn agent_output(name: &str, values: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => cut_end(text, ANSWER_CHARS),
        other => cut_end(&other.to_string(), RESULT_CHARS),
    };
    let values: Vec<String> = values.as_array().into_iter().flatten().map(shown).collect();
    let text = values.join("; ");
    match text.contains('\n') {
        true => format!("\n- **{name}**:\n  > {}", text.replace('\n', "\n  > ")),
        false => format!("\n- **{name}**: {text}"),
    }
}

/// One documentation search result.
fn page(found: &Value) -> String {
    let word = |name: &str| found[name].as_str().unwrap_or_default().replace(['\n', '#', '`'], " ");
    format!("\n- **{}** (`{}`): {}", word("title"), word("path"), word("snippet").trim())
}

/// `notice` is the engine's message about a long-running call, without `OPERATION_MARK`.
pub(crate) fn operation(notice: &str) -> String {
    // The last paragraph contains instructions for a model.
    let notice = notice.rsplit_once("\n\n").map_or(notice, |(notice, _)| notice);
    format!("The operation {}", cut_end(notice.trim(), ANSWER_CHARS).replacen(']', ".", 1))
}

pub(crate) fn also_read(message: &str) -> String {
    let quoted = cut_end(message.trim(), RESULT_CHARS).replace('\n', " ");
    format!("I've also read \"{quoted}\", but I can't understand it without a model.")
}
