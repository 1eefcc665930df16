//! The empty Postgres database, filled in one transaction, which is rolled back if the connection ends before the
//! commit.

use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use protocol::secret::SecretText;
use tokio::sync::mpsc;
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::TransferError;
use super::cell::{RowDigest, RowHasher, TableCell, TableRow};
use super::tables::{self, ColumnKind, TransferTable};
use crate::postgres::schema;
use crate::probe::dial::describe;
use crate::rules::key_check::{self, KeyCheck};

pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct PostgresTarget {
    client: Client,
}

impl PostgresTarget {
    /// Refuses a database of another version, with another key, or with any data.
    pub(crate) async fn begin(
        client: Client,
        key: Option<&SecretText>,
        source_key_check: Option<&str>,
    ) -> Result<Self, TransferError> {
        let target = Self { client };
        target
            .run("BEGIN; SET LOCAL lock_timeout = '10s'; SET LOCAL synchronous_commit = on;")
            .await?;
        target.check_schema().await?;
        // Other writers are locked out, so that the tables stay empty until the copy.
        let names: Vec<&str> = tables::all().map(|table| table.name).collect();
        target.run(&format!("LOCK TABLE {} IN EXCLUSIVE MODE", names.join(", "))).await?;
        for table in tables::all() {
            let sql = format!("SELECT 1 FROM {} LIMIT 1", table.name);
            if !target.client.query(&sql, &[]).await.map_err(refused)?.is_empty() {
                return Err(TransferError::NotEmpty(table.name));
            }
        }
        target.settle_key(key, source_key_check).await?;
        Ok(target)
    }

    async fn check_schema(&self) -> Result<(), TransferError> {
        let wrong = TransferError::TargetSchema { known: schema::VERSION };
        let sql = "SELECT to_regclass('meta') IS NOT NULL";
        if !self.client.query_one(sql, &[]).await.map_err(refused)?.get::<_, bool>(0) {
            return Err(wrong);
        }
        match self.meta("schema").await?.map(|version| version.parse()) {
            Some(Ok(schema::VERSION)) => Ok(()),
            _ => Err(wrong),
        }
    }

    /// Stores the source's check value of the encryption key, which was compared with the source already.
    async fn settle_key(
        &self,
        key: Option<&SecretText>,
        source_key_check: Option<&str>,
    ) -> Result<(), TransferError> {
        let stored = self.meta("key_check").await?;
        match key_check::check(stored.as_deref(), key) {
            KeyCheck::Right | KeyCheck::First(_) => {}
            KeyCheck::Wrong => return Err(TransferError::WrongKey("database in Postgres")),
            KeyCheck::Missing => return Err(TransferError::KeyMissing("database in Postgres")),
        }
        if let Some(value) = source_key_check {
            let sql = "INSERT INTO meta (name, value) VALUES ('key_check', $1)
                       ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            self.client.execute(sql, &[&value]).await.map_err(refused)?;
        }
        Ok(())
    }

    async fn meta(&self, name: &str) -> Result<Option<String>, TransferError> {
        let sql = "SELECT value FROM meta WHERE name = $1";
        let row = self.client.query_opt(sql, &[&name]).await.map_err(refused)?;
        Ok(row.map(|row| row.get(0)))
    }

    /// Stores all rows that are received.
    pub(crate) async fn write(
        &self,
        table: &TransferTable,
        mut batches: mpsc::Receiver<Vec<TableRow>>,
    ) -> Result<(), TransferError> {
        let sink = self.client.copy_in(&table.postgres_copy()).await.map_err(refused)?;
        let types: Vec<Type> = table.columns.iter().map(|column| column.kind.postgres()).collect();
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        while let Some(batch) = batches.recv().await {
            for row in &batch {
                let cells: Vec<&(dyn ToSql + Sync)> =
                    row.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect();
                writer.as_mut().write(&cells).await.map_err(refused)?;
            }
        }
        writer.finish().await.map_err(refused)?;
        if let Some(counter) = table.counter {
            let name = table.name;
            self.run(&format!(
                "SELECT setval(pg_get_serial_sequence('{name}', '{counter}'), max({counter}))
                 FROM {name} HAVING max({counter}) IS NOT NULL"
            ))
            .await?;
        }
        Ok(())
    }

