//! Why a request failed. The messages reach the model and the user, who may be probing the network, so they contain no
//! resolved address, no server banner and no body.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// Not a URL of the web at all.
    #[error("Invalid URL: {0}.")]
    BadUrl(&'static str),
    /// The URL, or a redirect, does not lead to the public web.
    #[error("This URL is not allowed: {0}.")]
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
    /// Holds the media type.
    #[error("Content of type {0} can't be read as text.")]
    ContentType(String),
    #[error("The content's compression is unsupported or invalid.")]
    Encoding,
    #[error("The compressed content expands to far more than its size, so it was rejected.")]
    Inflates,
}
