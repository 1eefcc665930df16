//! What can go wrong behind a seam. Expected outcomes are not errors; an error means the machine
//! below is unwell, and says whether it may get better by itself.

#[derive(Clone, Debug, thiserror::Error)]
pub enum PortError {
    /// No room to write. Nothing was changed.
    #[error("the disk is full")]
    Full,
    /// Not reachable or overloaded. Whether the call took effect is not known.
    #[error("{0}")]
    Unavailable(String),
    /// The process is shutting down and takes no more work. Nothing was changed.
    #[error("shutting down")]
    Closed,
    /// A fault of ours or of the stored data; trying again will not help.
    #[error("{0}")]
    Broken(String),
}

pub type PortResult<T> = Result<T, PortError>;

impl PortError {
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Full | Self::Unavailable(_))
    }
}
