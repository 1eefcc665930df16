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
use crate::rules::append::{LogState, check_segment, refusal};
use crate::rules::fenced_writes::count_fenced;

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
        pending.store_end(&read);
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
pub(crate) fn create(db: &Connection, task: &TaskId) -> Result<(), SqliteError> {
    db.prepare_cached("INSERT INTO log (task_id, fence, last_seq, sealed) VALUES (?1, 0, 0, 0)")?
        .execute([task.as_str()])?;
    Ok(())
}

/// Makes `fence` the only writer, unless a newer fence has the log.
pub(crate) fn take_over(
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
pub(crate) fn append(
    db: &Connection,
    task: &TaskId,
    fence: u64,
    segment: &Segment,
    end: LogEnd,
) -> Result<SegmentAppended, SqliteError> {
    check_segment(segment, log_read::SEQS as u64)?;
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
    let Some(log) = log else {
        return Ok(refusal(log_state(db, task)?, fence, segment.first));
    };
    db.prepare_cached("INSERT INTO segment (position, last_seq, bytes) VALUES (?1, ?2, ?3)")?
        .execute(params![
            log_read::position(log, segment.first),
            segment.last as i64,
            &segment.bytes[..]
        ])?;
    Ok(SegmentAppended::Stored)
}

/// The writer and the end of a log, if it exists.
pub(crate) fn log_state(db: &Connection, task: &TaskId) -> Result<Option<LogState>, SqliteError> {
    let log = db
        .prepare_cached("SELECT fence, last_seq, sealed FROM log WHERE task_id = ?1")?
        .query_row([task.as_str()], |row| LogState::read(row))
        .optional()?;
    Ok(log)
}
