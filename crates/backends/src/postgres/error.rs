//! Errors of the Postgres store, and their mapping to port errors.

use std::error::Error;

use deadpool_postgres::{PoolError, TimeoutType};
use ports::PortError;
use tokio_postgres::error::SqlState;

use crate::rules::error::CheckError;

#[derive(Debug)]
pub(crate) enum PostgresError {
    Sql(tokio_postgres::Error),
    /// No connection could be obtained.
    Unreachable(String),
    /// The call exceeded its time limit.
    Late,
    Closed,
    /// Our own check failed: the caller or the stored data is at fault.
    Broken(String),
}

impl PostgresError {
    pub(crate) fn broken(reason: impl Into<String>) -> Self {
        Self::Broken(reason.into())
    }

    pub(crate) fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Sql(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
    }

    /// The connection had ended before the call, or the server went away: another connection may work.
    pub(crate) fn is_lost_connection(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        match error.code() {
            Some(code) => code.code().starts_with("57P") || code.code().starts_with("08"),
            None => error.is_closed() || caused_by_io(error),
        }
    }
}

impl From<CheckError> for PostgresError {
    fn from(error: CheckError) -> Self {
        Self::Broken(error.0)
    }
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Closed => Self::Closed,
            PoolError::Timeout(TimeoutType::Wait) => {
                Self::Unreachable("every connection is in use".to_owned())
            }
            PoolError::Timeout(_) => Self::Unreachable("it does not respond".to_owned()),
            PoolError::Backend(error) => Self::Unreachable(described(&error)),
            other => Self::Unreachable(other.to_string()),
        }
    }
}

impl std::fmt::Display for PostgresError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sql(error) => f.write_str(&described(error)),
            Self::Unreachable(reason) | Self::Broken(reason) => f.write_str(reason),
            Self::Late => f.write_str("it did not respond in time"),
            Self::Closed => f.write_str("it was closed"),
        }
    }
}

impl From<PostgresError> for PortError {
    fn from(fault: PostgresError) -> Self {
        let text = format!("the database: {fault}");
        match fault {
            PostgresError::Sql(error) => match error.code() {
                Some(&SqlState::DISK_FULL) => Self::Full,
                Some(code) if may_pass(code) => Self::Unavailable(text),
                None if error.is_closed() || caused_by_io(&error) => Self::Unavailable(text),
                _ => Self::Broken(text),
            },
            PostgresError::Unreachable(_) | PostgresError::Late => Self::Unavailable(text),
            PostgresError::Closed => Self::Closed,
            PostgresError::Broken(reason) => Self::Broken(reason),
        }
    }
}

/// Whether the cause is the state of the server and not the statement: lost connections, refused logins, a shutdown or
/// a standby, exhausted resources, locks and time limits.
fn may_pass(code: &SqlState) -> bool {
    let classes = ["08", "28", "3D", "40", "53", "57", "58"];
    classes.contains(&&code.code()[..2])
        || [
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(code)
}

fn caused_by_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|source| source.is::<std::io::Error>())
}

/// The server's message without its details, which may quote user data.
pub(crate) fn described(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(server_error), _) => {
            format!("{} ({})", server_error.message(), server_error.code().code())
        }
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