    /// Digest of the rows as stored.
    pub(crate) async fn read_back(
        &self,
        table: &TransferTable,
    ) -> Result<RowDigest, TransferError> {
        let none: [&(dyn ToSql + Sync); 0] = [];
        let rows = self.client.query_raw(&table.postgres_select(), none).await.map_err(refused)?;
        let mut rows = pin!(rows);
        let kinds: Vec<ColumnKind> = table.columns.iter().map(|column| column.kind).collect();
        let mut hasher = RowHasher::default();
        while let Some(row) = rows.try_next().await.map_err(refused)? {
            let cells = kinds.iter().enumerate();
            let cells = cells.map(|(index, kind)| TableCell::of_postgres(&row, index, *kind));
            hasher.add(&cells.collect::<Result<TableRow, _>>().map_err(refused)?);
        }
        Ok(hasher.sum())
    }

    /// Gives concurrency permits to the open turns, as a start of the embedded store would: per session to the oldest
    /// and its operations, per user as many as may run. Resting turns keep resting. Returns the number of open turns.
    pub(crate) async fn arrange(&self, running: u32) -> Result<u64, TransferError> {
        self.run("ANALYZE turn").await?;
        // The remaining rest is stored as a time after 1970.
        self.run(
            "UPDATE turn SET rests_until = clock_timestamp() + (rests_until - to_timestamp(0)),
                 due = clock_timestamp() + (rests_until - to_timestamp(0))
             WHERE rests_until IS NOT NULL",
        )
        .await?;
        let sql = "WITH first AS (
                       SELECT t.id, t.slot, t.accepted FROM turn AS t
                       WHERE t.status = 'queued' AND t.rests_until IS NULL AND NOT EXISTS (
                           SELECT 1 FROM turn AS o WHERE o.session_id = t.session_id
                             AND o.ordinal > 0 AND o.ordinal < t.ordinal AND o.status = 'queued')
                   ), placed AS (
                       SELECT id, row_number() OVER (PARTITION BY slot ORDER BY accepted) AS place
                       FROM first
                   )
                   UPDATE turn SET admitted = true, due = clock_timestamp()
                   FROM placed WHERE turn.id = placed.id AND placed.place <= $1";
        self.client.execute(sql, &[&i64::from(running)]).await.map_err(refused)?;
        // The clock of the source machine may be ahead of this one's.
        self.run("UPDATE turn SET ended = clock_timestamp() WHERE ended > clock_timestamp()")
            .await?;
        let sql = "SELECT count(*) FROM turn WHERE status = 'queued'";
        let open: i64 = self.client.query_one(sql, &[]).await.map_err(refused)?.get(0);
        Ok(open as u64)
    }

    /// Makes the open executions due; resting ones keep resting. Returns the number of open executions.
    pub(crate) async fn line_up(&self) -> Result<u64, TransferError> {
        self.run("ANALYZE execution").await?;
        self.run("UPDATE execution SET due = clock_timestamp() WHERE status = 'QUEUED'").await?;
        let sql = "SELECT count(*) FROM execution WHERE status IN ('QUEUED', 'REVIEW')";
        let open: i64 = self.client.query_one(sql, &[]).await.map_err(refused)?.get(0);
        Ok(open as u64)
    }

    pub(crate) async fn commit(self) -> Result<(), TransferError> {
        self.run("COMMIT").await
    }

    async fn run(&self, sql: &str) -> Result<(), TransferError> {
        self.client.batch_execute(sql).await.map_err(refused)
    }
}

fn refused(error: tokio_postgres::Error) -> TransferError {
    TransferError::Target(describe(&error))
}
