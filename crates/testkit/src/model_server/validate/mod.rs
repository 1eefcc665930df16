//! Strict validation of requests. Real providers are lenient in different places; none of them refuses a history that
//! passes here.

mod anthropic;
mod openai;

use std::collections::HashSet;

use http::HeaderMap;
use serde_json::Value;

use super::wire::Dialect;

/// Fails with the first rule that the request breaks.
pub(crate) fn check(dialect: Dialect, headers: &HeaderMap, body: &Value) -> Result<(), String> {
    if body["stream"] != true {
        return Err("stream must be true".into());
    }
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return Err("model must be named".into());
    }
    match dialect {
        Dialect::OpenAi => openai::check(body),
        Dialect::Anthropic => anthropic::check(headers, body),
    }
}

fn messages(body: &Value) -> Result<&Vec<Value>, String> {
    body["messages"]
        .as_array()
        .filter(|messages| !messages.is_empty())
        .ok_or_else(|| "messages must be a non-empty list".to_owned())
}

/// The calls of one assistant message that still lack a result.
#[derive(Default)]
struct Unanswered(Vec<String>);

impl Unanswered {
    fn of(ids: Vec<String>, at: usize) -> Result<Self, String> {
        if ids.iter().any(String::is_empty) {
            return Err(format!("messages[{at}]: a tool call has no id"));
        }
        if ids.iter().collect::<HashSet<_>>().len() != ids.len() {
            return Err(format!("messages[{at}]: two tool calls have the same id"));
        }
        Ok(Self(ids))
    }

    fn answer(&mut self, id: &str, at: usize) -> Result<(), String> {
        let position =
            self.0.iter().position(|open| open == id).ok_or_else(|| {
                format!("messages[{at}]: the result for {id} answers no open call")
            })?;
        self.0.remove(position);
        Ok(())
    }

    fn all_answered(&self, at: usize) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some(id) => Err(format!("messages[{at}]: the call {id} has no result before this")),
        }
    }
}

fn unique_tools<'a>(names: impl Iterator<Item = (&'a Value, &'a Value)>) -> Result<(), String> {
    let mut seen = HashSet::new();
    for (name, schema) in names {
        let name = name.as_str().unwrap_or_default();
        if name.is_empty() || !seen.insert(name) {
            return Err(format!("tools: the name '{name}' is empty or used twice"));
        }
        if schema["type"] != "object" {
            return Err(format!("tools: the schema of {name} is not an object"));
        }
    }
    if seen.is_empty() {
        return Err("tools: an empty list must be left out".into());
    }
    Ok(())
}
