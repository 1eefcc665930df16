//! Which agent generator makes agents from words.

use super::server_url::{ServerUrl, UrlParts};
use super::{SelectedProvider, Settings, Switch};

/// The generator that the settings select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SelectedGenerator {
    Dummy,
    /// The base URL of the service.
    Service(String),
    Offline,
    Model,
}

impl Settings {
    /// The dummy if it is asked for, else the configured service, else the model or the pilot that responds in chats.
    pub(crate) fn generator(&self) -> Result<SelectedGenerator, String> {
        if self.generator_use_dummy == Switch::On {
            return Ok(SelectedGenerator::Dummy);
        }
        if let Some(host) = &self.generator_host {
            return self.generator_url(host).map(SelectedGenerator::Service);
        }
        Ok(match self.provider()? {
            SelectedProvider::Offline => SelectedGenerator::Offline,
            SelectedProvider::OpenAi { .. } | SelectedProvider::Anthropic { .. } => {
                SelectedGenerator::Model
            }
        })
    }

    fn generator_url(&self, host: &str) -> Result<String, String> {
        let parts = UrlParts {
            scheme: "http",
            // The parser of http URLs changes the case of a host, and a changed host counts as invalid.
            host: &host.to_ascii_lowercase(),
            port: self.generator_port,
            user: "",
            password: None,
            path: "",
        };
        let url = ServerUrl::of(&parts)
            .map_err(|expected| format!("AGENTGENERATOR_HOST must be {expected}."))?;
        Ok(url.expose().trim_end_matches('/').to_owned())
    }
}
