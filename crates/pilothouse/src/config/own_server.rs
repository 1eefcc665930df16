//! The settings of a server that a command starts for itself: in this process, for nobody else, with a store of its own.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use super::{AuthMode, BasePath, ProcessRoles, ProviderName, Settings, Switch};

/// Which generator makes agents on such a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnGenerator {
    /// The configured one.
    Configured,
    Offline,
}

impl Settings {
    /// The model and the limits stay as configured; what other machines could notice does not.
    pub(crate) fn for_own_server(&self, data: PathBuf, generator: OwnGenerator) -> Self {
        let own = Self {
            data,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            executor_port: None,
            platform_base_url: None,
            frontend_base_url: None,
            base_path: BasePath::default(),
            auth_mode: AuthMode::Local,
            client_token: None,
            roles: ProcessRoles::all(),
            database_url: None,
            db_host: None,
            redis_url: None,
            redis_host: None,
            rabbitmq_url: None,
            rabbitmq_host: None,
            tools_file: None,
            credits_enabled: Switch::Off,
            ..self.clone()
        };
        match generator {
            OwnGenerator::Configured => own,
            OwnGenerator::Offline => Self {
                chat_provider: Some(ProviderName::Offline),
                generator_host: None,
                generator_use_dummy: Switch::Off,
                ..own
            },
        }
    }
}
