//! Tools that the operator has described in a file, and what they lack to be of use.

use anyhow::Context;
use toolbox::external::ExternalToolDescription;

use crate::config::{Role, Settings};

pub(crate) fn load(settings: &Settings) -> anyhow::Result<Vec<ExternalToolDescription>> {
    let Some(file) = &settings.tools_file else { return Ok(Vec::new()) };
    let named = || format!("CHAT_TOOLS_FILE {}", file.display());
    let text =
        std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", named()))?;
    toolbox::external::load(&text).map_err(|wrong| anyhow::anyhow!("{}: {wrong}", named()))
}

/// Why the services of long-running tools could not say what became of their work, if it is for this process to let
/// them.
pub(crate) fn cannot_call_back(
    settings: &Settings,
    tools: &[ExternalToolDescription],
) -> Option<&'static str> {
    if !tools.iter().any(ExternalToolDescription::is_long_running) {
        return None;
    }
    let serves_clients = settings.roles.has(Role::Api);
    if serves_clients && settings.internal_api_key.is_none() {
        return Some(
            "some external tools are long-running, but no service can report a result, because CHAT_INTERNAL_API_KEY is not set.",
        );
    }
    if !serves_clients && settings.platform_base_url.is_none() {
        return Some(
            "some external tools are long-running, but services are not told where to report a result, because PLATFORM_BASE_URL is not set.",
        );
    }
    None
}
