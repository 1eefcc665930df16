//! A connection for one call. It returns to the pool only when every statement was answered and every transaction
//! ended. Otherwise, after an error or when the caller stopped waiting, it is closed and the server rolls back.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use deadpool_postgres::{Object, Pool};
use futures::future::{try_join, try_join_all};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::error::PostgresError;

pub(crate) type SqlParams<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(crate) struct PooledConnection {
    /// `None` only while it is dropped.
    client: Option<Object>,
    /// Statements without a reply. A failed one stays counted, so that its connection is not reused.
    unanswered: AtomicUsize,
    transaction: AtomicU8,
    begin: &'static str,
}

const NONE: u8 = 0;
/// `BEGIN` is sent together with the first statement, to save a round trip.
const WANTED: u8 = 1;
const BEGUN: u8 = 2;

impl PooledConnection {
    /// For statements that are each their own transaction.
    pub(crate) async fn get(pool: &Pool) -> Result<Self, PostgresError> {
        Self::new(pool, NONE, "").await
    }

    /// For a transaction, which lasts until `commit`.
    pub(crate) async fn begin(pool: &Pool) -> Result<Self, PostgresError> {
        Self::new(pool, WANTED, "BEGIN").await
    }

    /// For several reads on the same snapshot.
    pub(crate) async fn snapshot(pool: &Pool) -> Result<Self, PostgresError> {
        Self::new(pool, WANTED, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    async fn new(pool: &Pool, transaction: u8, begin: &'static str) -> Result<Self, PostgresError> {
        let client = Some(pool.get().await?);
        let transaction = AtomicU8::new(transaction);
        Ok(Self { client, unanswered: AtomicUsize::new(0), transaction, begin })
    }

    pub(crate) async fn query(
        &self,
        sql: &str,
        with: SqlParams<'_>,
    ) -> Result<Vec<Row>, PostgresError> {
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

    pub(crate) async fn query_opt(
        &self,
        sql: &str,
        with: SqlParams<'_>,
    ) -> Result<Option<Row>, PostgresError> {
        Ok(self.query(sql, with).await?.pop())
    }

    pub(crate) async fn query_one(
        &self,
        sql: &str,
        with: SqlParams<'_>,
    ) -> Result<Row, PostgresError> {
        let row = self.query_opt(sql, with).await?;
        row.ok_or_else(|| {
            PostgresError::broken("the database returned no row where one was expected")
        })
    }

    /// Several statements without parameters, not cached.
    pub(crate) async fn batch(&self, sql: &str) -> Result<(), PostgresError> {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        self.client()?.batch_execute(sql).await?;
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Prepares the statements on this connection. Needed where several are sent at once in a fixed order: an
    /// unprepared one would be overtaken by prepared ones.
    pub(crate) async fn prepare(&self, statements: &[&str]) -> Result<(), PostgresError> {
        let client = self.client()?;
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        try_join_all(statements.iter().map(|sql| client.prepare_cached(sql))).await?;
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the transaction, if one is open. After a failed statement the server rolls back instead, so a commit may
    /// be sent together with the last statements: their own replies tell whether they failed.
    pub(crate) async fn commit(&self) -> Result<(), PostgresError> {
        let begun =
            self.transaction.compare_exchange(BEGUN, NONE, Ordering::Relaxed, Ordering::Relaxed);
        match begun {
            Ok(_) => self.batch("COMMIT").await,
            Err(_) => Ok(()),
        }
    }

    fn client(&self) -> Result<&Object, PostgresError> {
        self.client.as_ref().ok_or(PostgresError::Closed)
    }

    fn is_reusable(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) == 0
            && self.transaction.load(Ordering::Relaxed) != BEGUN
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let reusable = self.is_reusable();
        if let Some(client) = self.client.take()
            && !reusable
        {
            // Removes it from the pool, which opens another one when needed.
            drop(Object::take(client));
        }
    }
}
