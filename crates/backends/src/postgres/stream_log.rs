//! Stream logs: the chunks of each task, appended in segments, read by cursor.

use async_trait::async_trait;
use ports::PortResult;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, StreamLog, TakenOver};
use protocol::{Segment, Seq, TaskId};
use tokio_postgres::Row;

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::{PostgresStore, log_read};
use crate::live::LogEnd;
use crate::log_feed::{LogEnds, LogPosition};
use crate::rows::StoreRow;
use crate::rules::fenced_writes::count_fenced;

#[async_trait]
impl StreamLog for PostgresStore {
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver> {
        let (pool, task) = (self.pool.clone(), task.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let at = db
                .query_opt(
                    "INSERT INTO log (task_id, fence, last_seq, sealed) VALUES ($1, $2, 0, false)
                     ON CONFLICT (task_id) DO UPDATE SET fence = excluded.fence
                     WHERE excluded.fence >= log.fence
                     RETURNING last_seq, sealed",
                    &[&TextParam(task.as_str()), &(fence as i64)],
                )
                .await?;
            let Some(row) = at else {
                count_fenced();
                return Ok(TakenOver::Stale);
            };
            let sealed = row.flag("sealed")?;
            Ok(TakenOver::At { last: row.number("last_seq")?, sealed })
        })
        .await
    }

    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended> {
        self.appends.append(task, fence, segment, LogEnd::Open).await
    }

    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended> {
        self.appends.append(task, fence, last, LogEnd::Sealed).await
    }

    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead> {
        PostgresStore::read(
            self,
            |db| async move { log_read::read(&db, task, after, max_bytes).await },
        )
        .await
    }

    /// Never wakes: Redis carries notifications between processes.
    fn watch(&self, _: &TaskId) -> LogWatch {
        LogWatch::deaf()
    }
}

#[async_trait]
impl LogEnds for PostgresStore {
    async fn ends(&self, tasks: &[TaskId]) -> PortResult<Vec<LogPosition>> {
        PostgresStore::read(self, |db| async move {
            let tasks: Vec<TextParam<'_>> =
                tasks.iter().map(|task| TextParam(task.as_str())).collect();
            let found = db
                .query(
                    "SELECT task_id, last_seq, sealed FROM log WHERE task_id = ANY($1)",
                    &[&tasks],
                )
                .await?;
            found.iter().map(log_at).collect()
        })
        .await
    }
}

fn log_at(row: &Row) -> Result<LogPosition, PostgresError> {
    Ok(LogPosition {
        task: row.id("task_id")?,
        last: row.number("last_seq")?,
        end: LogEnd::of(row.flag("sealed")?),
    })
}

/// Positions of a log are below this limit.
pub(crate) const SEQS: u64 = 1 << 63;
