//! What an operation came to, in its own row and in the history.

use protocol::TurnId;
use protocol::operation::OperationResult;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;
use crate::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Stored {
    Now,
    /// The turn carries out no operation, or it has its result.
    Nothing,
}

/// Of several at the same time one finds the operation without a result.
const STORE: &str = "\
    WITH ended AS (
        UPDATE operation SET state = 'ended', outcome = $2, output = $3
        WHERE turn_id = $1 AND outcome IS NULL RETURNING asked_by, call_id),
    replaced AS (
        UPDATE message AS m SET outcome = $2, content = $3 FROM ended AS e
        WHERE m.turn_id = e.asked_by AND m.tool_call_id = e.call_id RETURNING m.id)
    SELECT (SELECT count(*) FROM ended) AS ended, (SELECT count(*) FROM replaced) AS replaced";

/// Gives the operation that the turn carries out its result, and replaces the pending row by it.
pub(in super::super) async fn store(
    db: &Connection,
    turn: &TurnId,
    result: &OperationResult,
) -> Result<Stored, Fault> {
    let outcome = words::outcome_word(result.outcome);
    let row = db.query_one(STORE, &[&Text(turn.as_str()), &outcome, &Text(&result.output)]).await?;
    match (rows::number(&row, "ended")?, rows::number(&row, "replaced")?) {
        (0, _) => Ok(Stored::Nothing),
        (_, 0) => Err(Fault::broken("the pending row of an operation is not there")),
        _ => Ok(Stored::Now),
    }
}
