//! The store that the settings select, and its description for people.

use backends::{BackendOptions, ConnectedBackend, DistributedOptions};
use protocol::limits::UserLimits;

use crate::config::{Settings, Switch};

pub(crate) async fn connect(settings: &Settings) -> anyhow::Result<ConnectedBackend> {
    Ok(backends::connect(&options(settings)).await?)
}

pub(crate) fn options(settings: &Settings) -> backends::ConnectOptions {
    let data = settings.data.clone();
    let backend = match settings.servers() {
        None => BackendOptions::Embedded { data },
        Some(servers) => BackendOptions::Distributed(Box::new(DistributedOptions {
            data,
            postgres_url: servers.postgres.expose().into(),
            postgres_connections: settings.db_connections,
            redis_url: servers.redis.expose().into(),
            rabbitmq_url: servers.rabbitmq.expose().into(),
            rabbitmq_prefix: settings.rabbitmq_prefix.clone(),
            stream_ttl: settings.stream_ttl.0,
        })),
    };
    backends::ConnectOptions {
        backend,
        encryption_key: settings.encryption_key.clone(),
        caps: UserLimits {
            running: settings.running_per_user,
            in_flight: settings.in_flight_per_user,
            executions: settings.executions_per_user,
        },
        deaf: settings.deaf == Switch::On,
    }
}

/// The store's location, without passwords.
pub(crate) fn describe(settings: &Settings) -> String {
    match settings.servers() {
        None => {
            let data = std::path::absolute(&settings.data);
            format!("embedded in {}", data.as_ref().unwrap_or(&settings.data).display())
        }
        Some(servers) => format!(
            "Postgres {}, Redis {}, RabbitMQ {}",
            servers.postgres.host_and_path(),
            servers.redis.host_and_path(),
            servers.rabbitmq.host_and_path()
        ),
    }
}
