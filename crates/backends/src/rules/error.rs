//! A failed check of ours, in whichever store it is made.

use ports::PortError;

/// The caller or the stored data is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CheckError(pub(crate) String);

impl CheckError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<CheckError> for PortError {
    fn from(error: CheckError) -> Self {
        Self::Broken(error.0)
    }
}
