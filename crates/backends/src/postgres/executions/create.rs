//! Creates an execution: its row with its outbox entry, and the mark on the library entry, in one transaction.

use ports::store::{ExecutionCreated, NewExecution};
use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, UserId};

use super::find::{by_id, execution_columns};
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::leases::seconds;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::StoreRow;
use crate::rows::executions::execution;
use crate::rules::json::to_json;
use crate::rules::new_execution::{depth_below, existing, first_stats};

const INSERT: &str = concat!(
    "WITH e AS (
         INSERT INTO execution (id, user_id, graph_id, graph_version, status, request, parent_id,
             depth, stats, due, created_at)
         VALUES ($1, $2, $3, $4, 'QUEUED', $5, $6, $7, $8,
             clock_timestamp() + $9 * interval '1 second', $10)
         ON CONFLICT (id) DO NOTHING RETURNING *),
     marked AS (
         UPDATE library_agent AS l SET last_run_at = $10 FROM e
         WHERE l.user_id = e.user_id AND l.graph_id = e.graph_id)
     SELECT ",
    execution_columns!(),
    " FROM e"
);

pub(crate) async fn create(
    store: PostgresStore,
    new: NewExecution,
) -> Result<ExecutionCreated, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let created = accept(&db, &new, store.wall_us()).await?;
    db.commit().await?;
    Ok(created)
}

async fn accept(
    db: &PooledConnection,
    new: &NewExecution,
    wall_us: i64,
) -> Result<ExecutionCreated, PostgresError> {
    let depth = match &new.parent {
        None => 0,
        Some(parent) => {
            // A repeated request gets its reply also after the parent has ended.
            if let Some(before) = by_id(db, &new.id).await? {
                return Ok(existing(before, &new.user_id)?);
            }
            match depth_below(depth_of(db, &new.user_id, parent).await?) {
                Ok(depth) => depth,
                Err(refused) => return Ok(refused),
            }
        }
    };
    if let Some(created) = insert(db, new, depth, wall_us).await? {
        return Ok(ExecutionCreated::New(Box::new(created)));
    }
    let before = by_id(db, &new.id).await?;
    let before = before.ok_or_else(|| PostgresError::broken("a new execution cannot be found"))?;
    Ok(existing(before, &new.user_id)?)
}

/// Locks the parent, so that its stop or end either comes before the new execution or includes it. `None` when it may
/// start none.
async fn depth_of(
    db: &PooledConnection,
    user: &UserId,
    parent: &ExecutionId,
) -> Result<Option<u32>, PostgresError> {
    let row = db
        .query_opt(
            "SELECT status, depth FROM execution
             WHERE id = $1 AND user_id = $2 AND NOT stop_requested FOR SHARE",
            &[&TextParam(parent.as_str()), &TextParam(user.as_str())],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let status: ExecutionStatus = row.word("status")?;
    Ok((!status.is_final()).then_some(row.small("depth")?))
}

async fn insert(
    db: &PooledConnection,
    new: &NewExecution,
    depth: u32,
    wall_us: i64,
) -> Result<Option<Execution>, PostgresError> {
    let request = to_json(&new.request)?;
    let stats = to_json(&first_stats(&new.request))?;
    let row = db
        .query_opt(
            INSERT,
            &[
                &TextParam(new.id.as_str()),
                &TextParam(new.user_id.as_str()),
                &TextParam(new.graph_id.as_str()),
                &(new.graph_version as i32),
                &TextParam(&request),
                &optional(new.parent.as_ref().map(ExecutionId::as_str)),
                &(depth as i32),
                &TextParam(&stats),
                &seconds(new.push_grace),
                &wall_us,
            ],
        )
        .await?;
    row.as_ref().map(execution).transpose()
}
