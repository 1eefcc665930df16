//! Settles what ends with a turn: waiting follow-ups, background calls, and its operation.

use futures::future::try_join3;
use ports::store::TurnEnding;
use protocol::follow_up::FollowUpState;
use protocol::message::ToolOutcome;
use protocol::operation::OperationResult;
use protocol::turn::{TurnClaim, TurnStatus};

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::operations::result;
use super::super::text_param::TextParam;
use crate::words;

/// Whether any follow-up is still to be drained.
pub(super) async fn follow_ups_wait(
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

pub(super) async fn settle(
    db: &PooledConnection,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), PostgresError> {
    let turn = TextParam(claim.turn_id.as_str());
    let left = match ending.status {
        TurnStatus::Cancelled => FollowUpState::Dropped,
        _ => FollowUpState::Returned,
    };
    let cancelled = words::outcome_word(ToolOutcome::Cancelled);
    let ended = ending.operation.clone().unwrap_or_else(|| OperationResult {
        output: words::ENDED_WITH_ITS_TURN.to_owned(),
        outcome: ToolOutcome::Cancelled,
    });
    try_join3(
        db.query(
            "UPDATE follow_up SET state = $2 WHERE turn_id = $1 AND state = 'pending'",
            &[&turn, &left.as_str()],
        ),
        db.query(
            "UPDATE journal SET outcome = $2, output = $3
             WHERE turn_id = $1 AND background_id IS NOT NULL AND outcome IS NULL",
            &[&turn, &cancelled, &words::ENDED_WITH_ITS_TURN],
        ),
        result::store(db, &claim.turn_id, &ended),
    )
    .await?;
    Ok(())
}
