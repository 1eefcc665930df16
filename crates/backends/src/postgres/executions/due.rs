//! Which runs the queue should be told of: a column of the run itself, so that no change can forget it.

use std::time::Duration;

use protocol::ExecutionId;
use tokio_postgres::Row;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::leases::seconds;
use super::super::rows;
use super::super::text::Text;

// The time of the statement, which an index can be searched with; it is the database's as well.
const LOOK: &str =
    "SELECT id FROM execution WHERE due <= statement_timestamp() ORDER BY due, number LIMIT $1";

/// What another relay is taking at this moment is passed over, so each is given to one of them.
const TAKE: &str = "\
    WITH found AS (
        SELECT id, due, number FROM execution WHERE due <= statement_timestamp()
        ORDER BY due, number LIMIT $1 FOR UPDATE SKIP LOCKED),
    taken AS (
        UPDATE execution AS e SET due = clock_timestamp() + $2 * interval '1 second'
        FROM found AS f WHERE e.id = f.id RETURNING e.id, f.due, f.number)
    SELECT id FROM taken ORDER BY due, number";

/// One that was claimed or ended in between is no longer in the outbox and stays out. One that somebody is changing at
/// this moment is passed over: at worst it is pushed once more.
const PUSHED: &str = "\
    WITH found AS (
        SELECT id FROM execution
        WHERE id = ANY($1) AND due IS NOT NULL
          AND (status = 'QUEUED' OR status = 'RUNNING' AND lease_until <= statement_timestamp())
        FOR UPDATE SKIP LOCKED)
    UPDATE execution AS e SET due = clock_timestamp() + $2 * interval '1 second'
    FROM found AS f WHERE e.id = f.id";

pub(super) async fn look(db: &Connection, limit: u32) -> Result<Vec<ExecutionId>, Fault> {
    ids(&db.query(LOOK, &[&i64::from(limit)]).await?)
}

pub(super) async fn take(
    store: Postgres,
    limit: u32,
    hold: Duration,
) -> Result<Vec<ExecutionId>, Fault> {
    let db = Connection::get(&store.pool).await?;
    ids(&db.query(TAKE, &[&i64::from(limit), &seconds(hold)]).await?)
}

pub(super) async fn pushed(
    store: Postgres,
    runs: Vec<ExecutionId>,
    again_in: Duration,
) -> Result<(), Fault> {
    let db = Connection::get(&store.pool).await?;
    let runs: Vec<Text<'_>> = runs.iter().map(|run| Text(run.as_str())).collect();
    db.query(PUSHED, &[&runs, &seconds(again_in)]).await?;
    Ok(())
}

fn ids(found: &[Row]) -> Result<Vec<ExecutionId>, Fault> {
    found.iter().map(|row| rows::id(row, "id")).collect()
}
