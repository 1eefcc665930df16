//! Finds single executions.

use protocol::execution::Execution;
use protocol::{ExecutionId, UserId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::executions::execution;

/// Columns of an `Execution`; the table `execution` has the alias `e`.
macro_rules! execution_columns {
    () => {
        $crate::rows::executions::execution_columns!("e.request")
    };
}

pub(crate) use execution_columns;

pub(crate) async fn of_user(
    db: &PooledConnection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Option<Execution>, PostgresError> {
    let row = db
        .query_opt(
            concat!(
                "SELECT ",
                execution_columns!(),
                " FROM execution AS e WHERE e.id = $1 AND e.user_id = $2"
            ),
            &[&TextParam(id.as_str()), &TextParam(user.as_str())],
        )
        .await?;
    row.as_ref().map(execution).transpose()
}

/// The execution, regardless of its owner.
pub(crate) async fn by_id(
    db: &PooledConnection,
    id: &ExecutionId,
) -> Result<Option<Execution>, PostgresError> {
    let row = db
        .query_opt(
            concat!("SELECT ", execution_columns!(), " FROM execution AS e WHERE e.id = $1"),
            &[&TextParam(id.as_str())],
        )
        .await?;
    row.as_ref().map(execution).transpose()
}
