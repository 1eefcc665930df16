//! Transfers everything of an embedded store to the servers of a distributed installation: completely and verified row
//! by row, or not at all. The embedded store is only read.

mod agents;
mod cell;
mod chats;
mod files;
mod source;
mod tables;
mod target;

use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use self::cell::TableRow;
use self::files::CopiedFiles;
use self::source::EmbeddedSource;
use self::tables::TransferTable;
use self::target::PostgresTarget;
use crate::options::{BackendOptions, ConnectOptions};
use crate::probe::dial;

/// Batches that were read and are not written yet.
const BATCHES: usize = 4;

/// What was copied, table by table; the last entry is the workspace files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferReport {
    pub compared: Vec<ComparedTable>,
    /// Turns that had not ended and continue on the servers.
    pub open_turns: u64,
    /// Executions that had not ended and continue on the servers.
    pub open_executions: u64,
}

/// A table that is the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedTable {
    pub name: &'static str,
    pub count: u64,
    /// SHA-256 over all rows in order.
    pub digest: String,
}

/// Why nothing was copied, as a message for the person who requested it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    #[error(
        "there is nowhere to copy to: configure Postgres, Redis and RabbitMQ (DATABASE_URL, REDIS_URL, RABBITMQ_URL)"
    )]
    NotDistributed,
    #[error("there is no embedded store in {}", .0.display())]
    NoSource(PathBuf),
    #[error("{} is in use; stop the server that runs on it first", .0.display())]
    InUse(PathBuf),
    #[error("the embedded store cannot be read: {0}")]
    Source(String),
    #[error(
        "the schema of the embedded store is version {found}, but this program copies version {known}; {}",
        if found < known { "run `pilothouse migrate` on it without the servers configured" } else { "use the version that wrote it" }
    )]
    SourceSchema { found: i64, known: i64 },
    #[error(
        "{0} completion messages of operations are unprocessed; start the server on the embedded store once more, and stop it again"
    )]
    Untaken(i64),
    #[error("Postgres cannot be used: {reason}. {advice}")]
    Unreachable { reason: String, advice: &'static str },
    #[error("Postgres refused: {0}")]
    Target(String),
    #[error(
        "the schema in Postgres is not version {known}; run `pilothouse migrate` first, and use one version of the program everywhere"
    )]
    TargetSchema { known: i64 },
    #[error("Postgres has data already ({0} is not empty); use an empty database")]
    NotEmpty(&'static str),
    #[error(
        "ENCRYPTION_KEY is not the one that the {0} was first opened with; both must have the same one"
    )]
    WrongKey(&'static str),
    #[error("the {0} was opened with an ENCRYPTION_KEY before; set it")]
    KeyMissing(&'static str),
    #[error(
        "{what} differs after copying ({source_count} read, {target_count} written); nothing was kept"
    )]
    Differs { what: &'static str, source_count: u64, target_count: u64 },
    #[error("the workspace files cannot be copied: {0}")]
    Files(String),
}

/// Copies the embedded store in the folder `from` to the servers of `options`.
pub async fn transfer(
    options: &ConnectOptions,
    from: &Path,
) -> Result<TransferReport, TransferError> {
    let BackendOptions::Distributed(to) = &options.backend else {
        return Err(TransferError::NotDistributed);
    };
    let key = options.encryption_key.clone();
    let source = {
        let (from, key) = (from.to_owned(), key.clone());
        blocking(move || EmbeddedSource::open(&from, key.as_ref())).await?
    };
    let (client, connection) = dial::dial(to.postgres_url.expose(), target::CONNECT_TIMEOUT)
        .await
        .map_err(|no| TransferError::Unreachable { reason: no.reason, advice: no.advice })?;
    let places = DataFolders { from: from.to_owned(), to: to.data.clone() };
    let copying = async {
        let target =
            PostgresTarget::begin(client, key.as_ref(), source.key_check.as_deref()).await?;
        copy(source, target, options.caps.running, places).await
    };
    tokio::select! {
        done = copying => done,
        ended = connection => Err(match ended {
            Ok(()) => TransferError::Target("it closed the connection".to_owned()),
            Err(error) => TransferError::Target(dial::describe(&error)),
        }),
    }
}

/// The two data folders.
struct DataFolders {
    from: PathBuf,
    to: PathBuf,
}

async fn copy(
    mut source: EmbeddedSource,
    target: PostgresTarget,
    running: u32,
    places: DataFolders,
) -> Result<TransferReport, TransferError> {
    let mut compared = Vec::new();
    for table in tables::all() {
        let line;
        (source, line) = copy_table(source, &target, table).await?;
        compared.push(line);
    }
    let open_turns = target.arrange(running).await?;
    let open_executions = target.line_up().await?;
    let moved = blocking(move || CopiedFiles::copy(&places.from, &places.to)).await?;
    compared.push(moved.compared());
    // The source stays locked until the end, so that no process changes what was already read.
    let committed = target.commit().await;
    drop(source);
    match committed {
        Ok(()) => Ok(TransferReport { compared, open_turns, open_executions }),
        Err(error) => {
            blocking(move || moved.undo()).await?;
            Err(error)
        }
    }
}

async fn copy_table(
    source: EmbeddedSource,
    target: &PostgresTarget,
    table: &'static TransferTable,
) -> Result<(EmbeddedSource, ComparedTable), TransferError> {
    let (sender, batches) = mpsc::channel::<Vec<TableRow>>(BATCHES);
    let reading = blocking(move || {
        let read = source.read(table, &sender)?;
        Ok((source, read))
    });
    let ((source, read), ()) = tokio::try_join!(reading, target.write(table, batches))?;
    let found = target.read_back(table).await?;
    if read != found {
        return Err(TransferError::Differs {
            what: table.name,
            source_count: read.count,
            target_count: found.count,
        });
    }
    Ok((source, ComparedTable { name: table.name, count: read.count, digest: read.digest }))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TransferError> + Send + 'static,
) -> Result<T, TransferError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| TransferError::Source(error.to_string()))?
}

#[cfg(test)]
mod agent_tests;
#[cfg(test)]
mod tests;
