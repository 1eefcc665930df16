//! The embedded store: one SQLite file, one writer thread with group commit, a pool of readers, and a cache of the
//! last chunks of live stream logs.

mod api_keys;
mod block_runs;
mod boot_clock;
mod completions;
mod credits;
mod disk_reserve;
mod error;
mod executions;
mod follow_ups;
mod graphs;
mod group_commit;
mod health;
mod job_statements;
mod key_check;
mod leases;
mod library;
mod listings;
pub(crate) mod lock;
mod log_read;
mod messages;
mod open;
mod operations;
mod outbox;
mod read_pool;
mod reports;
mod reviews;
mod row;
pub(crate) mod schema;
mod session_delete;
mod sessions;
mod stream_log;
mod turns;
mod values;
mod write_job;
mod writer;

use std::sync::Arc;

use ports::{Clock, PortResult, Store};
use protocol::limits::UserLimits;
use tokio::sync::Notify;

use self::boot_clock::BootClock;
pub(crate) use self::open::open;
use self::read_pool::ReadPool;
use self::writer::StoreWriter;
use crate::live::LiveLogs;

/// All store ports that one database serves. Each trait is implemented in the file named after it.
#[derive(Clone)]
pub(crate) struct SqliteStore {
    writer: StoreWriter,
    readers: ReadPool,
    boot: BootClock,
    clock: Arc<dyn Clock>,
    caps: UserLimits,
    live: Arc<LiveLogs>,
    /// Wakes tasks that wait for a completion.
    sent: Arc<Notify>,
}

impl Store for SqliteStore {}

impl SqliteStore {
    pub(crate) async fn close(&self) -> PortResult<()> {
        // The readers close first: an open reader prevents the checkpoint of the write-ahead log.
        self.readers.close().await;
        self.writer.close().await
    }

    /// The current time on both clocks.
    fn store_time(&self) -> StoreTime {
        StoreTime {
            wall_us: self.clock.now().as_microsecond(),
            ms: self.boot.ms(),
            boot: self.boot.number,
        }
    }
}

/// One instant on both clocks.
#[derive(Clone, Copy, Debug)]
struct StoreTime {
    /// Microseconds since 1970, for display.
    wall_us: i64,
    /// Milliseconds since this process opened the store, for comparison.
    ms: i64,
    boot: i64,
}
