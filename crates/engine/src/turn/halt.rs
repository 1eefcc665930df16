//! Reasons why an attempt at a turn stops early.

use ports::{Fenced, PortError};
use protocol::turn::{FailureCode, TurnError};

use super::registry::StopCause;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnHalt {
    Stop(StopCause),
    Fail(TurnError),
    /// The claim was released on purpose: the next action is in the store.
    Released,
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

impl From<PortError> for TurnHalt {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Full => Self::fail(
                FailureCode::StorageFull,
                "The server has no space left to store the answer. Free some space and send the message again.",
            ),
            PortError::Closed => Self::Stop(StopCause::Shutdown),
            PortError::Unavailable(_) | PortError::Broken(_) => {
                tracing::error!(%error, "the store failed during a turn");
                Self::fail(FailureCode::Internal, "The server could not store the answer.")
            }
        }
    }
}

/// A stale fence means that another worker has the turn.
pub(crate) fn require_fence<T>(written: Fenced<T>) -> Result<T, TurnHalt> {
    match written {
        Fenced::Done(value) => Ok(value),
        Fenced::Stale => Err(TurnHalt::Stop(StopCause::LeaseLost)),
    }
}
