//! The shared store: all durable state, in Postgres, for any number of processes.
//!
//! # Locks
//! A transaction that takes several locks takes them in this order, so that no two deadlock:
//! 1. the quota keys of a session (advisory locks: the session's own first, then its user's;
//!    `turns/advisory_locks.rs`),
//! 2. the row of the session,
//! 3. rows of turns: the parent of a new turn; the turn itself, then those that get its permit; a whole tree when it
//!    is cancelled, under the locks of all its quota keys,
//! 4. the row of a stream log.
//!
//! Agent data has separate locks, taken in this order:
//! 1. a library, then a graph, then the marketplace; or the executions of a user (advisory locks),
//! 2. rows of executions, a parent before its children,
//! 3. rows of reviews,
//! 4. the credit ledger of a user (an advisory lock).
//!
//! Asking for a review, or adding a stored value, takes one advisory lock of its own and no other.
//!
//! Rows of messages, journals, follow-ups, operations and segments are only written under one of these locks. The
//! relays lock turns with `SKIP LOCKED` and so never wait. A group of appends locks logs of many sessions, but at most
//! one of each, and nothing else locks logs of more than one session.

mod api_keys;
mod append_group;
mod append_queue;
mod block_runs;
mod bounded_call;
mod connection;
mod credits;
mod error;
mod executions;
mod follow_ups;
mod graphs;
mod health;
mod job_statements;
mod key_check;
mod leases;
mod library;
mod listings;
mod log_read;
mod messages;
mod open;
mod operations;
mod outbox;
mod pool;
mod reports;
mod reviews;
mod row;
pub(crate) mod schema;
mod session_delete;
mod sessions;
mod stream_log;
#[cfg(test)]
pub(crate) mod tests;
mod text_param;
mod turns;
mod values;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use ports::{Clock, Store};
use protocol::limits::UserLimits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::append_queue::AppendQueue;
use crate::log_feed::LogFeed;

/// Time limit for the remaining writes when the store closes; longer than that of a call.
const LAST_WRITES: Duration = Duration::from_secs(3);

/// All store ports that one database serves. Each trait is implemented in the file named after it.
#[derive(Clone)]
pub(crate) struct PostgresStore {
    pool: Pool,
    appends: AppendQueue,
    clock: Arc<dyn Clock>,
    caps: UserLimits,
    feed: Arc<dyn LogFeed>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Store for PostgresStore {}

impl PostgresStore {
    /// Waits for the writes in progress and then disconnects. Later calls return `Closed`.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(LAST_WRITES, self.tasks.wait()).await.is_err() {
            tracing::warn!("the store was closed before its last writes had completed");
        }
        self.pool.close();
    }

    /// Wall-clock time in microseconds, for display.
    fn wall_us(&self) -> i64 {
        self.clock.now().as_microsecond()
    }
}
