//! Why a request gave nothing. The sentences name no address behind a name, no banner and no body, because they reach
//! the model and the person, who may be probing.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// Not an address of the web at all.
    #[error("The URL cannot be used: {0}.")]
    BadUrl(&'static str),
    /// It leads, or a redirect leads, somewhere that is not the public web.
    #[error("The URL is not allowed: {0}.")]
    Blocked(&'static str),
    #[error("A header of the request cannot be sent: {0}.")]
    Header(&'static str),
    #[error("The name of the host could not be resolved.")]
    Unresolved,
    #[error("The server could not be reached or broke the connection.")]
    Unreachable,
    #[error("The server did not answer completely in time.")]
    TimedOut,
    #[error("The server redirected too often.")]
    TooManyRedirects,
    /// Says which type it was, for the caller to try something else.
    #[error("The content type {0} cannot be read as text.")]
    ContentType(String),
    #[error("The content is compressed in a way that cannot be read.")]
    Encoding,
    #[error("The compressed content unpacks to far more than its size and was refused.")]
    Inflates,
}
