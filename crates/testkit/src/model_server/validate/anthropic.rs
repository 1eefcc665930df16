//! Rules for a messages request.

use http::HeaderMap;
use serde_json::Value;

use super::{Unanswered, messages, unique_tools};
use crate::model_server::anthropic::SIGNATURE;

/// `cache_control` marks that the provider allows in one request.
const CACHE_MARKS: usize = 4;

pub(crate) fn check(headers: &HeaderMap, body: &Value) -> Result<(), String> {
    for name in ["anthropic-version", "x-api-key"] {
        if !headers.contains_key(name) {
            return Err(format!("the header {name} is missing"));
        }
    }
    let limit = body["max_tokens"].as_u64().unwrap_or(0);
    if limit == 0 {
        return Err("max_tokens must be a positive number".into());
    }
    let thinking = body["thinking"]["type"] == "enabled";
    let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
    if thinking && !(1024..limit).contains(&budget) {
        return Err("thinking.budget_tokens must be 1024 or more and below max_tokens".into());
    }
    if body.to_string().matches("\"cache_control\"").count() > CACHE_MARKS {
        return Err(format!("more than {CACHE_MARKS} cache_control marks"));
    }
    if let Some(system) = body.get("system") {
        texts_are_filled(&blocks(system), 0)?;
    }
    if let Some(tools) = body.get("tools") {
        let tools = tools.as_array().ok_or("tools must be a list")?;
        unique_tools(tools.iter().map(|tool| (&tool["name"], &tool["input_schema"])))?;
    }
    let messages = messages(body)?;
    history(messages)?;
    if thinking { reasoning_comes_back(messages) } else { Ok(()) }
}

fn history(messages: &[Value]) -> Result<(), String> {
    let mut open = Unanswered::default();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Err(format!("messages[{at}]: must be from {expected}"));
        }
        let content = blocks(&message["content"]);
        texts_are_filled(&content, at)?;
        if expected == "user" {
            results(&content, &mut open, at)?;
            open.all_answered(at)?;
        } else {
            open = calls(&content, at)?;
        }
    }
    if messages.len().is_multiple_of(2) {
        return Err("the last message must be from user".into());
    }
    Ok(())
}

fn results(content: &[Value], open: &mut Unanswered, at: usize) -> Result<(), String> {
    let mut words = false;
    for block in content {
        match block["type"].as_str().unwrap_or_default() {
            "text" => words = true,
            "tool_result" if words => {
                return Err(format!("messages[{at}]: a tool result follows text"));
            }
            "tool_result" => {
                texts_are_filled(&blocks(&block["content"]), at)?;
                open.answer(block["tool_use_id"].as_str().unwrap_or_default(), at)?;
            }
            other => return Err(format!("messages[{at}]: '{other}' is not a user block")),
        }
    }
    Ok(())
}

fn calls(content: &[Value], at: usize) -> Result<Unanswered, String> {
    let mut ids = Vec::new();
    for block in content {
        match block["type"].as_str().unwrap_or_default() {
            "text" => {}
            "thinking" if block["signature"] != SIGNATURE => {
                return Err(format!("messages[{at}]: the signature of a thinking block is wrong"));
            }
            "thinking" | "redacted_thinking" => {}
            "tool_use" if !block["input"].is_object() => {
                return Err(format!("messages[{at}]: the input of a tool_use is not an object"));
            }
            "tool_use" => ids.push(block["id"].as_str().unwrap_or_default().to_owned()),
            other => return Err(format!("messages[{at}]: '{other}' is not an assistant block")),
        }
    }
    Unanswered::of(ids, at)
}

/// With thinking enabled, the assistant messages of the current tool loop must start with their reasoning.
fn reasoning_comes_back(messages: &[Value]) -> Result<(), String> {
    for (at, message) in messages.iter().enumerate().rev() {
        let content = blocks(&message["content"]);
        if message["role"] == "user" {
            if content.iter().any(|block| block["type"] == "text") {
                return Ok(());
            }
        } else if !content[0]["type"].as_str().unwrap_or_default().contains("thinking") {
            return Err(format!("messages[{at}]: must start with a thinking block"));
        }
    }
    Ok(())
}

/// A content as blocks; a bare string is one text block.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks.clone(),
        other => vec![serde_json::json!({"type": "text", "text": other})],
    }
}

fn texts_are_filled(blocks: &[Value], at: usize) -> Result<(), String> {
    let empty = |block: &Value| {
        block["type"] == "text" && block["text"].as_str().unwrap_or_default().trim().is_empty()
    };
    if blocks.is_empty() || blocks.iter().any(empty) {
        return Err(format!("messages[{at}]: the content or one of its texts is empty"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_history_that_does_not_alternate_or_pair_is_refused() {
        let user = json!({"role": "user", "content": "hi"});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        let asks = json!({"role": "assistant", "content": [call("a"), call("b")]});
        let answers = |blocks: &[Value]| json!({"role": "user", "content": blocks});
        let text = json!({"type": "text", "text": "and"});
        let good = answers(&[result("b"), result("a"), text.clone()]);
        assert_eq!(history(&[user.clone(), asks.clone(), good]), Ok(()));
        let bad: [&[Value]; 7] = [
            &[user.clone(), user.clone()],
            std::slice::from_ref(&asks),
            &[user.clone(), asks.clone()],
            &[user.clone(), asks.clone(), answers(&[result("a")])],
            &[user.clone(), asks.clone(), answers(&[text, result("a"), result("b")])],
            &[user.clone(), asks.clone(), answers(&[result("a"), result("b"), result("b")])],
            &[json!({"role": "user", "content": [{"type": "text", "text": ""}]})],
        ];
        for messages in bad {
            assert!(history(messages).is_err(), "{messages:?}");
        }
    }
}
