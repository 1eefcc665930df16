//! The configuration of external tools, validated when the server starts.

use std::collections::HashSet;

use protocol::limits::TOOL_SCHEMA_CHARS;
use protocol::secret::SecretText;
use protocol::tool::ToolEffect;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use url::Url;

use crate::operator_http;

const NAME_CHARS: usize = 64;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalToolDescription {
    pub(crate) name: String,
    /// Tells the model what the tool does and when to use it.
    pub(crate) description: String,
    /// JSON schema of the arguments, an object.
    pub(crate) parameters: Value,
    #[serde(deserialize_with = "address")]
    pub(crate) url: Url,
    /// Whether a call is an operation, whose result may arrive by callback.
    #[serde(default)]
    pub(crate) long_running: bool,
    #[serde(default)]
    effect: Option<ToolEffect>,
    #[serde(default = "yes")]
    pub(crate) requires_auth: bool,
    /// After this time the call continues in the background.
    #[serde(default)]
    pub(crate) budget_seconds: Option<u32>,
    #[serde(default)]
    pub(crate) secret: Option<ToolSecret>,
}

/// Parses the external tools file. The error tells the operator what to correct.
pub fn load(text: &str) -> Result<Vec<ExternalToolDescription>, String> {
    let ExternalToolsFile { tools } = serde_json::from_str(text)
        .map_err(|error| format!("The external tools file cannot be read: {error}."))?;
    let mut names = HashSet::new();
    let mut chars = 0;
    for tool in &tools {
        tool.check().map_err(|what| format!("External tool \"{}\": {what}", tool.name))?;
        if !names.insert(&tool.name) {
            return Err(format!("Two external tools are named \"{}\": rename one.", tool.name));
        }
        chars += tool.name.chars().count() + tool.description.chars().count();
        chars += tool.parameters.to_string().chars().count();
    }
    if chars > TOOL_SCHEMA_CHARS {
        return Err(format!(
            "The names, descriptions and parameters of the external tools have {chars} characters, which are sent with \
            every model call. Shorten them to {TOOL_SCHEMA_CHARS}."
        ));
    }
    Ok(tools)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExternalToolsFile {
    tools: Vec<ExternalToolDescription>,
}

impl ExternalToolDescription {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its result may arrive by callback.
    pub fn is_long_running(&self) -> bool {
        self.long_running
    }

    /// The effect of repeated calls. Unless configured, a service is called at most once, except for operations: their id
    /// lets the service recognize a repetition.
    pub(crate) fn effect(&self) -> ToolEffect {
        let default = if self.long_running { ToolEffect::Idempotent } else { ToolEffect::Once };
        self.effect.unwrap_or(default)
    }

    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if self.name.is_empty() || self.name.len() > NAME_CHARS || !self.name.chars().all(plain) {
            return Err(format!(
                "the name must be 1 to {NAME_CHARS} of the characters a-z, 0-9 and _."
            ));
        }
        if self.description.trim().is_empty() {
            return Err(
                "the description is empty; the model uses it to decide when to call.".into()
            );
        }
        if self.parameters["type"] != "object" {
            return Err("the parameters must be a JSON schema with \"type\": \"object\".".into());
        }
        jsonschema::validator_for(&self.parameters)
            .map_err(|error| format!("the parameters are not a valid JSON schema: {error}."))?;
        if self.budget_seconds == Some(0) {
            return Err("budget_seconds must be at least 1.".into());
        }
        Ok(())
    }
}

/// Sent to the service with every call, and never shown.
#[derive(Clone, Debug)]
pub(crate) struct ToolSecret {
    text: SecretText,
    header: HeaderValue,
}

impl ToolSecret {
    pub(crate) fn bearer(&self) -> HeaderValue {
        self.header.clone()
    }

    /// Removes the secret from a service's response, which may echo it.
    pub(crate) fn removed_from(&self, text: &str) -> String {
        self.text.removed_from(text)
    }
}

impl<'de> Deserialize<'de> for ToolSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Deserialized as any value first, because serde's error for a wrong type quotes the value.
        let Value::String(text) = Value::deserialize(deserializer)? else {
            return Err(de::Error::custom("the secret must be a string"));
        };
        let header = HeaderValue::try_from(format!("Bearer {text}")).ok();
        let Some(mut header) = header.filter(|_| !text.is_empty()) else {
            return Err(de::Error::custom(
                "the secret must not be empty or contain control characters",
            ));
        };
        header.set_sensitive(true);
        Ok(Self { text: text.into(), header })
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    operator_http::address(&String::deserialize(deserializer)?).ok_or_else(|| {
        de::Error::custom(
            "the url must be an http:// or https:// URL with a host and without a user name",
        )
    })
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(change: &Value) -> String {
        let mut tool = json!({
            "name": "print_3d",
            "description": "Prints a model.",
            "parameters": {"type": "object", "properties": {"model": {"type": "string"}}},
            "url": "http://127.0.0.1:9000/print",
            "secret": "s3cret-word",
        });
        for (key, value) in change.as_object().expect("an object") {
            tool[key] = value.clone();
        }
        json!({"tools": [tool]}).to_string()
    }

    #[test]
    fn an_unspecified_effect_defaults_to_once() {
        let [tool] = load(&file(&json!({}))).expect("good").try_into().expect("one");
        let tool: ExternalToolDescription = tool;
        assert_eq!(
            (tool.name(), tool.effect(), tool.budget_seconds),
            ("print_3d", ToolEffect::Once, None)
        );
        assert!(tool.requires_auth && !tool.long_running);
        assert!(!format!("{tool:?}").contains("s3cret"), "{tool:?}");
    }

    #[test]
    fn errors_name_the_mistake_but_not_the_secret() {
        for (change, says) in [
            (json!({"name": "Print"}), "a-z, 0-9 and _"),
            (json!({"name": ""}), "a-z, 0-9 and _"),
            (json!({"name": "x".repeat(65)}), "1 to 64"),
            (json!({"description": " "}), "description is empty"),
            (json!({"parameters": {"type": "string"}}), "\"type\": \"object\""),
            (json!({"parameters": {"type": "object", "required": 3}}), "not a valid JSON schema"),
            (
                json!({"parameters": {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}}}),
                "not a valid JSON schema",
            ),
            (json!({"url": "ftp://x"}), "http:// or https://"),
            (json!({"url": "https://me:word@x.example/"}), "without a user name"),
            (json!({"effect": "twice"}), "idempotent"),
            (json!({"budget_seconds": 0}), "at least 1"),
            (json!({"methd": "GET"}), "unknown field `methd`"),
            (json!({"secret": 12345}), "the secret must be a string"),
            (json!({"secret": "a\nb"}), "control characters"),
            (json!({"description": "x".repeat(33_000)}), "Shorten them"),
        ] {
            let error = load(&file(&change)).expect_err(says);
            assert!(error.contains(says), "{change}: {error}");
            assert!(!error.contains("s3cret") && !error.contains("12345"), "{error}");
        }
        assert!(load("{").expect_err("not JSON").contains("cannot be read"));
    }

    #[test]
    fn two_tools_cannot_share_a_name() {
        let one: Value = serde_json::from_str(&file(&json!({}))).expect("JSON");
        let twice = json!({"tools": [one["tools"][0], one["tools"][0]]}).to_string();
        assert!(load(&twice).expect_err("twice").contains("are named \"print_3d\""));
    }
}
