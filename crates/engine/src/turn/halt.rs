//! Why a turn does not go on.

use ports::{Fenced, PortError};
use protocol::turn::{FailureCode, TurnError};

use super::registry::StopCause;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnHalt {
    Stop(StopCause),
    Fail(TurnError),
    /// The claim was given up in order: what comes next is in the store.
    Released,
}

impl TurnHalt {
    pub(crate) fn fail(code: FailureCode, message: impl Into<String>) -> Self {
        Self::Fail(TurnError::new(code, message))
    }

    /// Whether the model was given more than it can take.
    pub(crate) fn is_too_long(&self) -> bool {
        matches!(self, Self::Fail(error) if error.code == FailureCode::ContextTooLong)
    }
}

impl From<PortError> for TurnHalt {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Full => Self::fail(
                FailureCode::StorageFull,
                "The server has no room left to store the answer. Free some space and send the message again.",
            ),
            PortError::Closed => Self::Stop(StopCause::Shutdown),
            PortError::Unavailable(_) | PortError::Broken(_) => {
                tracing::error!(%error, "the store failed in the middle of a turn");
                Self::fail(FailureCode::Internal, "The server could not store the answer.")
            }
        }
    }
}

/// A write that finds the fence gone means that another worker has the turn.
pub(crate) fn require_fence<T>(written: Fenced<T>) -> Result<T, TurnHalt> {
    match written {
        Fenced::Done(value) => Ok(value),
        Fenced::Stale => Err(TurnHalt::Stop(StopCause::LeaseLost)),
    }
}
