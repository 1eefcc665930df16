//! Reasons why an attempt at an execution stops early.

use ports::PortError;
use protocol::execution::ExecutionError;

use crate::turn::halt::TurnHalt;
use crate::turn::registry::StopCause;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExecutionHalt {
    Stop(StopCause),
    Fail(ExecutionError),
}

impl ExecutionHalt {
    pub(super) fn fail(code: &str, message: impl Into<String>) -> Self {
        Self::Fail(ExecutionError { code: code.to_owned(), message: message.into() })
    }
}

impl From<TurnHalt> for ExecutionHalt {
    fn from(halt: TurnHalt) -> Self {
        match halt {
            TurnHalt::Stop(reason) => Self::Stop(reason),
            TurnHalt::Fail(error) => Self::fail(error.code.as_str(), error.message),
            // An execution never releases a turn's claim.
            TurnHalt::Released => Self::Stop(StopCause::LeaseLost),
        }
    }
}

impl From<PortError> for ExecutionHalt {
    fn from(error: PortError) -> Self {
        TurnHalt::from(error).into()
    }
}
