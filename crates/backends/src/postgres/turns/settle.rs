//! Settles what ends with a turn: waiting follow-ups, background calls, and its operation.

use futures::future::try_join3;
use ports::store::TurnEnding;
use protocol::turn::TurnClaim;

use super::background_calls;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::operations;
use crate::postgres::text_param::TextParam;
use crate::rules::turn_end::{operation_result, undelivered_state};

/// Whether any follow-up is still to be drained.
pub(crate) async fn follow_ups_wait(
    db: &PooledConnection,
    claim: &TurnClaim,
) -> Result<bool, PostgresError> {
    let waiting = db
        .query_opt(
            "SELECT id FROM follow_up WHERE turn_id = $1 AND state = 'pending' LIMIT 1",
            &[&TextParam(claim.turn_id.as_str())],
        )
        .await?;
    Ok(waiting.is_some())
}

pub(crate) async fn settle(
    db: &PooledConnection,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), PostgresError> {
    let (turn, result) = (TextParam(claim.turn_id.as_str()), operation_result(ending));
    try_join3(
        db.query(
            "UPDATE follow_up SET state = $2 WHERE turn_id = $1 AND state = 'pending'",
            &[&turn, &undelivered_state(ending.status).as_str()],
        ),
        background_calls::end_all(db, &claim.turn_id),
        operations::result::store(db, &claim.turn_id, &result),
    )
    .await?;
    Ok(())
}
