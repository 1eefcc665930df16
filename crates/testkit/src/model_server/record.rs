//! The recorded requests of the model server, and how each response ended.

use std::time::Instant;

use http::HeaderMap;
use serde_json::Value;

use super::wire::Dialect;

#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub dialect: Dialect,
    pub body: Value,
    pub headers: HeaderMap,
    pub at: Instant,
    pub ending: ResponseEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseEnd {
    /// Still being answered.
    Open,
    /// The whole script was played.
    Played,
    /// The client disconnected before that.
    ClientLeft,
}

impl RecordedRequest {
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The last user message, without the paragraph about the session that the engine puts before the first one.
    pub fn last_user_text(&self) -> String {
        self.messages()
            .iter()
            .rev()
            .filter(|message| message["role"] == "user")
            .map(|message| without_about(&text_of(&message["content"])).to_owned())
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }

    /// Call id and content of the tool results after the last user message.
    pub fn tool_results(&self) -> Vec<(String, String)> {
        let mut results = Vec::new();
        for message in self.messages().iter().rev() {
            match self.dialect {
                Dialect::OpenAi if message["role"] == "tool" => {
                    results.push((string(&message["tool_call_id"]), text_of(&message["content"])));
                }
                Dialect::Anthropic if message["role"] == "user" => {
                    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
                    for block in blocks.iter().rev().filter(|b| b["type"] == "tool_result") {
                        results.push((string(&block["tool_use_id"]), text_of(&block["content"])));
                    }
                    if !text_of(&message["content"]).is_empty() {
                        break;
                    }
                }
                _ if message["role"] == "user" => break,
                _ => {}
            }
        }
        results.reverse();
        results
    }

    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools
            .iter()
            .map(|tool| match self.dialect {
                Dialect::OpenAi => string(&tool["function"]["name"]),
                Dialect::Anthropic => string(&tool["name"]),
            })
            .collect()
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Start of the paragraph about the session that the engine adds.
const ABOUT: &str = "[About this session]";

fn without_about(text: &str) -> &str {
    if !text.starts_with(ABOUT) {
        return text;
    }
    text.split_once("\n\n").map_or("", |(_about, words)| words)
}

/// The text of a content that is a string or a list of blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
