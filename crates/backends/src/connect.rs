//! Connects to the configured backend. Nothing else knows which one is in use.

use std::path::PathBuf;
use std::sync::Arc;

use ports::{PortError, Ports, ServicePorts};

use crate::distributed::{self, DistributedServers};
use crate::local::bus::LocalBus;
use crate::local::clock::SystemClock;
use crate::local::files::LocalFiles;
use crate::local::queue::LocalQueue;
use crate::options::{BackendOptions, ConnectOptions};
use crate::sqlite::{self, SqliteStore};

pub async fn connect(options: &ConnectOptions) -> Result<ConnectedBackend, ConnectError> {
    match &options.backend {
        BackendOptions::Embedded { data } => {
            let clock = Arc::new(SystemClock);
            let store = sqlite::open(data.clone(), options, clock.clone()).await?;
            let files = LocalFiles::open(data.join("workspaces")).await.map_err(|source| {
                ConnectError::Directory { directory: data.clone(), reason: source.to_string() }
            })?;
            let store = Arc::new(store);
            let ports = Ports::new(
                store.clone(),
                ServicePorts {
                    completions: store.clone(),
                    queue: Arc::new(LocalQueue::new(options.deaf)),
                    log: store.clone(),
                    bus: Arc::new(LocalBus::new(options.deaf)),
                    files: Arc::new(files),
                    health: store.clone(),
                    clock,
                },
            );
            Ok(ConnectedBackend { ports, backend: BackendHandle(BackendKind::Embedded(store)) })
        }
        BackendOptions::Distributed(servers) => {
            let (ports, store) = distributed::connect(options, servers).await?;
            Ok(ConnectedBackend { ports, backend: BackendHandle(BackendKind::Distributed(store)) })
        }
    }
}

/// The ports of a connected backend, and the handle that closes it.
pub struct ConnectedBackend {
    pub ports: Ports,
    pub backend: BackendHandle,
}

pub struct BackendHandle(BackendKind);

enum BackendKind {
    Embedded(Arc<SqliteStore>),
    Distributed(Arc<DistributedServers>),
}

impl BackendHandle {
    /// Completes accepted work and releases the directory or the servers. Remaining ports return `Closed` from then on.
    pub async fn close(self) -> Result<(), PortError> {
        match self.0 {
            BackendKind::Embedded(store) => store.close().await,
            BackendKind::Distributed(servers) => {
                servers.close().await;
                Ok(())
            }
        }
    }
}

/// Why a backend could not be opened, as a message for the person who starts the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    #[error(
        "another Pilothouse process is using the data directory {}; stop it, or give this one a directory of its own",
        .directory.display()
    )]
    InUse { directory: PathBuf },
    #[error("the data directory {} cannot be used: {reason}", .directory.display())]
    Directory { directory: PathBuf, reason: String },
    #[error(
        "the database {} was written by a newer version of Pilothouse (its schema is {found}, this version knows {known}); start that version, or restore a backup made with this one",
        .database.display()
    )]
    Newer { database: PathBuf, found: i64, known: i64 },
    #[error(
        "the database {database} is damaged ({reason}). Nothing was changed. To go back to a backup: move {database}, {database}-wal and {database}-shm out of the way, copy the backup to {database}, and start again",
        database = .database.display()
    )]
    Damaged { database: PathBuf, reason: String },
    #[error(
        "the encryption key is not the one the database {} was first opened with; give that key, or use another database",
        .database.display()
    )]
    WrongKey { database: PathBuf },
    #[error(
        "the database {} was opened with an encryption key before and needs it again, but none is configured",
        .database.display()
    )]
    KeyMissing { database: PathBuf },
    #[error(
        "DATABASE_URL is not understood: {reason}; it looks like postgres://user:password@host:5432/database"
    )]
    PostgresUrl { reason: String },
    #[error(
        "Postgres at {address} cannot be used: {reason}; check that it is running and reachable from here, and that DATABASE_URL names the right host, port, user, password and database"
    )]
    Postgres { address: String, reason: String },
    #[error(
        "Redis at {address} cannot be used: {reason}; start it, or correct its address in the settings"
    )]
    Redis { address: String, reason: String },
    #[error(
        "the RabbitMQ address cannot be read; it looks like amqp://user:password@host:5672/vhost"
    )]
    BrokerAddress,
    #[error("RabbitMQ at {broker} cannot be reached: {reason}")]
    BrokerUnreachable { broker: String, reason: String },
    #[error(
        "RabbitMQ at {broker} refuses the user {user}; check the name and the password in its address"
    )]
    BrokerRefused { broker: String, user: String },
    #[error(
        "RabbitMQ at {broker} gives no access to the virtual host {vhost} ({reason}); create it, permit it, or name another one in the address"
    )]
    BrokerVhost { broker: String, vhost: String, reason: String },
    #[error(
        "RabbitMQ at {broker} has a queue or exchange of ours with other properties ({reason}); delete it there, which loses nothing because the database knows what was waiting, or set another prefix for the names"
    )]
    BrokerTopology { broker: String, reason: String },
    #[error("RabbitMQ at {broker} cannot be used: {reason}")]
    Broker { broker: String, reason: String },
    #[error("the database {} could not be opened: {reason}", .database.display())]
    Storage { database: PathBuf, reason: String },
}
