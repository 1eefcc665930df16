//! Hides sensitive values: in tool arguments for logs, where long ones are truncated, too, and in agents that are shown
//! because they could not be saved.

use serde_json::Value;

use crate::secret::HIDDEN;
use crate::text::cut_end;

const STRING_CHARS: usize = 200;
const TOTAL_CHARS: usize = 500;

/// Parts of key names whose values must not be logged.
const SENSITIVE: &[&str] = &[
    "api_key",
    "apikey",
    "auth",
    "cookie",
    "credential",
    "passwd",
    "password",
    "private_key",
    "privatekey",
    "secret",
    "session_key",
    "token",
];

/// Keys whose values are replaced in an agent. An agent has many keys that merely contain one of these words.
const SECRET_KEYS: &[&str] = &[
    "access_token",
    "api_key",
    "api_secret",
    "apikey",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "password",
    "private_key",
    "privatekey",
    "refresh_token",
    "secret",
    "token",
];
const REDACTED: &str = "[REDACTED]";

/// Replaces the values of keys that are named like a secret, at any depth.
pub fn hide_secrets(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide_secrets),
        Value::Object(members) => {
            for (key, inner) in members {
                let key = key.to_ascii_lowercase().replace('-', "_");
                match SECRET_KEYS.contains(&key.as_str()) {
                    true if inner.is_null() => {}
                    true => *inner = Value::String(REDACTED.to_owned()),
                    false => hide_secrets(inner),
                }
            }
        }
        _ => {}
    }
}

pub fn for_log(arguments: &Value) -> String {
    let hidden = hide(arguments).to_string();
    // Control characters could imitate log lines or terminal escape sequences.
    let plain: String = hidden.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut_end(&plain, TOTAL_CHARS)
}

fn hide(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut_end(text, STRING_CHARS)),
        Value::Array(items) => Value::Array(items.iter().map(hide).collect()),
        Value::Object(map) => map
            .iter()
            .map(|(key, inner)| {
                let inner =
                    if is_sensitive(key) { Value::String(HIDDEN.into()) } else { hide(inner) };
                (key.clone(), inner)
            })
            .collect(),
        other => other.clone(),
    }
}

pub fn is_sensitive(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    SENSITIVE.iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_at_any_depth_and_long_values_are_truncated() {
        let logged = for_log(&json!({
            "url": "https://x.example",
            "headers": [{"Authorization": "Bearer abc", "X-Api-Key": "k"}],
            "body": "x".repeat(300),
        }));
        assert!(!logged.contains("Bearer abc") && !logged.contains("\"k\""));
        assert_eq!(logged.matches(HIDDEN).count(), 2);
        assert!(logged.contains("https://x.example") && logged.contains('…'));
        assert!(for_log(&json!({"a": "y".repeat(150), "b": ["z".repeat(190), "z".repeat(190), "z".repeat(190)]})).chars().count() <= TOTAL_CHARS + 1);
    }

    #[test]
    fn values_of_secret_keys_are_replaced_at_any_depth_and_others_stay() {
        let mut agent = json!({"name": "Mail", "nodes": [{"input_default": {
            "API-Key": "k", "password": {"a": 1}, "Authorization": "Bearer x", "token": null,
            "max_tokens": 5, "author": "me", "headers": {"access_token": "t", "accept": "*/*"},
        }}]});
        hide_secrets(&mut agent);
        assert_eq!(
            agent,
            json!({"name": "Mail", "nodes": [{"input_default": {
                "API-Key": REDACTED, "password": REDACTED, "Authorization": REDACTED, "token": null,
                "max_tokens": 5, "author": "me", "headers": {"access_token": REDACTED, "accept": "*/*"},
            }}]})
        );
    }

    #[test]
    fn a_value_cannot_imitate_a_log_line() {
        assert!(
            !for_log(&json!({"a": "\n2026 ERROR \u{1b}]0;x\u{7}"}))
                .contains(['\n', '\u{1b}', '\u{7}'])
        );
    }
}
