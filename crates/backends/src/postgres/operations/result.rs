//! Stores the result of an operation, in its own row and in the history.

use protocol::TurnId;
use protocol::operation::OperationResult;

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultStored {
    Now,
    /// The turn carries out no operation, or the operation already has its result.
    Nothing,
}

/// Of several concurrent calls one finds the operation without a result.
const STORE: &str = "\
    WITH ended AS (
        UPDATE operation SET state = 'ended', outcome = $2, output = $3
        WHERE turn_id = $1 AND outcome IS NULL RETURNING asked_by, call_id),
    replaced AS (
        UPDATE message AS m SET outcome = $2, content = $3 FROM ended AS e
        WHERE m.turn_id = e.asked_by AND m.tool_call_id = e.call_id RETURNING m.id)
    SELECT (SELECT count(*) FROM ended) AS ended, (SELECT count(*) FROM replaced) AS replaced";

/// Stores the result of the turn's operation, and replaces the pending message by it.
pub(crate) async fn store(
    db: &PooledConnection,
    turn: &TurnId,
    result: &OperationResult,
) -> Result<ResultStored, PostgresError> {
    let outcome = result.outcome.as_str();
    let row = db
        .query_one(STORE, &[&TextParam(turn.as_str()), &outcome, &TextParam(&result.output)])
        .await?;
    match (row.number("ended")?, row.number("replaced")?) {
        (0, _) => Ok(ResultStored::Nothing),
        (_, 0) => Err(PostgresError::broken("the pending row of an operation cannot be found")),
        _ => Ok(ResultStored::Now),
    }
}
