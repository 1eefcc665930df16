//! The one way an operation gets its result before its turn ends.

use ports::store::{OperationCompleted, OperationKey};
use protocol::TaskId;
use protocol::operation::{OperationResult, OperationState};

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;
use super::super::turns::places::admit_in;
use super::super::turns::slots;
use super::result::{self, Stored};

pub(super) async fn complete(
    store: Postgres,
    which: OperationKey,
    result: OperationResult,
) -> Result<OperationCompleted, Fault> {
    let db = Connection::get(&store.pool).await?;
    // Repetitions may come by the hundred: what is over is seen without any lock.
    let Some(operation) = super::find(&db, &which).await? else {
        return Ok(OperationCompleted::Unknown);
    };
    drop(db);
    let task_id = operation.task_id;
    if operation.state == OperationState::Ended {
        return Ok(OperationCompleted::Before { task_id });
    }
    let db = Connection::begin(&store.pool).await?;
    let completed = write(&db, &store, task_id, &result).await?;
    db.commit().await?;
    Ok(completed)
}

async fn write(
    db: &Connection,
    store: &Postgres,
    task_id: TaskId,
    result: &OperationResult,
) -> Result<OperationCompleted, Fault> {
    let turn_id = task_id.turn();
    let Some(slots) = slots::lock_of(db, &turn_id).await? else {
        return Ok(OperationCompleted::Unknown);
    };
    let turn = Text(turn_id.as_str());
    // The session and the turn are locked before what belongs to them, as everywhere.
    db.query(
        "SELECT s.id FROM session AS s JOIN turn AS t ON t.session_id = s.id
         WHERE t.id = $1 FOR UPDATE OF s",
        &[&turn],
    )
    .await?;
    db.query("SELECT id FROM turn WHERE id = $1 FOR UPDATE", &[&turn]).await?;
    if result::store(db, &turn_id, result).await? == Stored::Nothing {
        return Ok(OperationCompleted::Before { task_id });
    }
    // It rests no longer, and so waits for a place. One that is cancelled waits for none.
    db.query(
        "UPDATE turn SET rests_until = NULL,
             due = CASE WHEN cancel_requested THEN clock_timestamp() END
         WHERE id = $1 AND status = 'queued' AND NOT admitted",
        &[&turn],
    )
    .await?;
    admit_in(db, store.caps, &slots).await?;
    let row = db
        .query_one(
            "SELECT status = 'queued' AND due IS NOT NULL AS due FROM turn WHERE id = $1",
            &[&turn],
        )
        .await?;
    Ok(OperationCompleted::Done { task_id, due: rows::get(&row, "due")? })
}
