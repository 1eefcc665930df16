//! Stream logs: the chunks of each task, appended in segments, read by cursor.

use async_trait::async_trait;
use ports::PortResult;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, StreamLog, TakenOver};
use protocol::{Segment, Seq, TaskId};
use tokio_postgres::Row;

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use super::{PostgresStore, log_read, rows};
use crate::live::LogEnd;
use crate::log_feed::{LogEnds, LogPosition};

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
            let sealed = rows::get(&row, "sealed")?;
            Ok(TakenOver::At { last: rows::number(&row, "last_seq")?, sealed })
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
    let sealed: bool = rows::get(row, "sealed")?;
    Ok(LogPosition {
        task: rows::id(row, "task_id")?,
        last: rows::number(row, "last_seq")?,
        end: if sealed { LogEnd::Sealed } else { LogEnd::Open },
    })
}

/// Why a segment does not fit the log in this row, or `ResultStored` if it does. Without a row the log was deleted with its
/// session, which its writer treats like a newer fence.
pub(super) fn judge(
    log: Option<&Row>,
    fence: u64,
    first: Seq,
) -> Result<SegmentAppended, PostgresError> {
    let Some(log) = log else { return Ok(SegmentAppended::Stale) };
    let last = rows::number(log, "last_seq")?;
    Ok(if rows::number(log, "fence")? != fence {
        SegmentAppended::Stale
    } else if rows::get(log, "sealed")? {
        SegmentAppended::Sealed
    } else if last + 1 == first {
        SegmentAppended::Stored
    } else {
        SegmentAppended::Gap { last }
    })
}

pub(super) fn check(segment: &Segment) -> Result<(), PostgresError> {
    if segment.first == 0 || segment.last < segment.first || segment.last > i64::MAX as u64 {
        let (first, last) = (segment.first, segment.last);
        return Err(PostgresError::broken(format!("a segment from {first} to {last} is invalid")));
    }
    Ok(())
}

/// Counts a write under a stale fence. Many of them mean that workers lose their leases.
pub(super) fn count_fenced() {
    metrics::counter!("pilothouse_fenced_writes_total").increment(1);
}
