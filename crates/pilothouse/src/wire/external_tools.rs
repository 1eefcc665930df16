//! External tools, described by the operator in a file, and the settings they need.

use anyhow::Context;
use toolbox::external::ExternalToolDescription;

use crate::config::{ProcessRole, Settings};

pub(crate) fn load(settings: &Settings) -> anyhow::Result<Vec<ExternalToolDescription>> {
    let Some(file) = &settings.tools_file else { return Ok(Vec::new()) };
    let named = || format!("CHAT_TOOLS_FILE {}", file.display());
    let text =
        std::fs::read_to_string(file).with_context(|| format!("could not read {}", named()))?;
    toolbox::external::load(&text).map_err(|error| anyhow::anyhow!("{}: {error}", named()))
}

/// Why the services of long-running tools cannot report results, if this process is responsible for receiving them.
pub(crate) fn callback_problem(
    settings: &Settings,
    tools: &[ExternalToolDescription],
) -> Option<&'static str> {
    if !tools.iter().any(ExternalToolDescription::is_long_running) {
        return None;
    }
    let serves_clients = settings.roles.has(ProcessRole::Api);
    if serves_clients && settings.internal_api_key.is_none() {
        return Some(
            "some external tools are long-running, but their services cannot report results, because CHAT_INTERNAL_API_KEY is not set.",
        );
    }
    if !serves_clients && settings.platform_base_url.is_none() {
        return Some(
            "some external tools are long-running, but their services do not know where to report results, because PLATFORM_BASE_URL is not set.",
        );
    }
    None
}
