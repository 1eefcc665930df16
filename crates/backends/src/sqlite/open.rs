//! Opens the store: locks the directory, refuses unusable databases, and takes over from the previous process. Because
//! of the lock that process is dead, so its leases are void.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ports::Clock;
use protocol::limits::UserLimits;
use protocol::secret::SecretText;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::boot_clock::BootClock;
use super::disk_reserve::DiskReserve;
use super::error::SqliteError;
use super::group_commit::GroupCommitter;
use super::key_check;
use super::lock::lock;
use super::read_pool::ReadPool;
use super::schema;
use super::turns::permits::admit_all;
use super::writer::StoreWriter;
use super::{SqliteStore, StoreTime};
use crate::connect::ConnectError;
use crate::live::LiveLogs;
use crate::options::ConnectOptions;
use crate::rules::key_check::KeyCheck;
use crate::rules::schema_status::SchemaStatus;

/// Files up to this size are checked completely; a larger one would delay the start too long.
const CHECKED_BYTES: u64 = 64 * 1024 * 1024;
const STATEMENTS: usize = 256;

pub(crate) async fn open(
    data: PathBuf,
    options: &ConnectOptions,
    clock: Arc<dyn Clock>,
) -> Result<SqliteStore, ConnectError> {
    let (key, caps) = (options.encryption_key.clone(), options.caps);
    let live = Arc::new(LiveLogs::new(options.deaf));
    let database = data.join("pilothouse.db");
    let opening = {
        let (live, database) = (live.clone(), database.clone());
        tokio::task::spawn_blocking(move || start(&data, &database, key.as_ref(), caps, live))
    };
    let (writer, boot) = opening.await.map_err(|error| ConnectError::Storage {
        database: database.clone(),
        reason: error.to_string(),
    })??;
    let readers = ReadPool::new(database);
    Ok(SqliteStore { writer, readers, boot, clock, caps, live, sent: Arc::default() })
}

fn start(
    data: &Path,
    database: &Path,
    key: Option<&SecretText>,
    caps: UserLimits,
    live: Arc<LiveLogs>,
) -> Result<(StoreWriter, BootClock), ConnectError> {
    let lock = lock(data)?;
    let mut reserve = DiskReserve::create(data);
    let failed = |fault: SqliteError| failure(database, &fault);
    let db = connection(database).map_err(failed)?;
    check_file(&db, database)?;
    let mut result = take_over(&db, caps);
    if matches!(&result, Err(fault) if fault.is_full()) && reserve.release() {
        result = take_over(&db, caps);
    }
    let boot = match result.map_err(failed)? {
        TakeOverResult::BootNumber(number) => BootClock::new(number),
        TakeOverResult::Newer { found, known } => {
            return Err(ConnectError::Newer { database: database.to_owned(), found, known });
        }
    };
    match key_check::check(&db, key).map_err(failed)? {
        KeyCheck::Right | KeyCheck::First(_) => {}
        KeyCheck::Wrong => return Err(ConnectError::WrongKey { database: database.to_owned() }),
        KeyCheck::Missing => {
            return Err(ConnectError::KeyMissing { database: database.to_owned() });
        }
    }
    let writer =
        StoreWriter::start(GroupCommitter::new(db, reserve, live), lock).map_err(|error| {
            ConnectError::Storage { database: database.to_owned(), reason: error.to_string() }
        })?;
    Ok((writer, boot))
}

fn connection(database: &Path) -> Result<Connection, SqliteError> {
    // One thread owns this connection, so SQLite needs no mutex.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(database, flags)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    enable_stable_plans(&db)?;
    // FULL: a commit is on disk when it returns, also after a power failure. The write-ahead log is checkpointed every
    // 4000 pages, which trades a larger file for fewer syncs.
    db.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA journal_size_limit = 67108864;
         PRAGMA cache_size = -16384;
         PRAGMA temp_store = MEMORY;",
    )?;
    Ok(db)
}

/// Without this setting, SQLite parses a statement again whenever new parameter values could change its query plan.
pub(crate) fn enable_stable_plans(db: &Connection) -> Result<(), SqliteError> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn check_file(db: &Connection, database: &Path) -> Result<(), ConnectError> {
    let size = std::fs::metadata(database).map_or(0, |found| found.len());
    let check =
        if size <= CHECKED_BYTES { "PRAGMA quick_check(1)" } else { "PRAGMA schema_version" };
    let found = db.query_row(check, [], |row| row.get::<_, rusqlite::types::Value>(0));
    match found {
        Ok(rusqlite::types::Value::Text(found)) if found != "ok" => {
            Err(ConnectError::Damaged { database: database.to_owned(), reason: found })
        }
        Ok(_) => Ok(()),
        Err(error) => Err(failure(database, &SqliteError::from(error))),
    }
}

enum TakeOverResult {
    BootNumber(i64),
    Newer { found: i64, known: i64 },
}

fn take_over(db: &Connection, caps: UserLimits) -> Result<TakeOverResult, SqliteError> {
    if let SchemaStatus::Newer { found, known } = schema::bring_up_to_date(db)? {
        return Ok(TakeOverResult::Newer { found, known });
    }
    let transaction = db.unchecked_transaction()?;
    let number = transaction.query_row(
        "INSERT INTO meta (name, value) VALUES ('boot', '1')
         ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1
         RETURNING CAST(value AS INTEGER)",
        [],
        |row| row.get(0),
    )?;
    // Every lease has ended. Admitted turns are due, as are resting turns that are cancelled. Other resting turns
    // start their rest again, because the length of the downtime is unknown. Completions are free again. Executions
    // that wait for a review keep waiting.
    transaction.execute_batch(
        "UPDATE turn SET lease_until_ms = 0 WHERE status = 'running';
         UPDATE turn SET due_ms = CASE
             WHEN admitted = 1 OR rests = 1 AND cancel_requested = 1 THEN 0
             WHEN rests = 1 THEN (SELECT p.at_most_ms FROM operation AS p WHERE p.turn_id = turn.id)
             END
         WHERE status IN ('queued', 'running');
         UPDATE completion SET out_until_ms = NULL;
         UPDATE execution SET lease_until_ms = 0, due_ms = NULL WHERE status = 'RUNNING';
         UPDATE execution SET due_ms = 0 WHERE status = 'QUEUED';",
    )?;
    admit_all(&transaction, StoreTime { wall_us: 0, ms: 0, boot: number }, caps)?;
    transaction.commit()?;
    Ok(TakeOverResult::BootNumber(number))
}

fn failure(database: &Path, fault: &SqliteError) -> ConnectError {
    let database = database.to_owned();
    let reason = fault.to_string();
    if fault.is_damage() {
        ConnectError::Damaged { database, reason }
    } else if fault.is_full() {
        ConnectError::Storage { database, reason: "the disk is full".into() }
    } else {
        ConnectError::Storage { database, reason }
    }
}
