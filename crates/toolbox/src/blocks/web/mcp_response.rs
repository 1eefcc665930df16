//! Responses of an MCP server: JSON-RPC in a plain body or an event stream, and the content of a tool result.

use serde_json::{Value, json};

/// The result of the call with this id, or a readable error.
pub(crate) fn result(content_type: &str, body: &str, id: u64) -> Result<Value, String> {
    let message = messages(content_type, body)
        .into_iter()
        .find(|message| message["id"] == json!(id))
        .ok_or("The MCP server did not answer the call.")?;
    match (message.get("result"), message["error"]["message"].as_str()) {
        (Some(result), _) => Ok(result.clone()),
        (None, Some(error)) => Err(format!("The MCP server returned an error: {error}")),
        (None, None) => Err("The MCP server sent an invalid response.".to_owned()),
    }
}

/// Whether an event stream contains a complete event with a response.
pub(crate) fn is_complete(body: &[u8]) -> bool {
    if !body.ends_with(b"\n\n") && !body.ends_with(b"\r\n\r\n") {
        return false;
    }
    let text = String::from_utf8_lossy(body);
    let is_response =
        |message: &Value| message.get("result").is_some() || message.get("error").is_some();
    events(&text).iter().any(is_response)
}

/// The content of a tool result: one part as it is, several as a list, or the tool's error message.
pub(crate) fn content(result: &Value) -> Result<Value, String> {
    let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    if result["isError"] == json!(true) {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        return Err(match texts.is_empty() {
            true => "The tool failed with no error message.".to_owned(),
            false => format!("The tool failed: {}", texts.join("\n")),
        });
    }
    let mut values: Vec<Value> = parts.iter().filter_map(part).collect();
    Ok(match (values.len(), result.get("structuredContent")) {
        (0, Some(structured)) => structured.clone(),
        (0, None) => Value::Null,
        (1, _) => values.remove(0),
        _ => Value::Array(values),
    })
}

fn part(part: &Value) -> Option<Value> {
    match part["type"].as_str()? {
        "text" => {
            let text = part["text"].as_str()?;
            Some(serde_json::from_str(text).unwrap_or_else(|_| json!(text)))
        }
        kind @ ("image" | "audio") => {
            Some(json!({ "type": kind, "data": part["data"], "mimeType": part["mimeType"] }))
        }
        "resource" => Some(part["resource"].clone()),
        "resource_link" => Some(part.clone()),
        _ => None,
    }
}

fn messages(content_type: &str, body: &str) -> Vec<Value> {
    if content_type.to_ascii_lowercase().starts_with("text/event-stream") {
        return events(body);
    }
    match serde_json::from_str(body) {
        Ok(Value::Array(messages)) => messages,
        Ok(message) => vec![message],
        Err(_) => Vec::new(),
    }
}

fn events(body: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut data = String::new();
    for line in body.lines().chain([""]) {
        if let Some(piece) = line.strip_prefix("data:") {
            data.push_str(piece.strip_prefix(' ').unwrap_or(piece));
            data.push('\n');
        } else if line.is_empty() {
            messages.extend(serde_json::from_str::<Value>(&data).ok());
            data.clear();
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_found_in_a_body_and_in_a_stream() {
        let plain = r#"{"jsonrpc": "2.0", "id": 2, "result": {"a": 1}}"#;
        let stream = ": hello\n\nevent: message\ndata: {\"method\": \"notifications/progress\"}\n\n\
            data: {\"id\": 2,\ndata: \"result\": {\"a\": 1}}\n\n";
        assert_eq!(result("application/json", plain, 2), Ok(json!({ "a": 1 })));
        assert_eq!(result("text/event-stream; charset=utf-8", stream, 2), Ok(json!({ "a": 1 })));
        assert!(result("application/json", plain, 3).is_err());
        let refused = r#"{"id": 2, "error": {"code": -1, "message": "no such tool"}}"#;
        let why = result("application/json", refused, 2).expect_err("a refusal");
        assert!(why.contains("no such tool"));
        assert!(
            is_complete(stream.as_bytes()) && !is_complete(&stream.as_bytes()[..stream.len() - 1])
        );
        assert!(!is_complete(b"data: {\"method\": \"notifications/progress\"}\n\n"));
    }

    #[test]
    fn the_content_of_a_result_is_unwrapped() {
        for (given, meant) in [
            (json!({ "content": [{ "type": "text", "text": "{\"t\": 20}" }] }), json!({ "t": 20 })),
            (json!({ "content": [{ "type": "text", "text": "warm" }] }), json!("warm")),
            (
                json!({ "content": [
                    { "type": "text", "text": "a" },
                    { "type": "resource", "resource": { "uri": "u" } },
                ] }),
                json!(["a", { "uri": "u" }]),
            ),
            (json!({ "content": [], "structuredContent": { "t": 1 } }), json!({ "t": 1 })),
            (json!({}), Value::Null),
        ] {
            assert_eq!(content(&given), Ok(meant));
        }
        let failed = json!({ "isError": true, "content": [{ "type": "text", "text": "no city" }] });
        assert!(content(&failed).expect_err("a failure").contains("no city"));
    }
}
