//! Pool of read-only connections for everything that is not a write. Readers never block the writer.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ports::{PortError, PortResult};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::error::SqliteError;
use super::open::enable_stable_plans;

const CONNECTIONS: u32 = 4;
/// How long a read may wait for a connection before the store counts as overloaded.
const WAIT_LIMIT: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 64;
const MAPPED_BYTES: i64 = 256 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct ReadPool {
    inner: Arc<ReadPoolInner>,
}

struct ReadPoolInner {
    database: PathBuf,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl ReadPool {
    pub(crate) fn new(database: PathBuf) -> Self {
        let permits = Arc::new(Semaphore::new(CONNECTIONS as usize));
        Self { inner: Arc::new(ReadPoolInner { database, permits, idle: Mutex::default() }) }
    }

    /// Runs `work` in one read transaction: all its queries see the same state.
    pub(crate) async fn run<T, F>(&self, work: F) -> PortResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, SqliteError> + Send + 'static,
    {
        let permit = tokio::time::timeout(WAIT_LIMIT, self.inner.permits.clone().acquire_owned())
            .await
            .map_err(|_| PortError::Unavailable("too many reads are waiting".into()))?
            .map_err(|_| PortError::Closed)?;
        let inner = self.inner.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let result = inner.read(work);
            // Released here and not by the caller, which may have stopped waiting.
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

    /// Waits for the running reads, then closes every connection.
    pub(crate) async fn close(&self) {
        let all = self.inner.permits.acquire_many(CONNECTIONS);
        let _ = tokio::time::timeout(WAIT_LIMIT, all).await;
        self.inner.permits.close();
        self.inner.idle().clear();
    }
}

impl ReadPoolInner {
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, SqliteError>,
    ) -> Result<T, SqliteError> {
        let idle = self.idle().pop();
        let db = match idle {
            Some(db) => db,
            None => self.connection()?,
        };
        let result = read_in_transaction(&db, work);
        // A connection that is still inside a transaction would keep reading an old snapshot.
        if db.is_autocommit() {
            self.idle().push(db);
        }
        result
    }

    fn connection(&self) -> Result<Connection, SqliteError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.database, flags)?;
        db.busy_timeout(Duration::from_secs(5))?;
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        enable_stable_plans(&db)?;
        // Every commit of the writer invalidates a reader's own cache; mapped pages are read without a copy.
        db.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
        Ok(db)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // The list is intact even if a holder of the lock panicked.
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn read_in_transaction<T>(
    db: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, SqliteError>,
) -> Result<T, SqliteError> {
    db.prepare_cached("BEGIN")?.execute([])?;
    let result = work(db);
    db.prepare_cached("COMMIT")?.execute([])?;
    result
}
