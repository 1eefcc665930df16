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
    /// What people and models are told. The reason itself is for the log: it may name hosts and files of the server.
    pub fn message(&self) -> &'static str {
        match self {
            Self::Full => "The server's disk is full. Nothing was changed.",
            Self::Unavailable(_) => "The server could not reach its store. Try again in a moment.",
            Self::Closed => "The server is restarting. Try again in a moment.",
            Self::Broken(_) => "Internal server error. It has been logged.",
        }
    }

    pub fn retryable(&self) -> bool {
        matches!(self, Self::Full | Self::Unavailable(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockError;
    use crate::tool::ToolError;

    #[test]
    fn a_failed_store_tells_callers_what_to_do_and_hides_the_reason() {
        let reason = || "postgres at db.internal:5432 refused".to_owned();
        for (error, tool, block) in [
            (PortError::Full, Some("storage_full"), None),
            (PortError::Unavailable(reason()), Some("store_unavailable"), None),
            (PortError::Broken(reason()), Some("store_unavailable"), None),
            (PortError::Closed, None, Some(BlockError::Stopped)),
        ] {
            let message = error.message();
            assert!(!message.contains("internal:"), "{message}");
            let expected = match tool {
                Some(code) => ToolError::tell(code, message),
                None => ToolError::Fatal(message.to_owned()),
            };
            assert_eq!(ToolError::from(error.clone()), expected);
            assert_eq!(
                BlockError::from(error),
                block.unwrap_or_else(|| BlockError::failed(message))
            );
        }
    }
}
