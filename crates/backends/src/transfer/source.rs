//! The embedded store, locked exclusively and read in one transaction.

use std::fs::File;
use std::path::Path;

use protocol::secret::SecretText;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use tokio::sync::mpsc;

use super::TransferError;
use super::cell::{RowDigest, RowHasher, TableCell, TableRow};
use super::tables::TransferTable;
use crate::connect::ConnectError;
use crate::rules::key_check::{self, KeyCheck};
use crate::sqlite::{lock, schema};

/// Approximate memory size of one batch of rows.
const BATCH_BYTES: usize = 1024 * 1024;

pub(crate) struct EmbeddedSource {
    /// Check value of the encryption key, as stored.
    pub(crate) key_check: Option<String>,
    db: Connection,
    _lock: File,
}

impl EmbeddedSource {
    /// Refuses a store that is missing, in use, of another version, or with another key.
    pub(crate) fn open(folder: &Path, key: Option<&SecretText>) -> Result<Self, TransferError> {
        let database = folder.join("pilothouse.db");
        if !database.is_file() {
            return Err(TransferError::NoSource(folder.to_owned()));
        }
        let lock = lock::lock(folder).map_err(|error| match error {
            ConnectError::InUse { directory } => TransferError::InUse(directory),
            other => TransferError::Source(other.to_string()),
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&database, flags).map_err(unreadable)?;
        db.execute_batch("BEGIN").map_err(unreadable)?;
        let found: i64 =
            db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(unreadable)?;
        let known = schema::VERSION;
        if found != known {
            return Err(TransferError::SourceSchema { found, known });
        }
        let key_check: Option<String> = db
            .query_row("SELECT value FROM meta WHERE name = 'key_check'", [], |row| row.get(0))
            .optional()
            .map_err(unreadable)?;
        let untaken: i64 = db
            .query_row("SELECT count(*) FROM completion", [], |row| row.get(0))
            .map_err(unreadable)?;
        if untaken > 0 {
            return Err(TransferError::Untaken(untaken));
        }
        match key_check::check(key_check.as_deref(), key) {
            KeyCheck::Right | KeyCheck::First(_) => Ok(Self { key_check, db, _lock: lock }),
            KeyCheck::Wrong => Err(TransferError::WrongKey("embedded store")),
            KeyCheck::Missing => Err(TransferError::KeyMissing("embedded store")),
        }
    }

    /// Sends every row of a table to the writer, and returns their digest.
    pub(crate) fn read(
        &self,
        table: &TransferTable,
        to: &mpsc::Sender<Vec<TableRow>>,
    ) -> Result<RowDigest, TransferError> {
        let mut statement = self.db.prepare(&table.sqlite_select()).map_err(unreadable)?;
        let mut rows = statement.query([]).map_err(unreadable)?;
        let mut hasher = RowHasher::default();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(unreadable)? {
            let cells = (0..table.columns.len())
                .map(|index| {
                    TableCell::of_sqlite(row.get_ref(index).map_err(|error| error.to_string())?)
                })
                .collect::<Result<TableRow, String>>()
                .map_err(TransferError::Source)?;
            hasher.add(&cells);
            bytes += cells.iter().map(TableCell::size).sum::<usize>();
            batch.push(cells);
            if bytes >= BATCH_BYTES {
                hand_over(to, std::mem::take(&mut batch))?;
                bytes = 0;
            }
        }
        hand_over(to, batch)?;
        Ok(hasher.sum())
    }
}

fn hand_over(to: &mpsc::Sender<Vec<TableRow>>, batch: Vec<TableRow>) -> Result<(), TransferError> {
    // The receiver has failed and reports the reason; this error only ends the reading.
    to.blocking_send(batch).map_err(|_| TransferError::Source("the receiver is gone".to_owned()))
}

fn unreadable(error: rusqlite::Error) -> TransferError {
    TransferError::Source(error.to_string())
}
