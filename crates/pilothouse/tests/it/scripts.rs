//! What scripted models need: the settings that point a server at one, and the calls that they make.

use testkit::model_server::{API_KEY, Dialect, MODEL, ScriptedCall, TITLE_MODEL};

/// The settings that point a server at a scripted model.
pub(crate) fn settings_for(dialect: Dialect, url: &str) -> Vec<(&str, &str)> {
    let mut settings = vec![("CHAT_MODEL", MODEL), ("CHAT_TITLE_MODEL", TITLE_MODEL)];
    settings.extend(match dialect {
        Dialect::OpenAi => vec![("CHAT_BASE_URL", url), ("CHAT_API_KEY", API_KEY)],
        Dialect::Anthropic => vec![
            ("CHAT_PROVIDER", "anthropic"),
            ("ANTHROPIC_BASE_URL", url),
            ("ANTHROPIC_API_KEY", API_KEY),
        ],
    });
    settings
}

/// The settings that point a server at a scripted model, and additional ones.
pub(crate) fn model_settings<'a>(
    url: &'a str,
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let mut settings = settings_for(Dialect::OpenAi, url);
    settings.extend(more);
    settings
}

pub(crate) fn bash(id: &str, command: &str) -> ScriptedCall {
    ScriptedCall::new(id, "bash_exec", &serde_json::json!({"command": command}))
}

/// A call of a tool that needs no sandbox, no login and no network.
pub(crate) fn todo(id: &str, content: &str) -> ScriptedCall {
    let todos =
        serde_json::json!([{"content": content, "status": "pending", "activeForm": content}]);
    ScriptedCall::new(id, "todo_write", &serde_json::json!({"todos": todos}))
}
