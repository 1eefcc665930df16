//! Stream logs: the chunks of each task, appended in segments, read by cursor.

use async_trait::async_trait;
use ports::PortResult;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, StreamLog, TakenOver};
use protocol::{Segment, Seq, TaskId};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::error::SqliteError;
use super::log_read;
use super::write_job::{WriteOutput, WritePriority};
use crate::live::{LogEnd, StoreEvent};

#[async_trait]
impl StreamLog for SqliteStore {
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver> {
        let task = task.clone();
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                Ok(WriteOutput::silent(take_over(db, &task, fence)?))
            })
            .await
    }

    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended> {
        self.write_segment(task, fence, segment, LogEnd::Open).await
    }

    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended> {
        self.write_segment(task, fence, last, LogEnd::Sealed).await
    }

    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead> {
        if let Some(read) = self.live.tails.read(task, after, max_bytes) {
            return Ok(read);
        }
        let pending = self.live.tails.begin_read(task);
        let read = {
            let task = task.clone();
            self.readers.run(move |db| log_read::read(db, &task, after, max_bytes)).await?
        };
        if let LogRead::Log { last, sealed, .. } = &read {
            let end = if *sealed { LogEnd::Sealed } else { LogEnd::Open };
            pending.set_end(*last, end);
        }
        Ok(read)
    }

    fn watch(&self, task: &TaskId) -> LogWatch {
        if self.live.deaf { LogWatch::deaf() } else { LogWatch::new(self.live.tails.watch(task)) }
    }
}

impl SqliteStore {
    async fn write_segment(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
        end: LogEnd,
    ) -> PortResult<SegmentAppended> {
        let task = task.clone();
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let appended = append(db, &task, fence, &segment, end)?;
                Ok(match appended {
                    SegmentAppended::Stored => WriteOutput::with_event(
                        appended,
                        StoreEvent::LogGrew { task: task.clone(), segment: segment.clone(), end },
                    ),
                    refused => WriteOutput::silent(refused),
                })
            })
            .await
    }
}

/// Creates an empty log without a writer.
pub(super) fn create(db: &Connection, task: &TaskId) -> Result<(), SqliteError> {
    db.prepare_cached("INSERT INTO log (task_id, fence, last_seq, sealed) VALUES (?1, 0, 0, 0)")?
        .execute([task.as_str()])?;
    Ok(())
}

/// Makes `fence` the only writer, unless a newer fence has the log.
pub(super) fn take_over(
    db: &Connection,
    task: &TaskId,
    fence: u64,
) -> Result<TakenOver, SqliteError> {
    let at = db
        .prepare_cached(
            "INSERT INTO log (task_id, fence, last_seq, sealed) VALUES (?1, ?2, 0, 0)
             ON CONFLICT (task_id) DO UPDATE SET fence = excluded.fence
             WHERE excluded.fence >= log.fence
             RETURNING last_seq, sealed",
        )?
        .query_row(params![task.as_str(), fence as i64], |row| {
            Ok(TakenOver::At { last: row.get::<_, i64>(0)? as Seq, sealed: row.get(1)? })
        })
        .optional()?;
    if at.is_none() {
        count_fenced();
    }
    Ok(at.unwrap_or(TakenOver::Stale))
}

/// Two statements in the common case; the reason for a refusal is looked up only when needed.
pub(super) fn append(
    db: &Connection,
    task: &TaskId,
    fence: u64,
    segment: &Segment,
    end: LogEnd,
) -> Result<SegmentAppended, SqliteError> {
    if segment.first == 0 || segment.last < segment.first || segment.last >= log_read::SEQS as u64 {
        return Err(SqliteError::broken(format!(
            "a segment from {} to {} is invalid",
            segment.first, segment.last
        )));
    }
    let log: Option<i64> = db
        .prepare_cached(
            "UPDATE log SET last_seq = ?4, sealed = ?5
             WHERE task_id = ?1 AND fence = ?2 AND last_seq = ?3 AND sealed = 0
             RETURNING id",
        )?
        .query_row(
            params![
                task.as_str(),
                fence as i64,
                segment.first as i64 - 1,
                segment.last as i64,
                end == LogEnd::Sealed
            ],
            |row| row.get(0),
        )
        .optional()?;
    let Some(log) = log else { return refusal(db, task, fence) };
    db.prepare_cached("INSERT INTO segment (position, last_seq, bytes) VALUES (?1, ?2, ?3)")?
        .execute(params![
            log_read::position(log, segment.first),
            segment.last as i64,
            &segment.bytes[..]
        ])?;
    Ok(SegmentAppended::Stored)
}

fn refusal(db: &Connection, task: &TaskId, fence: u64) -> Result<SegmentAppended, SqliteError> {
    let log: Option<(i64, i64, bool)> = db
        .prepare_cached("SELECT fence, last_seq, sealed FROM log WHERE task_id = ?1")?
        .query_row([task.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(match log {
        Some((current, last, sealed)) if current == fence as i64 => {
            if sealed {
                SegmentAppended::Sealed
            } else {
                SegmentAppended::Gap { last: last as Seq }
            }
        }
        // Another writer has taken over, or the log was deleted with its session.
        _ => {
            count_fenced();
            SegmentAppended::Stale
        }
    })
}

/// Counts a write under a stale fence. Many of them mean that workers lose their leases.
pub(super) fn count_fenced() {
    metrics::counter!("pilothouse_fenced_writes_total").increment(1);
}
