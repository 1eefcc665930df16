//! A new run: its row with its outbox entry, and the mark on the library entry, or none of them.

use ports::store::{ExecutionCreated, NewExecution};
use protocol::execution::{Execution, ExecutionStats};
use protocol::{ExecutionId, UserId, limits};

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::json::written;
use super::super::leases::seconds;
use super::super::rows;
use super::super::text::{Text, optional};
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

pub(super) async fn create(store: Postgres, new: NewExecution) -> Result<ExecutionCreated, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let created = accept(&db, &new, store.wall_us()).await?;
    db.commit().await?;
    Ok(created)
}

async fn accept(
    db: &Connection,
    new: &NewExecution,
    wall_us: i64,
) -> Result<ExecutionCreated, Fault> {
    let depth = match &new.parent {
        None => 0,
        Some(parent) => {
            // A repetition gets its answer also after the parent has ended.
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
    exists(before.ok_or_else(|| Fault::broken("a run went as it came"))?, &new.user_id)
}

fn exists(before: Execution, user: &UserId) -> Result<ExecutionCreated, Fault> {
    if before.user_id != *user {
        return Err(Fault::broken("the id of a new run belongs to somebody else's"));
    }
    Ok(ExecutionCreated::Exists(Box::new(before)))
}

/// Locks the parent, so that its stop or its end comes before the new run or sees it. `None`: it may start nothing.
async fn depth_below(
    db: &Connection,
    user: &UserId,
    parent: &ExecutionId,
) -> Result<Option<u32>, Fault> {
    let row = db
        .query_opt(
            "SELECT status, depth FROM execution
             WHERE id = $1 AND user_id = $2 AND NOT stop_requested FOR SHARE",
            &[&Text(parent.as_str()), &Text(user.as_str())],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let depth = rows::small(&row, "depth")?;
    Ok((!status(&row)?.is_final()).then_some(depth + 1))
}

async fn insert(
    db: &Connection,
    new: &NewExecution,
    depth: u32,
    wall_us: i64,
) -> Result<Option<Execution>, Fault> {
    let request = written(&new.request)?;
    let stats =
        written(&ExecutionStats { is_dry_run: new.request.dry_run, ..ExecutionStats::default() })?;
    let row = db
        .query_opt(
            INSERT,
            &[
                &Text(new.id.as_str()),
                &Text(new.user_id.as_str()),
                &Text(new.graph_id.as_str()),
                &(new.graph_version as i32),
                &Text(&request),
                &optional(new.parent.as_ref().map(ExecutionId::as_str)),
                &(depth as i32),
                &Text(&stats),
                &seconds(new.push_grace),
                &wall_us,
            ],
        )
        .await?;
    row.as_ref().map(execution).transpose()
}
