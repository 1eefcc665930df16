//! Which backend to use, and where its data and servers are.

use std::path::PathBuf;
use std::time::Duration;

use protocol::limits::UserLimits;
use protocol::secret::SecretText;

#[derive(Clone, Debug)]
pub struct ConnectOptions {
    pub backend: BackendOptions,
    /// Key that protects stored secrets. A store that was opened with one opens with no other.
    pub encryption_key: Option<SecretText>,
    /// Limits per user.
    pub caps: UserLimits,
    /// Turns off every in-memory wake-up, to prove that they are only hints: everything still happens at the next poll.
    pub deaf: bool,
}

#[derive(Clone, Debug)]
pub enum BackendOptions {
    /// Everything in one folder of this machine, for one process.
    Embedded { data: PathBuf },
    /// Postgres, Redis and RabbitMQ, for any number of processes.
    Distributed(Box<DistributedOptions>),
}

#[derive(Clone, Debug)]
pub struct DistributedOptions {
    /// Folder of the workspace files; the same for every process.
    pub data: PathBuf,
    /// `postgres://user:password@host:5432/database`; `sslmode=require` and other parameters are supported.
    pub postgres_url: SecretText,
    /// Size of this process's connection pool.
    pub postgres_connections: usize,
    /// `redis://:password@host:6379/0`, or `rediss://` for TLS.
    pub redis_url: SecretText,
    /// `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS.
    pub rabbitmq_url: SecretText,
    /// Prefix of the names of exchanges and queues, so that several installations can share a broker. Usually empty.
    pub rabbitmq_prefix: String,
    /// How long the stream of a finished turn is kept in Redis; the store keeps it as long as its session.
    pub stream_ttl: Duration,
}

impl ConnectOptions {
    pub fn embedded(data: impl Into<PathBuf>) -> Self {
        Self {
            backend: BackendOptions::Embedded { data: data.into() },
            encryption_key: None,
            caps: UserLimits::default(),
            deaf: false,
        }
    }
}
