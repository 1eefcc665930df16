//! Deleting a run that has ended, with all that belongs to it: its journal, its reviews, and the runs that it started.

use futures::future::try_join4;
use ports::store::ExecutionDeleted;
use protocol::{ExecutionId, UserId};
use tokio_postgres::Row;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;
use super::super::turns::slots;
use super::lock_name;
use super::row::status;
use super::tree::tree;

const TREE: &str = concat!(
    tree!(),
    "SELECT e.id, e.number, e.status FROM execution AS e JOIN tree AS t ON t.id = e.id"
);

pub(super) async fn delete(
    store: Postgres,
    user: UserId,
    id: ExecutionId,
) -> Result<ExecutionDeleted, Fault> {
    let db = Connection::begin(&store.pool).await?;
    slots::lock(&db, &lock_name(&user)).await?;
    let found = db.query(TREE, &[&Text(id.as_str()), &Text(user.as_str())]).await?;
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

/// What has ended stays so, and starts nothing: no lock is needed to be sure of it.
fn any_open(found: &[Row]) -> Result<bool, Fault> {
    for row in found {
        if !status(row)?.is_final() {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn remove(db: &Connection, user: &UserId, found: &[Row]) -> Result<(), Fault> {
    let ids: Vec<String> =
        found.iter().map(|row| rows::get(row, "id")).collect::<Result<_, _>>()?;
    let numbers: Vec<i64> =
        found.iter().map(|row| rows::get(row, "number")).collect::<Result<_, _>>()?;
    let user = Text(user.as_str());
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
