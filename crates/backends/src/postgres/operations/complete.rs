//! Completes an operation before its turn ends.

use ports::store::{OperationCompleted, OperationKey};
use protocol::TaskId;
use protocol::operation::{OperationResult, OperationState};

use super::result::{self, ResultStored};
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::postgres::turns::advisory_locks;
use crate::postgres::turns::permits::admit_for_keys;
use crate::rows::StoreRow;

pub(crate) async fn complete(
    store: PostgresStore,
    which: OperationKey,
    result: OperationResult,
) -> Result<OperationCompleted, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    // There may be hundreds of repetitions: an ended operation is recognized without a lock.
    let Some(operation) = super::find(&db, &which).await? else {
        return Ok(OperationCompleted::Unknown);
    };
    drop(db);
    let task_id = operation.task_id;
    if operation.state == OperationState::Ended {
        return Ok(OperationCompleted::Before { task_id });
    }
    let db = PooledConnection::begin(&store.pool).await?;
    let completed = write(&db, &store, task_id, &result).await?;
    db.commit().await?;
    Ok(completed)
}

async fn write(
    db: &PooledConnection,
    store: &PostgresStore,
    task_id: TaskId,
    result: &OperationResult,
) -> Result<OperationCompleted, PostgresError> {
    let turn_id = task_id.turn();
    let Some(quota_keys) = advisory_locks::lock_of(db, &turn_id).await? else {
        return Ok(OperationCompleted::Unknown);
    };
    let turn = TextParam(turn_id.as_str());
    // The session and the turn are locked before their dependent rows, as everywhere.
    db.query(
        "SELECT s.id FROM session AS s JOIN turn AS t ON t.session_id = s.id
         WHERE t.id = $1 FOR UPDATE OF s",
        &[&turn],
    )
    .await?;
    db.query("SELECT id FROM turn WHERE id = $1 FOR UPDATE", &[&turn]).await?;
    if result::store(db, &turn_id, result).await? == ResultStored::Nothing {
        return Ok(OperationCompleted::Before { task_id });
    }
    // The turn rests no longer, and so waits for a permit. A cancelled turn needs none.
    db.query(
        "UPDATE turn SET rests_until = NULL,
             due = CASE WHEN cancel_requested THEN clock_timestamp() END
         WHERE id = $1 AND status = 'queued' AND NOT admitted",
        &[&turn],
    )
    .await?;
    admit_for_keys(db, store.caps, &quota_keys).await?;
    let row = db
        .query_one(
            "SELECT status = 'queued' AND due IS NOT NULL AS due FROM turn WHERE id = $1",
            &[&turn],
        )
        .await?;
    Ok(OperationCompleted::Done { task_id, due: row.flag("due")? })
}
