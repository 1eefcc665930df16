//! A connection for the length of one call. It goes back to the pool only when every statement was answered and every
//! transaction ended; whatever was left half-way, by an error or by a caller that stopped waiting, is closed, and the
//! server then undoes it.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use deadpool_postgres::{Object, Pool};
use futures::future::{try_join, try_join_all};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::fault::Fault;

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) struct Connection {
    /// Absent only while it is dropped.
    client: Option<Object>,
    /// Statements without an answer. One that failed stays counted, so that its connection is not used again.
    unanswered: AtomicUsize,
    transaction: AtomicU8,
    begin: &'static str,
}

const NONE: u8 = 0;
/// `BEGIN` goes out together with the first statement, to save a round trip.
const WANTED: u8 = 1;
const BEGUN: u8 = 2;

impl Connection {
    /// For statements that are each a transaction of their own.
    pub(super) async fn get(pool: &Pool) -> Result<Self, Fault> {
        Self::new(pool, NONE, "").await
    }

    /// For a transaction, which lasts until `commit`.
    pub(super) async fn begin(pool: &Pool) -> Result<Self, Fault> {
        Self::new(pool, WANTED, "BEGIN").await
    }

    /// For several reads that see the same moment.
    pub(super) async fn snapshot(pool: &Pool) -> Result<Self, Fault> {
        Self::new(pool, WANTED, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    async fn new(pool: &Pool, transaction: u8, begin: &'static str) -> Result<Self, Fault> {
        let client = Some(pool.get().await?);
        let transaction = AtomicU8::new(transaction);
        Ok(Self { client, unanswered: AtomicUsize::new(0), transaction, begin })
    }

    pub(super) async fn query(&self, sql: &str, with: Parameters<'_>) -> Result<Vec<Row>, Fault> {
        let client = self.client()?;
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        let statement = client.prepare_cached(sql).await?;
        let query = client.query(&statement, with);
        let wanted =
            self.transaction.compare_exchange(WANTED, BEGUN, Ordering::Relaxed, Ordering::Relaxed);
        let rows = if wanted.is_ok() {
            try_join(client.batch_execute(self.begin), query).await?.1
        } else {
            query.await?
        };
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        Ok(rows)
    }

    pub(super) async fn query_opt(
        &self,
        sql: &str,
        with: Parameters<'_>,
    ) -> Result<Option<Row>, Fault> {
        Ok(self.query(sql, with).await?.pop())
    }

    pub(super) async fn query_one(&self, sql: &str, with: Parameters<'_>) -> Result<Row, Fault> {
        let row = self.query_opt(sql, with).await?;
        row.ok_or_else(|| Fault::broken("the database gave no row where there is always one"))
    }

    /// Several statements without parameters, outside what is cached.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        self.client()?.batch_execute(sql).await?;
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the statements known to this connection. Needed where several are sent at once and their order matters:
    /// one that is not known yet would be overtaken by those that are.
    pub(super) async fn prepare(&self, statements: &[&str]) -> Result<(), Fault> {
        let client = self.client()?;
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        try_join_all(statements.iter().map(|sql| client.prepare_cached(sql))).await?;
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the transaction, if one has begun and has not ended. After a statement that failed the server undoes it
    /// instead, so a commit may be sent together with the last statements: their own answers say what came of them.
    pub(super) async fn commit(&self) -> Result<(), Fault> {
        let begun =
            self.transaction.compare_exchange(BEGUN, NONE, Ordering::Relaxed, Ordering::Relaxed);
        match begun {
            Ok(_) => self.batch("COMMIT").await,
            Err(_) => Ok(()),
        }
    }

    fn client(&self) -> Result<&Object, Fault> {
        self.client.as_ref().ok_or(Fault::Closed)
    }

    fn is_reusable(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) == 0
            && self.transaction.load(Ordering::Relaxed) != BEGUN
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let reusable = self.is_reusable();
        if let Some(client) = self.client.take()
            && !reusable
        {
            // Takes it out of the pool, which makes another one in its place.
            drop(Object::take(client));
        }
    }
}
