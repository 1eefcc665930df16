//! Deletes an ended execution with everything that belongs to it: its journal, its reviews, and its sub-executions.

use futures::future::try_join4;
use ports::store::ExecutionDeleted;
use protocol::execution::ExecutionStatus;
use protocol::{ExecutionId, UserId};
use tokio_postgres::Row;

use super::lock_name;
use super::tree::tree;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::postgres::turns::advisory_locks;
use crate::rows::StoreRow;

const TREE: &str = concat!(
    tree!(),
    "SELECT e.id, e.number, e.status FROM execution AS e JOIN tree AS t ON t.id = e.id"
);

pub(crate) async fn delete(
    store: PostgresStore,
    user: UserId,
    id: ExecutionId,
) -> Result<ExecutionDeleted, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    advisory_locks::lock(&db, &lock_name(&user)).await?;
    let found = db.query(TREE, &[&TextParam(id.as_str()), &TextParam(user.as_str())]).await?;
    let deleted = if found.is_empty() {
        ExecutionDeleted::Missing
    } else if any_open(&found)? {
        ExecutionDeleted::Open
    } else {
        remove(&db, &user, &found).await?;
        ExecutionDeleted::Deleted
    };
    db.commit().await?;
    Ok(deleted)
}

/// Ended executions stay ended and start nothing, so no lock is needed.
fn any_open(found: &[Row]) -> Result<bool, PostgresError> {
    for row in found {
        if !row.word::<ExecutionStatus>("status")?.is_final() {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn remove(db: &PooledConnection, user: &UserId, found: &[Row]) -> Result<(), PostgresError> {
    let ids: Vec<String> = found.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?;
    let numbers: Vec<i64> =
        found.iter().map(|row| row.integer("number")).collect::<Result<_, _>>()?;
    let user = TextParam(user.as_str());
    try_join4(
        db.query("DELETE FROM execution WHERE id = ANY($1)", &[&ids]),
        db.query("DELETE FROM execution_journal WHERE run = ANY($1)", &[&numbers]),
        db.query(
            "DELETE FROM review WHERE user_id = $1 AND execution_id = ANY($2)",
            &[&user, &ids],
        ),
        db.query(
            "DELETE FROM review_approval WHERE user_id = $1 AND execution_id = ANY($2)",
            &[&user, &ids],
        ),
    )
    .await?;
    Ok(())
}
