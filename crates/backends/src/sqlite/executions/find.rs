//! Finds single executions, with their requests.

use protocol::execution::Execution;
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, OptionalExtension};

use crate::rows::executions::execution;
use crate::sqlite::error::SqliteError;

/// Selects executions; the table `execution` has the alias `e`.
macro_rules! select_executions {
    () => {
        concat!(
            "SELECT ",
            $crate::rows::executions::execution_columns!("r.body"),
            " FROM execution AS e JOIN execution_request AS r ON r.number = e.number "
        )
    };
}

pub(crate) use select_executions;

pub(crate) fn of_user(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Option<Execution>, SqliteError> {
    let found = db
        .prepare_cached(concat!(select_executions!(), "WHERE e.id = ?1 AND e.user_id = ?2"))?
        .query_row([id.as_str(), user.as_str()], |row| execution(row))
        .optional()?;
    Ok(found)
}

/// The execution, regardless of its owner.
pub(crate) fn by_id(db: &Connection, id: &ExecutionId) -> Result<Option<Execution>, SqliteError> {
    let found = db
        .prepare_cached(concat!(select_executions!(), "WHERE e.id = ?1"))?
        .query_row([id.as_str()], |row| execution(row))
        .optional()?;
    Ok(found)
}
