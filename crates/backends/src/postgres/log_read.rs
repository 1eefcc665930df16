//! Reads a stream log by cursor.

use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use tokio_postgres::Row;

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rules::log_read::LogReader;

/// One statement, so that the segments and the end of the log are from the same snapshot. It begins with the segment
/// that contains the wanted position, or else with the first one after it, and stops when it has enough bytes; the row
/// limit keeps the running sum from covering all of a long log.
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

pub(crate) async fn read(
    db: &PooledConnection,
    task: &TaskId,
    after: Seq,
    max_bytes: usize,
) -> Result<LogRead, PostgresError> {
    // An absurdly large cursor is beyond every end.
    let cursor = i64::try_from(after).unwrap_or(i64::MAX - 1).min(i64::MAX - 1);
    let enough = i64::try_from(max_bytes.max(1)).unwrap_or(i64::MAX);
    let found = db.query(READ, &[&TextParam(task.as_str()), &cursor, &enough]).await?;
    let Some(first) = found.first() else { return Ok(LogRead::Missing) };
    let last = first.number("last_seq")?;
    let sealed = first.flag("sealed")?;
    let mut reader = LogReader::new(after);
    for row in &found {
        if let Some(segment) = segment(row)? {
            reader.push(&segment);
        }
    }
    Ok(reader.finish(last, sealed))
}

fn segment(row: &Row) -> Result<Option<Segment>, PostgresError> {
    let Some(first) = row.optional_number("first_seq")? else { return Ok(None) };
    let bytes: Vec<u8> = row.try_get("bytes")?;
    Ok(Some(Segment { first, last: row.number("to_seq")?, bytes: bytes.into() }))
}
