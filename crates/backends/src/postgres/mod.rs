//! The shared store: everything that must survive, in Postgres, for any number of processes.
//!
//! # Locks
//! Whoever locks several things does so in this order, so that no two wait for each other:
//! 1. the slots of a session (advisory locks: the session's own first, then its user's; `turns/slots.rs`),
//! 2. the row of the session,
//! 3. rows of turns: the parent of a new one; the turn itself, then those that get its place; a whole tree, by whoever
//!    cancels it and so holds the slots of all of it,
//! 4. the row of a log.
//!
//! What belongs to agents is locked apart from these, in this order:
//! 1. a library, then a graph, then the marketplace; or the runs of a user (advisory locks),
//! 2. rows of runs, a parent before its children,
//! 3. rows of reviews,
//! 4. the ledger of a user (an advisory lock).
//!
//! Whoever asks for a review, or adds a value that agents remember, holds an advisory lock of its own and no other.
//!
//! Rows of messages, journals, follow-ups, operations and segments are only written under one of these. The relays lock turns with
//! `SKIP LOCKED` and so never wait. A group of appends locks logs of many sessions, but at most one of each, and
//! nobody else locks logs of more than one session.

mod api_keys;
mod append_group;
mod appends;
mod block_runs;
mod call;
mod connect;
mod connection;
mod credits;
mod executions;
mod fault;
mod follow_ups;
mod graphs;
mod health;
mod json;
mod key_check;
mod leases;
mod library;
mod listings;
mod log_read;
mod messages;
mod operations;
mod outbox;
mod pool;
mod reports;
mod reviews;
mod rows;
pub(crate) mod schema;
mod session_delete;
mod sessions;
mod stream_log;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod turns;
mod values;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use ports::Clock;
use protocol::limits::UserLimits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::appends::Appends;
use crate::feed::Feed;

/// What is still being written gets this long when the store is closed; a call takes less.
const LAST_WRITES: Duration = Duration::from_secs(3);

/// All seams that one database serves. The traits are implemented in the file of each noun.
#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    appends: Appends,
    clock: Arc<dyn Clock>,
    caps: UserLimits,
    feed: Arc<dyn Feed>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Postgres {
    /// Lets the writes that were begun come to their end and then hangs up. Calls after this are `Closed`.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(LAST_WRITES, self.tasks.wait()).await.is_err() {
            tracing::warn!("the store was closed before its last writes had ended");
        }
        self.pool.close();
    }

    /// The time of day, to be shown.
    fn wall_us(&self) -> i64 {
        self.clock.now().as_microsecond()
    }
}
