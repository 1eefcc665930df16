//! Moves everything of an embedded store to the servers of a distributed installation: all of it, checked row by row,
//! or nothing. The embedded store is only read.

mod agents;
mod cell;
mod chats;
mod files;
mod source;
mod tables;
mod target;

use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use self::cell::Row;
use self::files::Moved;
use self::source::Source;
use self::tables::Table;
use self::target::Target;
use crate::options::{BackendOptions, Options};
use crate::probe::dial;

/// Batches that were read and are not written yet.
const BATCHES: usize = 4;

/// What was copied, table by table; the last line is the workspace files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transferred {
    pub compared: Vec<Compared>,
    /// Turns that had not ended and go on in the new place.
    pub open_turns: u64,
    /// Runs of agents, likewise.
    pub open_executions: u64,
}

/// The same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    pub name: &'static str,
    pub count: u64,
    /// SHA-256 over all of them in order.
    pub digest: String,
}

/// Why nothing was copied, in a sentence for the person who asked for it.
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
        "{0} messages on what operations came to have not been taken; start the server on the embedded store once more, and stop it again"
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

/// Copies the embedded store in the folder `from` to where `options` point.
pub async fn transfer(options: &Options, from: &Path) -> Result<Transferred, TransferError> {
    let BackendOptions::Distributed(to) = &options.backend else {
        return Err(TransferError::NotDistributed);
    };
    let key = options.encryption_key.clone();
    let source = {
        let (from, key) = (from.to_owned(), key.clone());
        blocking(move || Source::open(&from, key.as_deref())).await?
    };
    let (client, connection) = dial::dial(&to.postgres_url, target::CONNECT_PATIENCE)
        .await
        .map_err(|no| TransferError::Unreachable { reason: no.reason, advice: no.advice })?;
    let places = Places { from: from.to_owned(), to: to.data.clone() };
    let copying = async {
        let target = Target::begin(client, key.as_deref(), source.key_check.as_deref()).await?;
        copy(source, target, options.caps.running, places).await
    };
    tokio::select! {
        done = copying => done,
        ended = connection => Err(match ended {
            Ok(()) => TransferError::Target("it hung up".to_owned()),
            Err(error) => TransferError::Target(dial::told(&error)),
        }),
    }
}

/// The two data folders.
struct Places {
    from: PathBuf,
    to: PathBuf,
}

async fn copy(
    mut source: Source,
    target: Target,
    running: u32,
    places: Places,
) -> Result<Transferred, TransferError> {
    let mut compared = Vec::new();
    for table in tables::all() {
        let line;
        (source, line) = copy_table(source, &target, table).await?;
        compared.push(line);
    }
    let open_turns = target.arrange(running).await?;
    let open_executions = target.line_up().await?;
    let moved = blocking(move || Moved::copy(&places.from, &places.to)).await?;
    compared.push(moved.compared());
    // The source stays locked until the end, so that nobody writes into what was already read.
    let committed = target.commit().await;
    drop(source);
    match committed {
        Ok(()) => Ok(Transferred { compared, open_turns, open_executions }),
        Err(error) => {
            blocking(move || moved.undo()).await?;
            Err(error)
        }
    }
}

async fn copy_table(
    source: Source,
    target: &Target,
    table: &'static Table,
) -> Result<(Source, Compared), TransferError> {
    let (sender, batches) = mpsc::channel::<Vec<Row>>(BATCHES);
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
    Ok((source, Compared { name: table.name, count: read.count, digest: read.digest }))
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
