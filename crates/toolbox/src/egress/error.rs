//! Why a request gave nothing. The sentences name no address behind a name, no banner and no body, because they reach
//! the model and the person, who may be probing.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// Not an address of the web at all.
    #[error("Invalid URL: {0}.")]
    BadUrl(&'static str),
    /// It leads, or a redirect leads, somewhere that is not the public web.
    #[error("This URL isn't allowed: {0}.")]
    Blocked(&'static str),
    #[error("Invalid request header: {0}.")]
    Header(&'static str),
    /// The host name has no address.
    #[error("Couldn't find the host {0}.")]
    Unresolved(String),
    #[error("Couldn't reach the server, or it closed the connection.")]
    Unreachable,
    #[error("The server took too long to respond.")]
    TimedOut,
    #[error("The server redirected too many times.")]
    TooManyRedirects,
    /// Says which type it was, for the caller to try something else.
    #[error("Content of type {0} can't be read as text.")]
    ContentType(String),
    #[error("The content's compression is unsupported or invalid.")]
    Encoding,
    #[error("The compressed content expands to far more than its size, so it was rejected.")]
    Inflates,
}
