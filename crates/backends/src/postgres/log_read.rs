//! Reading a log by cursor.

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use tokio_postgres::Row;

use super::connection::Connection;
use super::fault::Fault;
use super::rows;
use super::text::Text;

/// One statement, so that what is read and where the log ends belong to the same moment. It begins with the segment that
/// holds the wanted position, or else with the first after it, and stops when it has enough bytes; the limit keeps the
/// sum from being made over all of a long log.
const READ: &str = "\
    SELECT l.last_seq, l.sealed, g.first_seq, g.to_seq, g.bytes
    FROM log AS l LEFT JOIN LATERAL (
        SELECT first_seq, last_seq AS to_seq, bytes FROM (
            SELECT n.*, sum(octet_length(n.bytes)) OVER (ORDER BY n.first_seq) AS read_to
            FROM (
                SELECT first_seq, last_seq, bytes FROM segment
                WHERE log_id = l.id AND last_seq > $2 AND first_seq >= coalesce((
                    SELECT max(first_seq) FROM segment WHERE log_id = l.id AND first_seq <= $2 + 1), 0)
                ORDER BY first_seq LIMIT 256) AS n) AS m
        WHERE read_to - octet_length(bytes) < $3) AS g ON l.last_seq > $2
    WHERE l.task_id = $1
    ORDER BY g.first_seq";

pub(super) async fn read(
    db: &Connection,
    task: &TaskId,
    after: Seq,
    max_bytes: usize,
) -> Result<LogRead, Fault> {
    // A cursor beyond all sense is behind every end.
    let cursor = i64::try_from(after).unwrap_or(i64::MAX - 1).min(i64::MAX - 1);
    let enough = i64::try_from(max_bytes.max(1)).unwrap_or(i64::MAX);
    let found = db.query(READ, &[&Text(task.as_str()), &cursor, &enough]).await?;
    let Some(first) = found.first() else { return Ok(LogRead::Missing) };
    let last = rows::number(first, "last_seq")?;
    let sealed = rows::get(first, "sealed")?;
    let mut segments = Vec::new();
    let mut missing_to = None;
    let mut next = after.saturating_add(1);
    for row in &found {
        let Some(segment) = segment(row)?.and_then(|segment| segment.after(after)) else {
            continue;
        };
        if segment.first > next {
            missing_to = Some(segment.first - 1);
        }
        next = segment.last + 1;
        segments.push(segment);
    }
    if segments.is_empty() && after < last {
        missing_to = Some(last);
    }
    Ok(LogRead::Log { segments, last, sealed, missing_to })
}

fn segment(row: &Row) -> Result<Option<Segment>, Fault> {
    let first: Option<i64> = rows::get(row, "first_seq")?;
    let Some(first) = first else { return Ok(None) };
    let bytes: Vec<u8> = rows::get(row, "bytes")?;
    Ok(Some(Segment {
        first: first as Seq,
        last: rows::number(row, "to_seq")?,
        bytes: bytes.into(),
    }))
}
