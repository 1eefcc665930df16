//! Reads a stream log from the database, for cursors before the part cached in memory.

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use crate::rules::log_read::LogReader;

/// Sequence numbers per log; its segments lie side by side in a range of this many positions.
pub(crate) const SEQS: i64 = 1 << 32;

pub(crate) fn position(log: i64, first: Seq) -> i64 {
    log * SEQS + first as i64
}

pub(crate) fn read(
    db: &Connection,
    task: &TaskId,
    after: Seq,
    max_bytes: usize,
) -> Result<LogRead, SqliteError> {
    let log: Option<(i64, i64, bool)> = db
        .prepare_cached("SELECT id, last_seq, sealed FROM log WHERE task_id = ?1")?
        .query_row([task.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((log, last, sealed)) = log else { return Ok(LogRead::Missing) };
    let last = last as Seq;
    let mut reader = LogReader::new(after);
    if after >= last {
        return Ok(reader.finish(last, sealed));
    }
    // Begins with the segment that contains the wanted position, or else with the first one after it.
    let mut select = db.prepare_cached(
        "SELECT position, last_seq, bytes FROM segment
         WHERE position < ?3 AND position >= ifnull(
             (SELECT max(position) FROM segment WHERE position BETWEEN ?1 AND ?2), ?1)
         ORDER BY position",
    )?;
    let mut rows =
        select.query(params![position(log, 0), position(log, after + 1), position(log + 1, 0)])?;
    while let Some(row) = rows.next()? {
        reader.push(&Segment {
            first: (row.get::<_, i64>(0)? - position(log, 0)) as Seq,
            last: row.get::<_, i64>(1)? as Seq,
            bytes: row.get::<_, Vec<u8>>(2)?.into(),
        });
        if reader.bytes() >= max_bytes {
            break;
        }
    }
    Ok(reader.finish(last, sealed))
}
