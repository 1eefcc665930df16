//! Creates an execution: its row with its outbox entry, and the mark on the library entry, in one transaction.

use ports::store::{ExecutionCreated, NewExecution};
use protocol::execution::{Execution, ExecutionStats};
use protocol::{ExecutionId, UserId, limits};

use super::super::PostgresStore;
use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::json::written;
use super::super::leases::seconds;
use super::super::rows;
use super::super::text_param::{TextParam, optional};
use super::by_id;
use super::row::{execution, execution_columns, status};

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

pub(super) async fn create(
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
                return exists(before, &new.user_id);
            }
            match depth_below(db, &new.user_id, parent).await? {
                None => return Ok(ExecutionCreated::ParentEnded),
                Some(depth) if depth > limits::EXECUTION_DEPTH => {
                    return Ok(ExecutionCreated::TooDeep);
                }
                Some(depth) => depth,
            }
        }
    };
    if let Some(created) = insert(db, new, depth, wall_us).await? {
        return Ok(ExecutionCreated::New(Box::new(created)));
    }
    let before = by_id(db, &new.id).await?;
    exists(
        before.ok_or_else(|| PostgresError::broken("a new execution cannot be found"))?,
        &new.user_id,
    )
}

fn exists(before: Execution, user: &UserId) -> Result<ExecutionCreated, PostgresError> {
    if before.user_id != *user {
        return Err(PostgresError::broken("the id belongs to another user's execution"));
    }
    Ok(ExecutionCreated::Exists(Box::new(before)))
}

/// Locks the parent, so that its stop or end either comes before the new execution or includes it. `None` when it may
/// start none.
async fn depth_below(
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
    let depth = rows::small(&row, "depth")?;
    Ok((!status(&row)?.is_final()).then_some(depth + 1))
}

async fn insert(
    db: &PooledConnection,
    new: &NewExecution,
    depth: u32,
    wall_us: i64,
) -> Result<Option<Execution>, PostgresError> {
    let request = written(&new.request)?;
    let stats =
        written(&ExecutionStats { is_dry_run: new.request.dry_run, ..ExecutionStats::default() })?;
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
