//! Opening the store: lock the directory, refuse what must be refused, and take over from the process
//! before. By the lock that process is dead, so whatever it held is free.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ports::Clock;
use protocol::limits::UserLimits;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::boot::Boot;
use super::fault::Fault;
use super::key_check;
use super::lock::lock;
use super::pen::Pen;
use super::readers::Readers;
use super::reserve::Reserve;
use super::schema::{self, Schema};
use super::turns::places::admit_all;
use super::writer::Writer;
use super::{Moment, Sqlite};
use crate::connect::ConnectError;
use crate::key_check::KeyCheck;
use crate::live::Live;
use crate::options::Options;

/// Up to this size the whole file is checked; reading a larger one would delay the start too long.
const CHECKED_BYTES: u64 = 64 * 1024 * 1024;
const STATEMENTS: usize = 256;

pub(crate) async fn open(
    data: PathBuf,
    options: &Options,
    clock: Arc<dyn Clock>,
) -> Result<Sqlite, ConnectError> {
    let (key, caps) = (options.encryption_key.clone(), options.caps);
    let live = Arc::new(Live::new(options.deaf));
    let database = data.join("pilothouse.db");
    let opening = {
        let (live, database) = (live.clone(), database.clone());
        tokio::task::spawn_blocking(move || start(&data, &database, key.as_deref(), caps, live))
    };
    let (writer, boot) = opening.await.map_err(|error| ConnectError::Storage {
        database: database.clone(),
        reason: error.to_string(),
    })??;
    let readers = Readers::new(database);
    Ok(Sqlite { writer, readers, boot, clock, caps, live, sent: Arc::default() })
}

fn start(
    data: &Path,
    database: &Path,
    key: Option<&str>,
    caps: UserLimits,
    live: Arc<Live>,
) -> Result<(Writer, Boot), ConnectError> {
    let lock = lock(data)?;
    let mut reserve = Reserve::keep(data);
    let failed = |fault: Fault| failure(database, &fault);
    let db = connection(database).map_err(failed)?;
    check_file(&db, database)?;
    let mut taken = take_over(&db, caps);
    if matches!(&taken, Err(fault) if fault.is_full()) && reserve.release() {
        taken = take_over(&db, caps);
    }
    let boot = match taken.map_err(failed)? {
        Taken::Boot(number) => Boot::new(number),
        Taken::Newer { found, known } => {
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
    let writer = Writer::start(Pen::new(db, reserve, live), lock).map_err(|error| {
        ConnectError::Storage { database: database.to_owned(), reason: error.to_string() }
    })?;
    Ok((writer, boot))
}

fn connection(database: &Path) -> Result<Connection, Fault> {
    // One thread owns this connection, so SQLite need not guard it with a mutex of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(database, flags)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    keep_plans(&db)?;
    // FULL: a commit is on the disk when it returns, also through a power cut. The log is folded back
    // every 4000 pages, which trades a larger file for fewer syncs.
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

/// Without this a statement is parsed again whenever its bound values change what the planner would prefer.
pub(super) fn keep_plans(db: &Connection) -> Result<(), Fault> {
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
        Err(error) => Err(failure(database, &Fault::from(error))),
    }
}

enum Taken {
    Boot(i64),
    Newer { found: i64, known: i64 },
}

fn take_over(db: &Connection, caps: UserLimits) -> Result<Taken, Fault> {
    if let Schema::Newer { found, known } = schema::bring_up_to_date(db)? {
        return Ok(Taken::Newer { found, known });
    }
    let transaction = db.unchecked_transaction()?;
    let number = transaction.query_row(
        "INSERT INTO meta (name, value) VALUES ('boot', '1')
         ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1
         RETURNING CAST(value AS INTEGER)",
        [],
        |row| row.get(0),
    )?;
    // Every lease has ended, and whatever has a place is due, as is a resting turn that is cancelled. The time of the
    // others that rest begins anew: how long no process ran is not known. Nobody has a completion in hand. Runs that
    // wait for a person go on waiting.
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
    admit_all(&transaction, Moment { wall_us: 0, ms: 0, boot: number }, caps)?;
    transaction.commit()?;
    Ok(Taken::Boot(number))
}

fn failure(database: &Path, fault: &Fault) -> ConnectError {
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
