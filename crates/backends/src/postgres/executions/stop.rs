//! Stops an execution and all its sub-executions.

use protocol::execution::Execution;
use protocol::{ExecutionId, UserId};

use super::find::execution_columns;
use super::lock_name;
use super::tree::tree;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::postgres::turns::advisory_locks;
use crate::rows::StoreRow;
use crate::rows::executions::execution;

/// An execution without a lease holder ends here; a lease holder finds the mark.
const MARK: &str = concat!(
    tree!(),
    "UPDATE execution AS e SET stop_requested = true,
         status = CASE e.status WHEN 'RUNNING' THEN 'RUNNING' ELSE 'TERMINATED' END,
         ended_at = CASE e.status WHEN 'RUNNING' THEN NULL ELSE $3::bigint END,
         due = CASE e.status WHEN 'RUNNING' THEN e.due END
     WHERE e.id IN (SELECT id FROM tree)
       AND (e.status IN ('INCOMPLETE', 'QUEUED', 'REVIEW')
            OR e.status = 'RUNNING' AND NOT e.stop_requested)
     RETURNING e.id"
);

const WITHDRAW: &str = "\
    DELETE FROM review AS r USING execution AS e
    WHERE r.execution_id = e.id AND r.user_id = e.user_id AND r.status = 'WAITING'
      AND e.id = ANY($1) AND e.status = 'TERMINATED'";

/// The execution itself, and below it those that were marked now or still run.
const STOPPED: &str = concat!(
    tree!(),
    "SELECT ",
    execution_columns!(),
    " FROM execution AS e JOIN tree AS t ON t.id = e.id
     WHERE e.id = $1 OR e.id = ANY($3) OR e.status = 'RUNNING'
     ORDER BY e.depth, e.number"
);

pub(crate) async fn request_stop(
    store: PostgresStore,
    user: UserId,
    id: ExecutionId,
) -> Result<Option<Vec<Execution>>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let stopped = stop(&db, &user, &id, store.wall_us()).await?;
    db.commit().await?;
    Ok((!stopped.is_empty()).then_some(stopped))
}

async fn stop(
    db: &PooledConnection,
    user: &UserId,
    id: &ExecutionId,
    wall_us: i64,
) -> Result<Vec<Execution>, PostgresError> {
    // Two calls that stop parts of the same tree must lock its rows in the same order.
    advisory_locks::lock(db, &lock_name(user)).await?;
    let (run, user) = (TextParam(id.as_str()), TextParam(user.as_str()));
    let mut marked: Vec<String> = Vec::new();
    // A sub-execution that was being created when its parent was marked is visible only to the next pass. Creating one
    // locks its parent, so after a pass that finds nothing no more can appear.
    loop {
        let found = db.query(MARK, &[&run, &user, &wall_us]).await?;
        if found.is_empty() {
            break;
        }
        for row in &found {
            marked.push(row.text("id")?);
        }
    }
    db.query(WITHDRAW, &[&marked]).await?;
    let stopped = db.query(STOPPED, &[&run, &user, &marked]).await?;
    stopped.iter().map(execution).collect()
}
