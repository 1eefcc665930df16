//! Reasons why an attempt at a job stops early.

use ports::PortError;
use protocol::execution::ExecutionError;
use protocol::turn::{FailureCode, TurnError};

use super::stop::StopCause;

/// `F` is the error with which the job fails.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JobHalt<F> {
    Stop(StopCause),
    Fail(F),
    /// The claim was released on purpose: the next action is in the store.
    Released,
}

pub(crate) type TurnHalt = JobHalt<TurnError>;
pub(crate) type ExecutionHalt = JobHalt<ExecutionError>;

/// The error of a failed job.
pub(crate) trait JobFailure {
    fn from_code(code: FailureCode, message: String) -> Self;
}

impl JobFailure for TurnError {
    fn from_code(code: FailureCode, message: String) -> Self {
        Self::new(code, message)
    }
}

impl JobFailure for ExecutionError {
    fn from_code(code: FailureCode, message: String) -> Self {
        Self { code: code.as_str().to_owned(), message }
    }
}

impl TurnHalt {
    pub(crate) fn fail(code: FailureCode, message: impl Into<String>) -> Self {
        Self::Fail(TurnError::new(code, message))
    }

    /// Whether the request exceeded the model's window.
    pub(crate) fn is_too_long(&self) -> bool {
        matches!(self, Self::Fail(error) if error.code == FailureCode::ContextTooLong)
    }
}

impl ExecutionHalt {
    /// Executions have failure codes of their own besides those of turns.
    pub(crate) fn fail(code: &str, message: impl Into<String>) -> Self {
        Self::Fail(ExecutionError { code: code.to_owned(), message: message.into() })
    }
}

impl<F> From<StopCause> for JobHalt<F> {
    fn from(cause: StopCause) -> Self {
        Self::Stop(cause)
    }
}

impl<F: JobFailure> From<PortError> for JobHalt<F> {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Full => Self::Fail(F::from_code(
                FailureCode::StorageFull,
                "The server has no space left to store the result. Free some space and try again."
                    .to_owned(),
            )),
            PortError::Closed => Self::Stop(StopCause::Shutdown),
            PortError::Unavailable(_) | PortError::Broken(_) => {
                tracing::error!(%error, "the store failed during a job");
                Self::Fail(F::from_code(
                    FailureCode::Internal,
                    "The server could not store the result.".to_owned(),
                ))
            }
        }
    }
}

/// Why a store call of a job was given up.
#[derive(Debug)]
pub(crate) enum StoreHalt {
    Stop(StopCause),
    Error(PortError),
}

impl From<StopCause> for StoreHalt {
    fn from(cause: StopCause) -> Self {
        Self::Stop(cause)
    }
}

impl<F: JobFailure> From<StoreHalt> for JobHalt<F> {
    fn from(halt: StoreHalt) -> Self {
        match halt {
            StoreHalt::Stop(cause) => Self::Stop(cause),
            StoreHalt::Error(error) => error.into(),
        }
    }
}
