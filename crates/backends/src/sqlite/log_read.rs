//! Reads a stream log from the database, for cursors before the part cached in memory.

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;

/// Sequence numbers per log; its segments lie side by side in a range of this many positions.
pub(super) const SEQS: i64 = 1 << 32;

pub(super) fn position(log: i64, first: Seq) -> i64 {
    log * SEQS + first as i64
}

pub(super) fn read(
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
    let mut read = LogRead::Log { segments: Vec::new(), last, sealed, missing_to: None };
    if after >= last {
        return Ok(read);
    }
    let LogRead::Log { segments, missing_to, .. } = &mut read else { return Ok(read) };
    // Begins with the segment that contains the wanted position, or else with the first one after it.
    let mut select = db.prepare_cached(
        "SELECT position, last_seq, bytes FROM segment
         WHERE position < ?3 AND position >= ifnull(
             (SELECT max(position) FROM segment WHERE position BETWEEN ?1 AND ?2), ?1)
         ORDER BY position",
    )?;
    let mut rows =
        select.query(params![position(log, 0), position(log, after + 1), position(log + 1, 0)])?;
    let mut bytes = 0;
    let mut next = after + 1;
    while let Some(row) = rows.next()? {
        let segment = Segment {
            first: (row.get::<_, i64>(0)? - position(log, 0)) as Seq,
            last: row.get::<_, i64>(1)? as Seq,
            bytes: row.get::<_, Vec<u8>>(2)?.into(),
        };
        // Segments before the cursor are skipped, which happens when those around it were trimmed.
        let Some(segment) = segment.after(after) else { continue };
        if segment.first > next {
            *missing_to = Some(segment.first - 1);
        }
        next = segment.last + 1;
        bytes += segment.bytes.len();
        segments.push(segment);
        if bytes >= max_bytes {
            break;
        }
    }
    if segments.is_empty() {
        *missing_to = Some(last);
    }
    Ok(read)
}
