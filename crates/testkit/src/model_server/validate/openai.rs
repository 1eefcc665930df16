//! Rules for a chat completion request.

use serde_json::Value;

use super::{Unanswered, messages, unique_tools};

pub(crate) fn check(body: &Value) -> Result<(), String> {
    if body["stream_options"]["include_usage"] != true {
        return Err("stream_options.include_usage must be true".into());
    }
    if let Some(tools) = body.get("tools") {
        let tools = tools.as_array().ok_or("tools must be a list")?;
        if tools.iter().any(|tool| tool["type"] != "function") {
            return Err("tools: every tool must be a function".into());
        }
        unique_tools(
            tools.iter().map(|tool| (&tool["function"]["name"], &tool["function"]["parameters"])),
        )?;
    }
    history(messages(body)?)
}

fn history(messages: &[Value]) -> Result<(), String> {
    let mut open = Unanswered::default();
    let mut previous = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let content = message["content"].as_str().unwrap_or_default();
        if role != "tool" {
            open.all_answered(at)?;
            if role == previous {
                return Err(format!("messages[{at}]: a second {role} message in a row"));
            }
        }
        match role {
            "system" if at == 0 => filled(content, at)?,
            "user" => filled(content, at)?,
            "assistant" => {
                let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
                if calls.is_empty() {
                    filled(content, at)?;
                }
                open = called(calls, at)?;
            }
            "tool" => {
                filled(content, at)?;
                open.answer(message["tool_call_id"].as_str().unwrap_or_default(), at)?;
            }
            other => return Err(format!("messages[{at}]: '{other}' is not a valid role here")),
        }
        previous = role;
    }
    open.all_answered(messages.len())?;
    match previous {
        "user" | "tool" => Ok(()),
        other => Err(format!("the last message must not be from {other}")),
    }
}

fn called(calls: &[Value], at: usize) -> Result<Unanswered, String> {
    for call in calls {
        let name = call["function"]["name"].as_str().unwrap_or_default();
        if call["type"] != "function" || name.is_empty() {
            return Err(format!("messages[{at}]: a tool call is not a named function"));
        }
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            return Err(format!("messages[{at}]: the arguments of {name} are not a JSON object"));
        }
    }
    let ids = calls.iter().map(|call| call["id"].as_str().unwrap_or_default().to_owned());
    Unanswered::of(ids.collect(), at)
}

fn filled(content: &str, at: usize) -> Result<(), String> {
    if content.trim().is_empty() {
        return Err(format!("messages[{at}]: the content is empty"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}})
    }

    #[test]
    fn a_history_with_a_gap_a_repeat_or_an_empty_message_is_refused() {
        let user = json!({"role": "user", "content": "hi"});
        let asks =
            json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "ok"});
        let says = |text: &str| json!({"role": "assistant", "content": text});
        let good = [user.clone(), asks.clone(), result("b"), result("a"), says("x"), user.clone()];
        assert_eq!(history(&good), Ok(()));
        let bad: [&[Value]; 8] = [
            &[user.clone(), asks.clone(), result("a")],
            &[user.clone(), asks.clone(), result("a"), user.clone()],
            &[user.clone(), asks.clone(), result("a"), result("a"), result("b")],
            &[user.clone(), asks, result("a"), result("b"), result("c")],
            &[user.clone(), result("a")],
            &[user.clone(), says(" "), user.clone()],
            &[user.clone(), user.clone()],
            &[user.clone(), says("prefill")],
        ];
        for messages in bad {
            assert!(history(messages).is_err(), "{messages:?}");
        }
    }
}
