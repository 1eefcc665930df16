//! The only place that knows which backend is in use.

use std::path::PathBuf;
use std::sync::Arc;

use ports::{PortError, Ports};

use crate::local::bus::LocalBus;
use crate::local::clock::SystemClock;
use crate::local::files::LocalFiles;
use crate::local::queue::LocalQueue;
use crate::options::{BackendOptions, Options};
use crate::sqlite::{self, Sqlite};

pub async fn connect(options: &Options) -> Result<Connected, ConnectError> {
    match &options.backend {
        BackendOptions::Embedded { data } => {
            let clock = Arc::new(SystemClock);
            let store = sqlite::open(data.clone(), options, clock.clone()).await?;
            let files = LocalFiles::open(data.join("workspaces")).await.map_err(|source| {
                ConnectError::Directory { directory: data.clone(), reason: source.to_string() }
            })?;
            let store = Arc::new(store);
            let ports = Ports {
                sessions: store.clone(),
                messages: store.clone(),
                turns: store.clone(),
                outbox: store.clone(),
                leases: store.clone(),
                queue: Arc::new(LocalQueue::new(options.deaf)),
                log: store.clone(),
                bus: Arc::new(LocalBus::new(options.deaf)),
                files: Arc::new(files),
                api_keys: store.clone(),
                health: store.clone(),
                clock,
            };
            Ok(Connected { ports, backend: Backend { store } })
        }
        BackendOptions::Distributed(_) => Err(ConnectError::Directory {
            directory: PathBuf::new(),
            reason: "in preparation".to_owned(),
        }),
    }
}

/// A backend that is ready, and the handle that ends it.
pub struct Connected {
    pub ports: Ports,
    pub backend: Backend,
}

pub struct Backend {
    store: Arc<Sqlite>,
}

impl Backend {
    /// Finishes what was accepted, folds the write-ahead log into the database and lets go of the
    /// directory. Ports that are still around answer `Closed` from then on.
    pub async fn close(self) -> Result<(), PortError> {
        self.store.close().await
    }
}

/// Why a backend could not be opened, in a sentence for the person who starts the program.
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
        "the encryption key is not the one the database {} was first opened with; give that key, or use another data directory",
        .database.display()
    )]
    WrongKey { database: PathBuf },
    #[error(
        "the database {} was opened with an encryption key before and needs it again, but none is configured",
        .database.display()
    )]
    KeyMissing { database: PathBuf },
    #[error("the database {} could not be opened: {reason}", .database.display())]
    Storage { database: PathBuf, reason: String },
}
