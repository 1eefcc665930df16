//! Journal of node executions: batches of events in one table.

use ports::store::{ExecutionAdvance, JournalBatch};
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::sqlite::error::SqliteError;

/// Events per journal; its batches lie in a range of this many positions.
pub(crate) const EVENTS: i64 = 1 << 32;

pub(crate) fn position(execution: i64, first: u64) -> i64 {
    execution * EVENTS + first as i64
}

pub(crate) fn append(
    db: &Connection,
    execution: i64,
    advance: &ExecutionAdvance,
) -> Result<(), SqliteError> {
    db.prepare_cached("INSERT INTO execution_journal (position, count, body) VALUES (?1, ?2, ?3)")?
        .execute(params![
            position(execution, advance.after),
            advance.count as i64,
            &advance.events[..],
        ])?;
    Ok(())
}

pub(crate) fn read(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
    after: u64,
    bytes: usize,
) -> Result<Vec<JournalBatch>, SqliteError> {
    let found: Option<(i64, i64)> = db
        .prepare_cached("SELECT number, events FROM execution WHERE id = ?1 AND user_id = ?2")?
        .query_row([id.as_str(), user.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, events)) = found else { return Ok(Vec::new()) };
    if after >= events as u64 {
        return Ok(Vec::new());
    }
    // The journal has no gaps, so the last batch that begins at or before the wanted event contains it.
    let mut select = db.prepare_cached(
        "SELECT position, count, body FROM execution_journal
         WHERE position < ?3 AND position >= (
             SELECT max(position) FROM execution_journal WHERE position BETWEEN ?1 AND ?2)
         ORDER BY position",
    )?;
    let mut rows =
        select.query([position(number, 0), position(number, after), position(number + 1, 0)])?;
    let mut batches = Vec::new();
    let mut read_bytes = 0;
    while read_bytes < bytes.max(1)
        && let Some(row) = rows.next()?
    {
        let batch = JournalBatch {
            first: (row.get::<_, i64>(0)? - position(number, 0)) as u64,
            count: row.get::<_, i64>(1)? as u64,
            events: row.get::<_, Vec<u8>>(2)?.into(),
        };
        read_bytes += batch.events.len();
        batches.push(batch);
    }
    Ok(batches)
}
