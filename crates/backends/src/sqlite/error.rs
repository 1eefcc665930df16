//! Errors of the SQLite store, and their mapping to port errors.

use ports::PortError;
use rusqlite::ffi::{self, ErrorCode};

use crate::rules::error::CheckError;

#[derive(Debug)]
pub(crate) enum SqliteError {
    Sql(rusqlite::Error),
    /// Our own check failed: the caller or the stored data is at fault.
    Broken(String),
}

impl SqliteError {
    pub(crate) fn broken(reason: impl Into<String>) -> Self {
        Self::Broken(reason.into())
    }

    pub(crate) fn is_full(&self) -> bool {
        let Self::Sql(rusqlite::Error::SqliteFailure(error, _)) = self else { return false };
        // Growing the shared index of the write-ahead log fails with its own code when the disk is full.
        error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE
    }

    pub(crate) fn is_damage(&self) -> bool {
        let Self::Sql(rusqlite::Error::SqliteFailure(error, _)) = self else { return false };
        matches!(error.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    }

    pub(crate) fn is_constraint(&self) -> bool {
        let Self::Sql(rusqlite::Error::SqliteFailure(error, _)) = self else { return false };
        error.code == ErrorCode::ConstraintViolation
    }
}

impl From<CheckError> for SqliteError {
    fn from(error: CheckError) -> Self {
        Self::Broken(error.0)
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl std::fmt::Display for SqliteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sql(error) => error.fmt(f),
            Self::Broken(reason) => f.write_str(reason),
        }
    }
}

impl From<&SqliteError> for PortError {
    fn from(fault: &SqliteError) -> Self {
        if fault.is_full() {
            return Self::Full;
        }
        match fault {
            SqliteError::Sql(rusqlite::Error::SqliteFailure(error, _)) => match error.code {
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::OutOfMemory => Self::Unavailable(format!("the database: {fault}")),
                _ => Self::Broken(format!("the database: {fault}")),
            },
            SqliteError::Sql(_) => Self::Broken(format!("the database: {fault}")),
            SqliteError::Broken(reason) => Self::Broken(reason.clone()),
        }
    }
}
