//! Which backend to use, and where it keeps its things.

use std::path::PathBuf;
use std::time::Duration;

use protocol::limits::UserLimits;

#[derive(Clone, Debug)]
pub struct Options {
    pub backend: BackendOptions,
    /// The key that protects stored secrets. Once a store has been opened with one, it opens with no other.
    pub encryption_key: Option<String>,
    /// How much one user may have under way.
    pub caps: UserLimits,
    /// Turns every in-memory wake-up off, to prove that they are only hints: everything still happens, on
    /// the next look.
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
    /// Holds the workspace files; the same folder for every process.
    pub data: PathBuf,
    /// `postgres://user:password@host:5432/database`; `sslmode=require` and other parameters are honoured.
    pub postgres_url: String,
    /// Connections to Postgres of this process.
    pub postgres_connections: usize,
    /// `redis://:password@host:6379/0`, or `rediss://` for TLS.
    pub redis_url: String,
    /// `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS.
    pub rabbitmq_url: String,
    /// Put before the names of exchanges and queues, so that several installations can share a broker. Usually empty.
    pub rabbitmq_prefix: String,
    /// How long the stream of a finished turn stays in Redis; the store keeps it for as long as its session.
    pub stream_ttl: Duration,
}

impl Options {
    pub fn embedded(data: impl Into<PathBuf>) -> Self {
        Self {
            backend: BackendOptions::Embedded { data: data.into() },
            encryption_key: None,
            caps: UserLimits::default(),
            deaf: false,
        }
    }
}
