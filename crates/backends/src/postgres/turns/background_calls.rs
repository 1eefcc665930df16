//! Background calls in the journal.

use ports::store::BackgroundEnd;
use protocol::message::ToolOutcome;
use protocol::{BackgroundId, CallId, TurnId};
use tokio_postgres::Row;

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rules::turn_end::ENDED_WITH_ITS_TURN;

/// The statements of the functions below, for callers that send several of them at once.
pub(crate) const STATEMENTS: [&str; 3] = [START, END, MARK_TAKEN];

const START: &str =
    "UPDATE journal SET background_id = $3 WHERE turn_id = $1 AND call_id = $2 RETURNING id";
/// Only the first end is stored.
const END: &str = "\
    UPDATE journal SET outcome = coalesce(outcome, $3), output = coalesce(output, $4)
    WHERE turn_id = $1 AND call_id = $2 AND background_id IS NOT NULL RETURNING id";
const MARK_TAKEN: &str = "\
    UPDATE journal SET taken = true
    WHERE turn_id = $1 AND call_id = $2 AND background_id IS NOT NULL RETURNING id";

pub(crate) async fn start(
    db: &PooledConnection,
    turn: &TurnId,
    call: &CallId,
    id: &BackgroundId,
) -> Result<(), PostgresError> {
    let id = TextParam(id.as_str());
    require_background_call(
        db.query_opt(START, &[&TextParam(turn.as_str()), &TextParam(call.as_str()), &id]).await?,
    )
}

pub(crate) async fn end(
    db: &PooledConnection,
    turn: &TurnId,
    call: &CallId,
    end: &BackgroundEnd,
) -> Result<(), PostgresError> {
    let (turn, call) = (TextParam(turn.as_str()), TextParam(call.as_str()));
    let (outcome, output) = (end.outcome.as_str(), TextParam(&end.output));
    require_background_call(db.query_opt(END, &[&turn, &call, &outcome, &output]).await?)
}

pub(crate) async fn mark_taken(
    db: &PooledConnection,
    turn: &TurnId,
    call: &CallId,
) -> Result<(), PostgresError> {
    require_background_call(
        db.query_opt(MARK_TAKEN, &[&TextParam(turn.as_str()), &TextParam(call.as_str())]).await?,
    )
}

fn require_background_call(row: Option<Row>) -> Result<(), PostgresError> {
    match row {
        Some(_) => Ok(()),
        None => Err(PostgresError::broken("the journal has no such background call")),
    }
}

/// Ends the background calls that are still running when their turn ends.
pub(crate) async fn end_all(db: &PooledConnection, turn: &TurnId) -> Result<(), PostgresError> {
    db.query(
        "UPDATE journal SET outcome = $2, output = $3
         WHERE turn_id = $1 AND background_id IS NOT NULL AND outcome IS NULL",
        &[&TextParam(turn.as_str()), &ToolOutcome::Cancelled.as_str(), &ENDED_WITH_ITS_TURN],
    )
    .await?;
    Ok(())
}
