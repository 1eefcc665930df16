//! Why a run does not go on.

use ports::PortError;
use protocol::execution::ExecutionError;

use crate::turn::halt::Halt as TurnHalt;
use crate::turn::registry::StopReason;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Halt {
    Stop(StopReason),
    Fail(ExecutionError),
}

impl Halt {
    pub(super) fn fail(code: &str, message: impl Into<String>) -> Self {
        Self::Fail(ExecutionError { code: code.to_owned(), message: message.into() })
    }
}

impl From<TurnHalt> for Halt {
    fn from(halt: TurnHalt) -> Self {
        match halt {
            TurnHalt::Stop(reason) => Self::Stop(reason),
            TurnHalt::Fail(error) => Self::fail(error.code.as_str(), error.message),
            // Nothing in a run gives a turn's claim up.
            TurnHalt::Rest => Self::Stop(StopReason::LeaseLost),
        }
    }
}

impl From<PortError> for Halt {
    fn from(error: PortError) -> Self {
        TurnHalt::from(error).into()
    }
}
