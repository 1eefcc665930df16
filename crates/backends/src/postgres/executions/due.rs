//! Executions to push to the queue. Kept in a column of the execution itself, so that every change of an execution
//! updates it.

use std::time::Duration;

use protocol::ExecutionId;
use tokio_postgres::Row;

use super::super::PostgresStore;
use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::leases::seconds;
use super::super::rows;
use super::super::text_param::TextParam;

// `statement_timestamp()` is constant within the statement, so the index on `due` can be used; it is also the
// database's clock.
const FIND_DUE: &str =
    "SELECT id FROM execution WHERE due <= statement_timestamp() ORDER BY due, number LIMIT $1";

/// Skips rows that another relay is taking, so each execution is given to one relay.
const TAKE: &str = "\
    WITH found AS (
        SELECT id, due, number FROM execution WHERE due <= statement_timestamp()
        ORDER BY due, number LIMIT $1 FOR UPDATE SKIP LOCKED),
    taken AS (
        UPDATE execution AS e SET due = clock_timestamp() + $2 * interval '1 second'
        FROM found AS f WHERE e.id = f.id RETURNING e.id, f.due, f.number)
    SELECT id FROM taken ORDER BY due, number";

/// An execution that was claimed or ended meanwhile has left the outbox and stays out. A row that another transaction
/// is changing is skipped: at worst it is pushed once more.
const PUSHED: &str = "\
    WITH found AS (
        SELECT id FROM execution
        WHERE id = ANY($1) AND due IS NOT NULL
          AND (status = 'QUEUED' OR status = 'RUNNING' AND lease_until <= statement_timestamp())
        FOR UPDATE SKIP LOCKED)
    UPDATE execution AS e SET due = clock_timestamp() + $2 * interval '1 second'
    FROM found AS f WHERE e.id = f.id";

pub(super) async fn find_due(
    db: &PooledConnection,
    limit: u32,
) -> Result<Vec<ExecutionId>, PostgresError> {
    ids(&db.query(FIND_DUE, &[&i64::from(limit)]).await?)
}

pub(super) async fn take(
    store: PostgresStore,
    limit: u32,
    hold: Duration,
) -> Result<Vec<ExecutionId>, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    ids(&db.query(TAKE, &[&i64::from(limit), &seconds(hold)]).await?)
}

pub(super) async fn pushed(
    store: PostgresStore,
    runs: Vec<ExecutionId>,
    again_in: Duration,
) -> Result<(), PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    let runs: Vec<TextParam<'_>> = runs.iter().map(|run| TextParam(run.as_str())).collect();
    db.query(PUSHED, &[&runs, &seconds(again_in)]).await?;
    Ok(())
}

fn ids(found: &[Row]) -> Result<Vec<ExecutionId>, PostgresError> {
    found.iter().map(|row| rows::id(row, "id")).collect()
}
