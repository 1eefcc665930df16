//! Errors of backends. Expected outcomes are not errors; an error means that the backend failed, and says whether a retry
//! may help.

#[derive(Clone, Debug, thiserror::Error)]
pub enum PortError {
    /// No disk space. Nothing was changed.
    #[error("the disk is full")]
    Full,
    /// Unreachable or overloaded. It is unknown whether the call took effect.
    #[error("{0}")]
    Unavailable(String),
    /// The process is shutting down and accepts no more work. Nothing was changed.
    #[error("shutting down")]
    Closed,
    /// A bug or damaged data; a retry does not help.
    #[error("{0}")]
    Broken(String),
}

pub type PortResult<T> = Result<T, PortError>;

impl PortError {
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Full | Self::Unavailable(_))
    }
}
