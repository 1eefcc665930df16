//! The embedded store: one SQLite file, one writer thread that commits in groups, a few readers, and a
//! cache of what the live logs said last.

mod api_keys;
mod block_runs;
mod boot;
mod completions;
mod credits;
mod executions;
mod fault;
mod follow_ups;
mod graphs;
mod health;
mod job;
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
mod pen;
mod readers;
mod reports;
mod reserve;
mod reviews;
mod rows;
pub(crate) mod schema;
mod session_delete;
mod sessions;
mod stream_log;
mod turns;
mod values;
mod writer;

use std::sync::Arc;

use ports::{Clock, PortResult};
use protocol::limits::UserLimits;
use tokio::sync::Notify;

use self::boot::Boot;
pub(crate) use self::open::open;
use self::readers::Readers;
use self::writer::Writer;
use crate::live::Live;

/// All seams that one database serves. The traits are implemented in the file of each noun.
#[derive(Clone)]
pub(crate) struct Sqlite {
    writer: Writer,
    readers: Readers,
    boot: Boot,
    clock: Arc<dyn Clock>,
    caps: UserLimits,
    live: Arc<Live>,
    /// Wakes whoever waits for a completion.
    sent: Arc<Notify>,
}

impl Sqlite {
    pub(crate) async fn close(&self) -> PortResult<()> {
        // The readers go first: a reader that is still open keeps the write-ahead log from being folded.
        self.readers.close().await;
        self.writer.close().await
    }

    /// What a write needs to know about now.
    fn moment(&self) -> Moment {
        Moment {
            wall_us: self.clock.now().as_microsecond(),
            ms: self.boot.ms(),
            boot: self.boot.number,
        }
    }
}

/// One instant on both clocks.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// Microseconds since 1970, to be shown.
    wall_us: i64,
    /// Milliseconds since this process started, to be compared.
    ms: i64,
    boot: i64,
}
