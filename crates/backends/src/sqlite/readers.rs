//! A few read-only connections for everything that is not a write. Readers never hold the writer up.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ports::{PortError, PortResult};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::fault::Fault;
use super::open::keep_plans;

const CONNECTIONS: u32 = 4;
/// How long a read may wait for a connection before the store counts as overloaded.
const PATIENCE: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 64;
const MAPPED_BYTES: i64 = 256 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct Readers {
    inner: Arc<Inner>,
}

struct Inner {
    database: PathBuf,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(database: PathBuf) -> Self {
        let permits = Arc::new(Semaphore::new(CONNECTIONS as usize));
        Self { inner: Arc::new(Inner { database, permits, idle: Mutex::default() }) }
    }

    /// Runs `work` in one read transaction: all its queries see the same state.
    pub(crate) async fn run<T, F>(&self, work: F) -> PortResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let permit = tokio::time::timeout(PATIENCE, self.inner.permits.clone().acquire_owned())
            .await
            .map_err(|_| PortError::Unavailable("too many reads are waiting".into()))?
            .map_err(|_| PortError::Closed)?;
        let inner = self.inner.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let result = inner.read(work);
            // Given back here and not by the caller, who may have stopped waiting.
            drop(permit);
            result.map_err(|fault| PortError::from(&fault))
        });
        match reading.await {
            Ok(result) => result,
            Err(error) if error.is_panic() => {
                Err(PortError::Broken("a read from the database panicked".into()))
            }
            Err(_) => Err(PortError::Closed),
        }
    }

    /// Waits for the reads under way, then closes every connection.
    pub(crate) async fn close(&self) {
        let all = self.inner.permits.acquire_many(CONNECTIONS);
        let _ = tokio::time::timeout(PATIENCE, all).await;
        self.inner.permits.close();
        self.inner.idle().clear();
    }
}

impl Inner {
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let idle = self.idle().pop();
        let db = match idle {
            Some(db) => db,
            None => self.connection()?,
        };
        let result = read_in_transaction(&db, work);
        // A connection that is still inside a transaction would show an old state for ever.
        if db.is_autocommit() {
            self.idle().push(db);
        }
        result
    }

    fn connection(&self) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.database, flags)?;
        db.busy_timeout(Duration::from_secs(5))?;
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        keep_plans(&db)?;
        // Every commit of the writer empties a reader's own cache; mapped pages are read without a copy.
        db.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
        Ok(db)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // The list is whole even if somebody panicked while holding it.
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn read_in_transaction<T>(
    db: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    db.prepare_cached("BEGIN")?.execute([])?;
    let result = work(db);
    db.prepare_cached("COMMIT")?.execute([])?;
    result
}
