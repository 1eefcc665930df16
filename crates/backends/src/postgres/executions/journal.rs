//! Reads the journal of an execution.

use ports::store::JournalBatch;
use protocol::{ExecutionId, UserId};
use tokio_postgres::Row;

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;

/// Begins with the batch that contains event number `$3` and stops when it has enough bytes; the row limit keeps the
/// running sum from covering all of a long journal.
const READ: &str = "\
    SELECT j.first, j.count, j.body
    FROM execution AS e, LATERAL (
        SELECT n.*, sum(octet_length(n.body)) OVER (ORDER BY n.first) AS read_to
        FROM (
            SELECT first, count, body FROM execution_journal
            WHERE run = e.number AND first + count > $3 AND first >= coalesce((
                SELECT max(first) FROM execution_journal WHERE run = e.number AND first <= $3), 0)
            ORDER BY first LIMIT 256) AS n) AS j
    WHERE e.id = $1 AND e.user_id = $2 AND j.read_to - octet_length(j.body) < $4
    ORDER BY j.first";

pub(crate) async fn read(
    db: &PooledConnection,
    user: &UserId,
    id: &ExecutionId,
    after: u64,
    bytes: usize,
) -> Result<Vec<JournalBatch>, PostgresError> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let enough = i64::try_from(bytes.max(1)).unwrap_or(i64::MAX);
    let (run, user) = (TextParam(id.as_str()), TextParam(user.as_str()));
    let found = db.query(READ, &[&run, &user, &after, &enough]).await?;
    found.iter().map(batch).collect()
}

fn batch(row: &Row) -> Result<JournalBatch, PostgresError> {
    let events: Vec<u8> = row.try_get("body")?;
    Ok(JournalBatch {
        first: row.number("first")?,
        count: row.number("count")?,
        events: events.into(),
    })
}
