//! Rows of operations.

use protocol::message::ToolCall;
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;

use super::StoreRow;

/// Columns of an `Operation`; the table `operation` has the alias `p`.
macro_rules! operation_columns {
    () => {
        "p.id, p.turn_id, p.session_id, p.asked_by, p.call_id, p.tool_name, p.arguments, p.state, \
         p.outcome, p.output, p.created_at"
    };
}

pub(crate) use operation_columns;

pub(crate) fn operation<R: StoreRow>(row: &R) -> Result<Operation, R::Error> {
    let (outcome, output) = (row.optional_word("outcome")?, row.optional_text("output")?);
    Ok(Operation {
        id: row.id("id")?,
        task_id: row.id("turn_id")?,
        session_id: row.id("session_id")?,
        asked_by: row.id("asked_by")?,
        call: ToolCall {
            id: row.id("call_id")?,
            name: row.text("tool_name")?,
            arguments: row.text("arguments")?,
        },
        state: row.word("state")?,
        result: outcome.zip(output).map(|(outcome, output)| OperationResult { output, outcome }),
        created_at: row.time("created_at")?,
    })
}

/// With the column `user_id` of its session.
pub(crate) fn owned_operation<R: StoreRow>(row: &R) -> Result<(Owner, Operation), R::Error> {
    let owner = row.optional_id("user_id")?.map_or(Owner::Anonymous, Owner::User);
    Ok((owner, operation(row)?))
}
